import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { createTeams, type Team } from '../service/accounts/team.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

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
    expect(await findingsOf(page)).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }

  test.each(['light', 'dark'] as const)('with the keyboard only, in and out, %s', async (colorScheme) => {
    const page = await (await browser.newContext({ colorScheme, viewport: PHONE })).newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`${team.service.url}/?page=1`)
    expect(new URL(page.url()).search).toBe('?page=1')
    await expectAccessible(page)
    await keepPicture(page, `login-${colorScheme}`)
    // The browser complains of every 401 on its console.
    await page.keyboard.type('wrong')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    await expectAccessible(page)
    await keepPicture(page, `login-wrong-${colorScheme}`)
    await page.keyboard.type(team.as('member').token)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/?page=1')
    expect(await page.evaluate('document.cookie')).toBe('')
    await page.getByText('No runs yet.').waitFor()
    await keepPicture(page, `signed-in-${colorScheme}`)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Log out' }).focus()
    await page.keyboard.press('Enter')
    await page.waitForURL('**/login')
    await page.goto(`${team.service.url}/`)
    await page.getByLabel('Token').waitFor()
    expect(complaints.filter((text) => !text.includes('401'))).toEqual([])
    await page.context().close()
  })

  test('a link on another site opens the page for whoever is logged in, and the form for others', async () => {
    const { url } = team.service
    const links = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(`<a href="${url}/?name=x">the run</a>`)
    })
    await new Promise<void>((resolve) => links.listen(0, '127.0.0.1', resolve))
    // To a browser this name is another site than the address.
    const other = `http://localhost:${(links.address() as AddressInfo).port}/`
    const context = await browser.newContext()
    const page = await context.newPage()
    const seen: string[] = []
    page.on('response', (response) => {
      const { origin, pathname, search } = new URL(response.url())
      if (origin === url) seen.push(`${response.status()} ${pathname}${search}`)
    })
    await page.goto(other)
    await page.getByText('the run').click()
    await page.getByLabel('Token').fill(team.as('member').token)
    expect(seen).toEqual(['401 /?name=x', '200 /login?next=%2F%3Fname%3Dx'])
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    await page.goto(other)
    seen.length = 0
    await page.getByText('the run').click()
    await page.getByRole('button', { name: 'Log out' }).waitFor()
    expect(page.url()).toBe(`${url}/?name=x`)
    expect(seen.slice(0, 3)).toEqual(['401 /?name=x', '303 /login?next=%2F%3Fname%3Dx', '200 /?name=x'])
    await page.goBack()
    expect(page.url()).toBe(other)
    await context.close()
    await new Promise((resolve) => links.close(resolve))
  })

  test('without JavaScript', async () => {
    const page = await (await browser.newContext({ javaScriptEnabled: false })).newPage()
    await page.goto(`${team.service.url}/`)
    await page.getByLabel('Token').fill(team.as('viewer').token)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.waitForURL(`${team.service.url}/`)
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL('**/login')
    await page.context().close()
  })
})
