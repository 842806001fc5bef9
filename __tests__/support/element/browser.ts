import { existsSync } from 'node:fs'
import { describe } from '@jest/globals'

const PLACES = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/google-chrome']
const found = [process.env.CHROME ?? '', ...PLACES].find((path) => path !== '' && existsSync(path))

/** Tests with a real browser: skipped with the reason said aloud, unless LOADGATE_REQUIRE_TOOLS wants them to fail. */
export function describeWithBrowser(name: string, tests: () => void): void {
  if (found !== undefined || process.env.LOADGATE_REQUIRE_TOOLS !== undefined) {
    describe(name, tests)
    return
  }
  console.warn(
    `Skipped: ${name}. There is no browser: apt-get install chromium-headless-shell, or set CHROME.`
  )
  describe.skip(name, tests)
}

export function browserPath(): string {
  if (found === undefined)
    throw new Error(`There is no browser in ${PLACES.join(', ')}: apt-get install chromium-headless-shell`)
  return found
}
