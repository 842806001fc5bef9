import * as assert from 'assert'
import { Browser, By, step, TestSettings, Until } from '@flood/element'

// From override-parameters, such as -Jport=8080.
const { host = '127.0.0.1', port = '8080' } = process.env
const SHOP = `http://${host}:${port}`

// Users, ramp-up and duration come from the run.
export const settings: TestSettings = {
  clearCookies: true,
  actionDelay: '50ms',
  stepDelay: '100ms',
  waitTimeout: '10s'
}

/** A user of the demo shop, who looks around and buys something. Each step is a row of the results, with its time. */
export default () => {
  step('home', async (browser: Browser) => {
    await browser.visit(`${SHOP}/`)
    await browser.wait(Until.elementTextIs('h1', 'Welcome to the shop'))
  })

  step('search', async (browser: Browser) => {
    await browser.type(By.id('term'), 'tea')
    await browser.click(By.id('find'))
    await browser.wait(Until.elementTextIs('h1', '2 things found'))
  })

  step('product', async (browser: Browser) => {
    await browser.click(By.partialVisibleText('Teapot'))
    await browser.wait(Until.elementTextIs('h1', 'Teapot'))
  })

  step('checkout', async (browser: Browser) => {
    await browser.type(By.id('user'), 'ada')
    await browser.click(By.id('buy'))
    await browser.wait(Until.elementTextIs('h1', 'Thank you'))
    assert.ok((await browser.title()).startsWith('Thank you'))
  })
}
