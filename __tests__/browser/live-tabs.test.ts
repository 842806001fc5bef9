import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { Service } from '../../src/service/server.js'
import { WITH_PAGES } from '../service/pages/page-support.js'
import {
  createRun,
  createServices,
  get,
  PLAN,
  runForm,
  specFields,
  waitForStatus
} from '../service/support.js'
import { describeInBrowser, launchChromium, openWindow } from '../support/chromium.js'

const REAL_TIME = { duration: '300', override_parameters: '-Jrehearsal.realtime=true' }
/** What a browser opens to one host, for all its tabs. */
const CONNECTIONS = 6

describeInBrowser('more live pages than a browser has connections', () => {
  const services = createServices()
  let service: Service

  beforeAll(async () => {
    service = await services.start(WITH_PAGES)
  })
  afterAll(() => services.closeAll())

  async function startRun(plan = PLAN): Promise<string> {
    const id = await createRun(service, runForm(REAL_TIME, specFields(), plan))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    return id
  }

  async function openRun(context: BrowserContext, id: string): Promise<Page> {
    const page = await context.newPage()
    await page.goto(`${service.url}/runs/${id}?token=${service.token}`)
    await page.locator('.tile', { hasText: 'Throughput now' }).waitFor()
    return page
  }

  const status = async (id: string): Promise<string> => (await get(service, `/runs/${id}`)).json.status

  describe('in windows that are all seen', () => {
    let browser: Browser
    beforeAll(async () => {
      browser = await launchChromium()
    }, 60_000)
    afterAll(() => browser.close())

    test('the stop button works when the others have taken all connections', async () => {
      const id = await startRun()
      const context = await browser.newContext()
      const pages: Page[] = []
      for (let count = 0; count < CONNECTIONS; count++) pages.push(await openRun(context, id))
      await pages[0]!.getByRole('button', { name: 'Stop the run' }).click()
      await pages[0]!.getByRole('button', { name: 'Stop it' }).click()
      for (const page of pages) await page.locator('h1', { hasText: 'finished' }).waitFor()
      expect(await status(id)).toBe('finished')
      await context.close()
    })

    test('a stop that fails says so, and the page goes on', async () => {
      const id = await startRun()
      const context = await browser.newContext()
      const page = await openRun(context, id)
      await page.route('**/stop', (route) => route.abort())
      await page.getByRole('button', { name: 'Stop the run' }).click()
      await page.getByRole('button', { name: 'Stop it' }).click()
      const samples = page.locator('.tile', { hasText: 'Samples' }).locator('.value')
      const before = await samples.textContent()
      await page.getByRole('button', { name: 'Stop the run' }).waitFor()
      await page.locator('.tile', { hasText: 'Samples' }).filter({ hasNotText: before! }).waitFor()
      expect(await page.locator('#connection').textContent()).toMatch(/^The run could not be stopped: /)
      await context.close()
    })

    test('labels with every kind of line end reach the page as they are', async () => {
      const label = 'one\u2028two\u2029three\u0085four\rfive'
      const id = await startRun(PLAN.replace('testname="home"', `testname="${label.replace('\r', '&#13;')}"`))
      const context = await browser.newContext()
      const page = await openRun(context, id)
      const rows = page.locator('#label-table tbody th')
      await rows.first().waitFor()
      // HTML has no CR.
      expect((await rows.allTextContents()).sort()).toEqual(['check & out', label.replace('\r', '\n')])
      await context.close()
    })
  })

  describe('in the tabs of one window', () => {
    let window: Awaited<ReturnType<typeof openWindow>>
    beforeAll(async () => {
      window = await openWindow()
    }, 60_000)
    afterAll(() => window.close())

    test('those that are hidden take no connection, and catch up when they are shown', async () => {
      const id = await startRun()
      const pages: Page[] = []
      for (let count = 0; count < CONNECTIONS + 2; count++) pages.push(await openRun(window.context, id))
      const hidden = await Promise.all(pages.map((page) => page.evaluate<boolean>('document.hidden')))
      expect(hidden).toEqual(pages.map((page) => page !== pages.at(-1)))
      await pages.at(-1)!.getByRole('button', { name: 'Stop the run' }).click()
      await pages.at(-1)!.getByRole('button', { name: 'Stop it' }).click()
      await pages.at(-1)!.locator('h1', { hasText: 'finished' }).waitFor()
      expect(await status(id)).toBe('finished')
      expect(await pages[0]!.locator('h1').textContent()).toBe('running')
      await pages[0]!.bringToFront()
      await pages[0]!.locator('h1', { hasText: 'finished' }).waitFor()
    })
  })
})
