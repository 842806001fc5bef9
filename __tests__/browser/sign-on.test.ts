import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Browser } from 'playwright-core'
import { createWorlds, sit, type World } from '../service/accounts/login/sign-on-world.js'
import { describeInBrowser, launchChromium } from '../support/chromium.js'
import { findingsOf, keepPicture, PHONE } from '../support/report-pages.js'

const SERVICE = 'http://load.example.com'

describeInBrowser('single sign-on', () => {
  const worlds = createWorlds()
  let world: World
  let browser: Browser

  beforeAll(async () => {
    world = await worlds.start({ reach: `external-url: ${SERVICE}` })
    // Nothing else: the provider's own pages ask for fonts from elsewhere.
    const rules = `MAP load.example.com:80 127.0.0.1:${world.port}, MAP * ~NOTFOUND, EXCLUDE localhost`
    browser = await launchChromium(`--host-resolver-rules=${rules}`)
  }, 120_000)

  afterAll(async () => {
    await browser.close()
    await worlds.closeAll()
  })

  test('leads to the provider and back to the page, again after the session, and out of both', async () => {
    sit(world, 'ada', { groups: ['dev'] })
    const page = await (await browser.newContext({ ignoreHTTPSErrors: true, viewport: PHONE })).newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    await page.goto(`${SERVICE}/?page=1`)
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, 'login-sign-on')
    await page.getByRole('link', { name: 'Sign in with localhost' }).click()
    // The cookie of the session is not sent with what the provider leads to; the page after it has it.
    await page.waitForURL(`${SERVICE}/?page=1`)
    await page.getByText('ada', { exact: true }).waitFor()
    expect(await page.evaluate('document.cookie')).toBe('')

    // Without a click, as long as the provider knows the person.
    const cookies = await page.context().cookies(SERVICE)
    await page.context().clearCookies({ name: `loadgate-${world.port}` })
    expect(cookies.map(({ name, sameSite }) => [name, sameSite]).sort()).toEqual([
      [`loadgate-${world.port}`, 'Strict'],
      [`loadgate-${world.port}-sso`, 'Lax']
    ])
    await page.goto(`${SERVICE}/?status=finished`)
    await page.waitForURL(`${SERVICE}/?status=finished`)
    await page.getByText('ada', { exact: true }).waitFor()

    // The policy of the page does not stop the way to the provider.
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.waitForURL(`${world.idp.issuer}/session/end**`)
    await page.getByRole('button').first().click()
    await page.waitForURL(`${SERVICE}/login`)
    expect(await page.context().cookies(SERVICE)).toEqual([])

    world.idp.atBrowser = undefined
    await page.getByRole('link', { name: 'Sign in with localhost' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.getByRole('alert').textContent()).toContain('was cancelled or refused')
    expect(await findingsOf(page)).toEqual([])
    await keepPicture(page, 'login-sign-on-refused')
    expect(complaints.filter((text) => text.includes('Content Security Policy'))).toEqual([])
    await page.context().close()
  }, 120_000)
})
