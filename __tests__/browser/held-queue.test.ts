import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { openQueue } from '../../src/service/accounts/open-queue.js'
import { createServedTeams, type ServedTeam } from '../service/quotas/served-team.js'
import { type Address, createRun, waitForStatus } from '../service/support.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

describeInBrowser('a queue that is held', () => {
  const teams = createServedTeams()
  let team: ServedTeam
  let browser: Browser
  const hold = (): void => {
    const queue = openQueue(team.dataDir, () => undefined)
    queue.hold()
    queue.close()
  }

  beforeAll(async () => {
    team = await teams.start('drain: 0')
    browser = await launchChromium()
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await teams.closeAll()
  })

  async function enter({ url, token }: Address, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage()
    await page.goto(url)
    await page.getByLabel('Token').fill(token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(`${url}/`)
    return page
  }

  const button = (page: Page): ReturnType<Page['getByRole']> =>
    page.getByRole('button', { name: 'Let the queue go' })

  test.each<['light' | 'dark', BrowserContextOptions]>([
    ['light', {}],
    ['dark', { viewport: PHONE }]
  ])('says so, and an admin lets it go with a button, %s', async (colorScheme, options) => {
    hold()
    const id = await createRun(team.as('shop'))
    const page = await enter(team.as('ops', 'admin'), { colorScheme, ...options })
    expect(await page.getByRole('region', { name: 'The queue is held' }).textContent()).toContain(
      'an admin has held it'
    )
    expect(await findingsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await keepPicture(page, `held-${colorScheme}`)
    await button(page).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${team.as('shop').url}/`)
    await waitForStatus(team.as('shop'), `/runs/${id}`, ['finished'])
    await page.reload()
    expect(await page.locator('#hold').count()).toBe(0)
    await page.context().close()
  })

  test('has no button for others, on the page of a run either', async () => {
    hold()
    const id = await createRun(team.as('shop'))
    const page = await enter(team.as('shop'))
    expect(await page.locator('#hold').count()).toBe(1)
    await page.goto(`${team.as('shop').url}/runs/${id}`)
    expect([await page.locator('#hold').count(), await button(page).count()]).toEqual([1, 0])
    expect(await findingsOf(page)).toEqual([])
    await page.context().close()
  })
})
