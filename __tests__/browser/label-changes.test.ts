import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { Outcome } from '../../src/analysis/outcome.js'
import { describeInBrowser } from '../support/chromium.js'
import { compareShops, makeLabelChange, makeLabelChanges } from '../support/data/make-label-changes.js'
import { makeCompared, makeOutcome } from '../support/data/make-outcome.js'
import { makeComparedOutcome, SHOP_LOAD } from '../support/data/page-outcome.js'
import {
  COUNT_PIXELS,
  DESKTOP,
  findingsOf,
  keepPicture,
  openFolds,
  PHONE,
  until,
  usePages
} from '../support/report-pages.js'

const changes = compareShops({ 'GET /': 1, 'GET /search': 0.8, 'POST /checkout': 1.6 })
const failed: Outcome = { ...makeComparedOutcome({ ...SHOP_LOAD, seconds: 30 }), labelChanges: changes }
const held = { ...failed, judgements: [makeCompared('holds')] }

interface Box {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly height: number
  readonly inside?: number
}

describeInBrowser('base and head by label, in a browser', () => {
  const { openFile } = usePages(COUNT_PIXELS)
  const pixelsOf = (page: Page, colour: string): Promise<number> =>
    page.evaluate(`countPixels(document.querySelector('#compared-chart canvas'), '${colour}')`)

  /** The sections that can be seen, from the top. */
  const sectionsOf = (page: Page): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll('main > section:not([hidden])')].map(({ id }) => id)`)

  test.each<['light' | 'dark', string, { width: number; height: number }]>([
    ['light', 'desktop', DESKTOP],
    ['dark', 'desktop', DESKTOP],
    ['light', 'phone', PHONE]
  ])(
    'is the first section of a failed comparison, %s, on a %s, with both distributions drawn',
    async (colorScheme, _, viewport) => {
      const { page, complaints } = await openFile(failed, { colorScheme, viewport })
      expect((await sectionsOf(page))[0]).toBe('label-changes')
      expect(await page.locator('#label-changes h2').textContent()).toBe('Which requests got slower')
      const cells = await page.locator('#label-changes tbody tr').first().locator('th, td').allTextContents()
      expect(cells[0]).toBe('slower')
      expect(cells[1]).toBe('POST /checkout')
      expect(cells[4]).toMatch(/^\+\d+(\.\d)? % \(\+\d+(\.\d)? to \+\d+(\.\d)?\)$/)
      for (const colour of ['threads', 'p95']) expect(await pixelsOf(page, colour)).toBeGreaterThan(150)
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(viewport.width)
      expect(complaints).toEqual([])
      await page.close()
    },
    20_000
  )

  test('is said again where a label is open', async () => {
    const { page } = await openFile(failed)
    await page.locator('#label-changes').getByRole('link', { name: 'POST /checkout' }).click()
    const words = page.locator('#label-compared')
    expect(await words.textContent()).toMatch(
      /^Base \d+ ms → \d+ ms \(p95\), \+\d+(\.\d)? % \(\+\d+ ms\): slower\.$/
    )
    expect(await words.isVisible()).toBe(true)
    await page.evaluate(`location.hash = '#label=POST%20%2Fcart'`)
    await until(page, `document.querySelector('#label-title').textContent === 'POST /cart'`)
    expect(await words.isVisible()).toBe(false)
    await page.close()
  }, 20_000)
  test('has the outcome, the label and the change of each row within a narrow screen, and nothing beside it', async () => {
    const { page } = await openFile(failed, { viewport: { width: 400, height: 900 } })
    await keepPicture(page, 'outcomes-400')
    const boxes = await page.evaluate<{ widths: number[]; rows: Box[][]; words: Box[] }>(`(() => {
      const boxOf = (cell) => { const { left, right, top, height } = cell.getBoundingClientRect(); return { left, right, top, height } }
      const all = (selector, root = document) => [...root.querySelectorAll(selector)]
      return {
        widths: all('.outcomes').map((table) => table.parentElement.scrollWidth - table.parentElement.clientWidth),
        rows: all('#label-changes .outcomes tbody tr').map((row) => all('.pill, th, .change, td:nth-child(3)', row).map(boxOf)),
        words: all('#thresholds .outcomes tbody tr').map((row) => ({ ...boxOf(row), inside: all('th, td', row).map(boxOf).reduce((sum, { height }) => sum + height, 0) }))
      }
    })()`)
    expect(boxes.widths.length).toBeGreaterThan(1)
    expect(boxes.widths.every((beside) => beside <= 0)).toBe(true)
    for (const [pill, label, base, change] of boxes.rows) {
      for (const box of [pill, label, base, change]) expect(box!.right).toBeLessThanOrEqual(400)
      expect(label!.top).toBeLessThan(change!.top)
      expect(change!.top).toBeLessThan(base!.top)
    }
    // No row is taller than what it contains.
    for (const row of boxes.words) expect(row.height).toBeLessThan(row.inside! + 40)
    expect(await findingsOf(page)).toEqual([])
    await page.close()
  })

  test('comes after the thresholds where nothing failed', async () => {
    const { page } = await openFile(held)
    const sections = await sectionsOf(page)
    expect(sections.indexOf('label-changes')).toBeGreaterThan(sections.indexOf('thresholds'))
    expect(await page.locator('#label-changes h2').textContent()).toBe('Base and head by label')
    await page.close()
  }, 20_000)

  test('shows the distributions of a label, by keyboard, in words and as a table', async () => {
    const { page, complaints } = await openFile(failed)
    const chart = page.locator('#compared-chart [role=img]')
    const words = await chart.getAttribute('aria-label')
    expect(words).toMatch(/^Distribution of response times, POST \/checkout: /)
    const [was = 0, is = 0] = [...(words ?? '').matchAll(/up to ([\d,.]+) ms/g)].map(([, ms]) => Number(ms))
    expect(is / was).toBeGreaterThan(1.3)
    const before = await page.evaluate<string>(`document.querySelector('#compared-chart canvas').toDataURL()`)
    await page.locator('#compared-label').focus()
    await page.keyboard.press('ArrowUp')
    expect(await chart.getAttribute('aria-label')).toMatch(/^Distribution of response times, all samples: /)
    expect(
      await page.evaluate<string>(`document.querySelector('#compared-chart canvas').toDataURL()`)
    ).not.toBe(before)
    await page.locator('#compared-table summary').press('Enter')
    const rows = page.locator('#compared-table tbody tr')
    await rows.first().waitFor()
    expect(await rows.count()).toBeGreaterThan(10)
    const over = (await page.locator('#compared-chart .u-over').boundingBox())!
    await page.mouse.move(over.x + over.width / 2, over.y + 20)
    await page
      .getByText(/^Above [\d,.]+ ms and up to [\d,.]+ ms: [\d.]+ % of the base, [\d.]+ % of this run$/)
      .waitFor()
    expect(complaints).toEqual([])
    await page.close()
  }, 20_000)

  test('shows the distribution of a label without a name first, where it got slower', async () => {
    const { page } = await openFile({ ...failed, labelChanges: compareShops({ 'GET /': 1, '': 1.6 }) })
    expect(await page.locator('#label-changes tbody th').first().textContent()).toBe('(no name)')
    expect(await page.locator('#compared-label option:checked').textContent()).toBe('(no name)')
    expect(await page.locator('#compared-chart [role=img]').getAttribute('aria-label')).toMatch(
      /^Distribution of response times, \(no name\): /
    )
    await page.close()
  }, 20_000)

  test('is drawn anew in the colours of the other theme', async () => {
    const { page } = await openFile(failed, { colorScheme: 'light' })
    const light = await page.evaluate<string>(`document.querySelector('#compared-chart canvas').toDataURL()`)
    await page.locator('#theme').click()
    expect(
      await page.evaluate<string>(`document.querySelector('#compared-chart canvas').toDataURL()`)
    ).not.toBe(light)
    expect(await pixelsOf(page, 'p95')).toBeGreaterThan(150)
    await page.close()
  }, 20_000)

  test('opens the rows after the first twenty', async () => {
    const rows = Array.from({ length: 60 }, (_, i) => makeLabelChange({ label: `label ${i}` }))
    const { page } = await openFile({ ...failed, labelChanges: makeLabelChanges({ rows, leftOut: 9940 }) })
    const shown = page.locator('#label-changes tbody tr:visible')
    expect(await shown.count()).toBe(20)
    await page.getByText('30 more', { exact: true }).click()
    expect(await shown.count()).toBe(50)
    expect(
      await page.getByText('10 more are in verdict.json; 9,940 further labels matter less.').count()
    ).toBe(1)
    expect(await page.locator('#compared-times').count()).toBe(0)
    await page.close()
  }, 20_000)

  test.each(['light', 'dark'] as const)(
    'has no finding of axe, %s',
    async (colorScheme) => {
      const outcome = makeOutcome({
        ...failed,
        labelChanges: { ...makeLabelChanges(), times: changes.times }
      })
      const { page } = await openFile(outcome, { colorScheme })
      await openFolds(page)
      expect(await findingsOf(page)).toEqual([])
      await page.close()
    },
    60_000
  )
})
