import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { DEMO_PASSWORD } from '../../../src/service/demo-shop/login.js'
import { launchChromium } from '../chromium.js'

type Name = 'form' | 'token'

/** What a user does in the demo shop, by each of its logins. */
const VISITS: Readonly<Record<Name, (page: Page) => Promise<void>>> = {
  form: async (page) => {
    await page.click('#log-in')
    await page.fill('#user', 'ada')
    await page.fill('#password', DEMO_PASSWORD)
    await page.click('#enter')
    await page.getByRole('heading', { name: 'Welcome back, ada' }).waitFor()
    await page.click('#order')
    await page.getByRole('heading', { name: 'Your order is on its way' }).waitFor()
  },
  token: async (page) => {
    await page.goto(new URL('/app', page.url()).href)
    await page.fill('#user', 'ada')
    await page.fill('#password', DEMO_PASSWORD)
    await page.click('#enter')
    await page.getByText('0 orders').waitFor()
    await page.click('#order')
    await page.getByText('The order is on its way').waitFor()
  }
}

/** Records both logins of the shop with a real browser, as its developer tools would save them. */
export async function recordLogins(url: string, folder: string): Promise<Record<Name, string>> {
  const browser = await launchChromium()
  try {
    mkdirSync(folder, { recursive: true })
    return {
      form: await record(browser, url, join(folder, 'login-form.har'), VISITS.form),
      token: await record(browser, url, join(folder, 'login-token.har'), VISITS.token)
    }
  } finally {
    await browser.close()
  }
}

async function record(
  browser: Browser,
  url: string,
  path: string,
  visit: (page: Page) => Promise<void>
): Promise<string> {
  const context = await browser.newContext({ recordHar: { path, content: 'embed' } })
  const page = await context.newPage()
  await page.goto(url)
  await visit(page)
  // Which writes the file.
  await context.close()
  return path
}
