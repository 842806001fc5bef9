import { afterAll, beforeAll, expect, test } from '@jest/globals'
import axe from 'axe-core'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createTeams, type Team } from '../server/accounts/team.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'

const PHONE = { width: 390, height: 844 }

describeInBrowser('the login', () => {
  const teams = createTeams()
  let team: Team
  let browser: Browser

  beforeAll(async () => {
    team = await teams.start()
    browser = await launchChromium()
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await teams.closeAll()
  })

  async function expectAccessible(page: Page): Promise<void> {
    await page.evaluate(axe.source)
    const findings = await page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))`
    )
    expect(findings).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }

  async function takePicture(page: Page, name: string): Promise<void> {
    const folder = process.env.LOADGATE_PICTURES
    if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
  }

  test.each(['light', 'dark'] as const)('with the keyboard only, in and out, %s', async (colorScheme) => {
    const page = await (await browser.newContext({ colorScheme, viewport: PHONE })).newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`${team.service.url}/?page=1`)
    expect(new URL(page.url()).pathname).toBe('/login')
    await expectAccessible(page)
    await takePicture(page, `login-${colorScheme}`)
    // The browser complains of every 401 on its console.
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expectAccessible(page)
    await takePicture(page, `login-wrong-${colorScheme}`)
    await page.keyboard.type(team.as('member').token)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?page=1')
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.getByText('No runs yet.').waitFor()
    await takePicture(page, `signed-in-${colorScheme}`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Sign out' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/login')
    await page.goto(`${team.service.url}/`)
    expect(new URL(page.url()).pathname).toBe('/login')
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([])
    await page.context().close()
  })

  test('without JavaScript', async () => {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
    await page.goto(`${team.service.url}/`)
    await page.getByLabel('Token').fill(team.as('viewer').token)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL(`${team.service.url}/`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/login')
    await page.context().close()
  })
})
