import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { createSingleUser } from '../../src/service/accounts/users.js'
import { systemClock } from '../../src/contract/clock.js'
import { createLoopbackFront } from '../../src/service/http/front.js'
import type { Service } from '../../src/service/server.js'
import { WITH_PAGES } from '../service/pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  runForm,
  specFields,
  waitForStatus
} from '../service/support.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { COUNT_PIXELS, DESKTOP, findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

const REAL_TIME = '-Jrehearsal.realtime=true -Jrehearsal.errors=10'
const DRAWN = `${COUNT_PIXELS}globalThis.drawn = (index, name) =>
  countPixels(document.querySelectorAll('#time canvas')[index], name) > 30`
describeInBrowser('the pages of the embedded service in a browser', () => {
  const services = createServices()
  let service: Service
  let browser: Browser
  const complaints: string[] = []
  const requests: string[] = []

  beforeAll(async () => {
    service = await services.start(WITH_PAGES)
    browser = await launchChromium()
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await services.closeAll()
  })

  /** A browser that has been at the address with the token once. */
  async function enter(
    options: BrowserContextOptions = {}
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ viewport: DESKTOP, ...options })
    const page = await context.newPage()
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('request', (request) => requests.push(request.url()))
    await page.addInitScript({ content: DRAWN })
    await page.goto(`${service.url}/?token=${service.token}`)
    return { context, page }
  }

  const startRun = async (fields: Record<string, string>): Promise<string> => {
    const id = await createRun(service, runForm(fields, specFields({ instance_quantity: '2' })))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    return id
  }

  /** Asks from outside: the page's own policy lets nothing be evaluated in it. */
  async function until(holds: () => Promise<boolean>): Promise<void> {
    const deadlineMs = Date.now() + 20_000
    while (!(await holds())) {
      if (Date.now() > deadlineMs) throw new Error('it never came to pass')
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent')

  const samplesShown = async (page: Page): Promise<number> => {
    const tile = page.locator('.tile', { hasText: 'Samples' }).locator('.value')
    return Number((await tile.textContent())?.replaceAll(',', ''))
  }

  test.each<['light' | 'dark', { width: number; height: number }]>([
    ['light', DESKTOP],
    ['dark', PHONE]
  ])('a run is followed live and stopped by its button, %s', async (colorScheme, viewport) => {
    const { context, page } = await enter({ colorScheme, viewport })
    const name = `live ${colorScheme}`
    const id = await startRun({ name, duration: '120', threads: '6', override_parameters: REAL_TIME })
    expect(page.url()).toBe(`${service.url}/`)
    // The list has heard of the run by itself.
    await page.getByRole('link', { name }).click()
    expect(page.url()).toBe(`${service.url}/runs/${id}`)
    expect(await page.locator('h1').textContent()).toBe('running')
    await page.locator('.tile', { hasText: 'Throughput now' }).waitFor()
    const before = await samplesShown(page)
    await until(async () => (await samplesShown(page)) > before + 60)
    for (const tile of ['Throughput now', 'p95 now', 'Failed now', 'Apdex'])
      expect(await page.locator('.tile', { hasText: tile }).locator('.value').textContent()).toMatch(/^\d/)
    expect(await page.locator('#progress-words').textContent()).toMatch(/^0:\d\d of 2:00$/)
    expect(await page.evaluate(`document.querySelector('#progress').value`)).toBeGreaterThan(0)
    await until(() => page.evaluate('drawn(0, "p95") && drawn(1, "throughput")'))
    // What the reader has changed stays so while newer values come.
    const line = page.locator('#time-charts').getByRole('button', { name: 'p99' })
    await line.press('Enter')
    const then = await samplesShown(page)
    await until(async () => (await samplesShown(page)) > then)
    expect(await line.getAttribute('aria-pressed')).toBe('false')
    expect(await page.evaluate('document.activeElement.textContent')).toContain('p99')
    expect(await page.locator('#thresholds').isVisible()).toBe(false)
    const [red = 0] = await page.evaluate<number[]>(
      `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)`
    )
    expect(red < 128).toBe(colorScheme === 'dark')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, `live-${colorScheme}`)

    await page.getByRole('button', { name: 'Stop the run' }).focus()
    await page.keyboard.press('Enter')
    // It asks, and the answer at hand changes nothing.
    expect(await focused(page)).toBe('Keep going')
    await page.keyboard.press('Escape')
    expect(await focused(page)).toBe('Stop the run')
    await page.keyboard.press('Enter')
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, `asked-${colorScheme}`)
    await page.keyboard.press('Shift+Tab')
    expect(await focused(page)).toBe('Stop it')
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: 'finished' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('overview')
    expect(await page.locator('#announcement').textContent()).toBe('The run is now: finished.')
    expect(await page.locator('#live').isVisible()).toBe(false)
    expect((await get(service, `/runs/${id}`)).json.status).toBe('finished')
    const shown = await page.locator('.reason').textContent()
    expect(await findingsOf(page)).toEqual([])

    // The same address is the report from now on.
    await page.reload()
    await keepPicture(page, `ended-${colorScheme}`)
    expect(await page.locator('.reason').textContent()).toBe(shown)
    expect(await page.locator('#label-table tbody tr').count()).toBe(2)
    await page.getByRole('link', { name: 'All runs' }).click()
    expect(page.url()).toBe(`${service.url}/`)
    await context.close()
  })

  test('thresholds are typed in while the run goes on, by keyboard alone, and never pass one that was stopped', async () => {
    const { context, page } = await enter({ colorScheme: 'dark' })
    const id = await startRun({
      name: 'typed',
      duration: '120',
      threads: '6',
      override_parameters: REAL_TIME
    })
    await page.goto(`${service.url}/runs/${id}`)
    await page.locator('#editor summary').press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('p95 < 800\nsamples > ')
    const before = await samplesShown(page)
    await until(async () => (await samplesShown(page)) > before)
    await page.keyboard.type('1')
    expect(await page.locator('#editor-text').inputValue()).toBe('p95 < 800\nsamples > 1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Nothing was stored:').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('editor-text')
    expect(await page.locator('#editor-problems pre').textContent()).toContain('  p95 < 800\n           ^')
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, 'refused-dark')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('p95 < 8s\nsamples < 1')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    // No verdict while it goes on.
    await page.getByText('broken so far').waitFor()
    expect(await page.locator('h1').textContent()).toBe('running')
    await keepPicture(page, 'so-far-dark')
    await get(service, `/runs/${id}/stop`)
    await page.locator('h1', { hasText: 'inconclusive' }).waitFor()
    expect(await page.locator('.reason').textContent()).toContain('The run was stopped before its end')

    const ended = await finishRun(service, runForm({ name: 'over', threads: '2' }))
    await page.goto(`${service.url}/runs/${ended.json.uuid}`)
    await page.locator('#editor summary').press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type('p95 < 8s\nsamples > 1\nwarn: p95 <= baseline + 10%')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.locator('h1', { hasText: 'passed' }).waitFor()
    expect(await page.locator('.reason').textContent()).toBe('All 2 thresholds hold.')
    const words = await page.locator('#thresholds .pill').allTextContents()
    expect(words).toEqual(['passed', 'passed', 'judged by the gate'])
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, 'judged-dark')
    await page.getByRole('link', { name: 'All runs' }).click()
    await page.locator('tr', { hasText: 'over' }).locator('.pill.good', { hasText: 'passed' }).waitFor()
    await context.close()
  })

  test('a page that has lost its connection says so, and goes on when the service is back', async () => {
    // Sessions outlive a restart, as those of `serve` do.
    const accounts = createSingleUser('same', { clock: systemClock })
    const first = await services.start({ ...WITH_PAGES, token: 'same', accounts })
    const id = await createRun(first, runForm({ duration: '120', override_parameters: REAL_TIME }))
    const page = await browser.newPage()
    await page.goto(`${first.url}/runs/${id}?token=same`)
    expect(page.url()).toBe(`${first.url}/runs/${id}`)
    await page.locator('.tile', { hasText: 'Throughput now' }).waitFor()
    await first.close()
    await page.getByText('Connection lost, reconnecting…').waitFor()
    const { dataDir } = first
    const front = await createLoopbackFront(Number(new URL(first.url).port))
    await services.start({ ...WITH_PAGES, token: 'same', accounts, front, dataDir })
    await page.locator('h1', { hasText: 'problem' }).waitFor()
    expect(await page.locator('.reason').textContent()).toBe('The service was closed during this run.')
    await page.close()
  })

  test.each(['light', 'dark'] as const)('the list of runs has no finding of axe, %s', async (colorScheme) => {
    await finishRun(service, runForm({ name: 'over', threads: '2' }))
    await finishRun(service, runForm({ name: 'broken', override_parameters: '-Jrehearsal.problem=no' }))
    const { context, page } = await enter({ colorScheme })
    const names = await page.locator('tbody th a').allTextContents()
    expect(names.slice(0, 2)).toEqual(['broken', 'over'])
    await keepPicture(page, `list-${colorScheme}`)
    expect(await findingsOf(page)).toEqual([])
    await page.getByRole('button', { name: /theme/ }).click()
    expect(await findingsOf(page)).toEqual([])
    await context.close()
  })

  test('nothing was complained of, nothing asked for elsewhere, and the token was in the first address alone', () => {
    // A browser reports the refused thresholds by itself.
    expect(complaints.filter((words) => !words.includes('status of 422'))).toEqual([])
    expect(requests.filter((url) => !url.startsWith(`${service.url}/`))).toEqual([])
    const withToken = requests.filter((url) => url.includes(service.token))
    expect(new Set(withToken)).toEqual(new Set([`${service.url}/?token=${service.token}`]))
  })
})
