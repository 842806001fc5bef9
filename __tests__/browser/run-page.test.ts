import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { createTeams, type Member, type Team } from '../service/accounts/team.js'
import { createRun, finishRun, get, runForm, send, specFields, waitForStatus } from '../service/support.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

const PATIENCE = { timeout: 20_000 }
const SCRIPT = `<img src=x onerror="document.title='hacked'">`
const HOSTILE = `${SCRIPT}${'long'.repeat(50)}`
const notesOf = (digit: number): string =>
  [
    `Commit: https://github.com/acme/shop/commit/${String(digit).repeat(40)}`,
    `Pull request: https://github.com/acme/shop/pull/${digit}`,
    HOSTILE
  ].join('\n')

describeInBrowser('the page of a run', () => {
  const teams = createTeams()
  let team: Team
  let browser: Browser
  const ids: string[] = []

  beforeAll(async () => {
    team = await teams.start()
    browser = await launchChromium()
    for (const digit of [1, 2, 3]) {
      const fields = {
        duration: '3',
        name: `${digit} ${HOSTILE}`,
        project: 'shop',
        tag_list: `nightly,${SCRIPT}`
      }
      const mean = `-Jrehearsal.mean=${digit * 40}`
      const form = runForm({ ...fields, notes: notesOf(digit), override_parameters: mean }, [
        ...specFields(),
        ...specFields({ region: 'eu-west-1' })
      ])
      ids.push((await finishRun(team.as('member'), form)).json.uuid)
    }
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await teams.closeAll()
  })

  async function enter(
    path: string,
    { member = 'member', ...options }: BrowserContextOptions & { member?: Member } = {}
  ): Promise<Page> {
    const context = await browser.newContext({ acceptDownloads: true, ...options })
    const page = await context.newPage()
    page.setDefaultTimeout(PATIENCE.timeout)
    await page.goto(`${team.service.url}${path}`)
    await page.getByLabel('Token').fill(team.as(member).token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(`${team.service.url}${path}`)
    return page
  }

  async function expectAccessible(page: Page, name: string): Promise<void> {
    await keepPicture(page, name)
    expect(await findingsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(await page.title()).not.toBe('hacked')
  }

  test.each<['light' | 'dark', BrowserContextOptions]>([
    ['light', {}],
    ['dark', { viewport: PHONE }]
  ])('has source, files, trend and comparison, %s', async (colorScheme, options) => {
    const page = await enter(`/runs/${ids[2]!}`, { colorScheme, ...options })
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    const details = page.getByRole('region', { name: 'Source and files' })
    await details.waitFor()
    expect(await details.getByRole('link', { name: '#3' }).getAttribute('href')).toBe(
      'https://github.com/acme/shop/pull/3'
    )
    const trend = page.getByRole('region', { name: 'Trend' })
    expect(await trend.textContent()).toContain('The last 2 runs of plan.jmx in shop and this one')
    expect(await trend.locator('canvas').count()).toBe(3)
    await expectAccessible(page, `run-page-${colorScheme}`)
    await page.getByLabel('Compare with').selectOption(ids[0]!)
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.waitForURL(`**/runs/${ids[2]!}/compare?with=${ids[0]!}`)
    const figures = page.getByRole('region', { name: 'All samples' })
    expect(await figures.getByRole('row', { name: /^p95/ }).textContent()).toMatch(
      /\+[\d.]+ ms \+\d+(\.\d)? %(, few samples)?$/
    )
    const [, columnB] = await page
      .getByRole('region', { name: 'The runs' })
      .locator('thead th:not(:first-child)')
      .all()
    const { x, width } = (await columnB!.boundingBox())!
    expect(x + width).toBeLessThanOrEqual(page.viewportSize()!.width)
    const beside = `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('#overall .scroll'))`
    expect(await page.evaluate(beside)).toBe(0)
    const labels = page.getByRole('region', { name: 'By label' })
    expect(await labels.getByRole('rowheader').allTextContents()).toEqual(
      expect.arrayContaining(['home', 'check & out'])
    )
    await expectAccessible(page, `compare-page-${colorScheme}`)
    await page.getByRole('button', { name: 'Copy as Markdown: By label' }).waitFor()
    await page.getByRole('button', { name: colorScheme === 'dark' ? 'Light theme' : 'Dark theme' }).click()
    expect(await page.locator('html').getAttribute('data-theme')).toBe(
      colorScheme === 'dark' ? 'light' : 'dark'
    )
    await page.getByRole('link', { name: 'Back to the run' }).click()
    await page.waitForURL(`**/runs/${ids[2]!}`)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  test('a CSV, a plan and verdict.json are a click away, also for a viewer', async () => {
    await send(team.as('member'), 'PUT', `/runs/${ids[0]!}/thresholds`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ thresholds: 'p95 < 10s' })
    })
    const page = await enter(`/runs/${ids[0]!}`, { member: 'viewer' })
    const grids = (await get(team.as('viewer'), `/runs/${ids[0]!}`)).json._embedded.grids
    const names = [`us-east-1-${grids[0]!.uuid}.csv`, 'plan.jmx', 'verdict.json']
    for (const name of names) {
      const coming = page.waitForEvent('download')
      await page.getByRole('link', { name, exact: true }).click()
      const download = await coming
      expect(download.suggestedFilename()).toMatch(/\.(csv|jmx|json)$/)
      expect(readFileSync(await download.path(), 'utf8').length).toBeGreaterThan(50)
    }
    expect(await page.getByRole('button', { name: 'Repeat this run' }).count()).toBe(0)
    expect(await page.getByRole('button', { name: 'Compare' }).count()).toBe(1)
    await page.context().close()
  })

  test('it is repeated by keyboard and without JavaScript', async () => {
    const page = await enter(`/runs/${ids[0]!}`, { javaScriptEnabled: false, viewport: PHONE })
    await page.getByRole('button', { name: 'Repeat this run' }).press('Enter')
    await page.waitForURL((url) => url.pathname !== `/runs/${ids[0]!}` && !url.pathname.endsWith('/repeat'))
    const [, id] = /\/runs\/(\w+)$/.exec(page.url())!
    expect(ids).not.toContain(id)
    await waitForStatus(team.as('viewer'), `/runs/${id!}`, ['finished'])
    await page.context().close()
  })

  test('an open page counts from the first sample, and gets files and buttons with the end of the run', async () => {
    const slow = '-Jrehearsal.realtime=true -Jrehearsal.mean=3000'
    const form = runForm({ duration: '120', threads: '1', project: 'shop', override_parameters: slow })
    const id = await createRun(team.as('member'), form)
    await waitForStatus(team.as('viewer'), `/runs/${id}`, ['running'])
    const page = await enter(`/runs/${id}`)
    const repeat = page.getByRole('button', { name: 'Repeat this run' })
    expect(await repeat.isVisible()).toBe(false)
    const words = page.locator('#progress-words')
    await page.locator('#progress-words', { hasText: /^0:\d+ of 2:00$/ }).waitFor(PATIENCE)
    const { json } = await get(team.as('viewer'), `/runs/${id}`)
    const { first_sample: first } = json as unknown as { first_sample: string }
    const [, seconds] = /^0:(\d+)/.exec((await words.textContent()) ?? '')!
    expect(Number(seconds)).toBeLessThanOrEqual((Date.now() - Date.parse(first)) / 1000)
    expect(await page.getByRole('link', { name: `${id}.tar.gz` }).count()).toBe(0)
    await send(team.as('member'), 'POST', `/runs/${id}/stop`)
    await page.getByRole('link', { name: `${id}.tar.gz` }).waitFor(PATIENCE)
    expect(await repeat.isVisible()).toBe(true)
    await expectAccessible(page, 'run-page-ended')
    await page.context().close()
  })
})
