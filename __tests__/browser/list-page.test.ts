import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Service } from '../../src/service/server.js'
import { WITH_PAGES } from '../service/pages/page-support.js'
import { createRun, createServices, runForm, waitForStatus } from '../service/support.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

const RUNS = 120

describeInBrowser('the list of runs, page by page', () => {
  const services = createServices()
  let service: Service
  let browser: Browser

  beforeAll(async () => {
    service = await services.start(WITH_PAGES)
    for (let n = 1; n <= RUNS; n++) await createRun(service, runForm({ name: `run ${n}`, duration: '1' }))
    browser = await launchChromium()
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await services.closeAll()
  })

  async function enter(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    await page.goto(`${service.url}/?token=${service.token}`)
    return page
  }

  const names = (page: Page): Promise<string[]> => page.locator('tbody th a').allTextContents()

  test.each<['light' | 'dark', BrowserContextOptions]>([
    ['light', {}],
    ['dark', { viewport: PHONE }]
  ])('older and newer runs are a click away, %s', async (colorScheme, options) => {
    const page = await enter({ colorScheme, ...options })
    expect([(await names(page))[0], (await names(page)).length]).toEqual([`run ${RUNS}`, 50])
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL('**/?page=2')
    expect((await names(page))[0]).toBe(`run ${RUNS - 50}`)
    expect(await page.locator('nav.pages').textContent()).toContain('51 to 100 of 120 runs')
    expect(await findingsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await keepPicture(page, `pages-${colorScheme}`)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL('**/?page=3')
    expect(await names(page)).toHaveLength(RUNS - 100)
    await page.getByRole('link', { name: 'Newest' }).click()
    await page.waitForURL(`${service.url}/`)
    await page.context().close()
  })

  test('the filter works by keyboard and without JavaScript, and its address can be shared', async () => {
    const page = await enter({ javaScriptEnabled: false, viewport: PHONE })
    await page.getByLabel('Name contains').focus()
    await page.keyboard.type('run 1')
    await page.keyboard.press('Enter')
    await page.waitForURL(`${service.url}/?name=run+1`)
    expect(await names(page)).toHaveLength(32)
    await page.getByLabel('Status').selectOption('problem')
    await page.getByRole('button', { name: 'Filter' }).press('Enter')
    await page.waitForURL(`${service.url}/?name=run+1&status=problem`)
    expect(await page.getByLabel('Name contains').inputValue()).toBe('run 1')
    expect(await page.locator('#runs').textContent()).toContain('No runs match.')
    await page.getByRole('link', { name: 'Show all runs' }).press('Enter')
    await page.waitForURL(`${service.url}/`)
    await page.context().close()
  })

  test('what is being typed stays, and what does not match does not come in', async () => {
    const page = await enter()
    await page.goto(`${service.url}/?name=fresh`)
    await page.getByLabel('Tag').focus()
    await page.keyboard.type('half a wo')
    await createRun(service, runForm({ name: 'other', duration: '1' }))
    await createRun(service, runForm({ name: 'fresh one', duration: '1' }))
    await page.getByRole('link', { name: 'fresh one' }).waitFor()
    expect(await names(page)).toEqual(['fresh one'])
    expect(await page.evaluate('document.activeElement.name + document.activeElement.value')).toBe(
      'taghalf a wo'
    )
    await page.context().close()
  })

  test('what comes in shifts the page at hand, and the keyboard stays where it was', async () => {
    const page = await enter()
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL('**/?page=2')
    const link = page.getByRole('link', { name: 'run 60', exact: true })
    await link.focus()
    const id = await createRun(service, runForm({ name: 'new', duration: '1' }))
    await waitForStatus(service, `/runs/${id}`, ['finished'])
    await page.locator('nav.pages', { hasText: 'of 123 runs' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('run 60')
    await page.context().close()
  })
})
