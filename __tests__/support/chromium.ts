import { existsSync } from 'node:fs'
import { describe } from '@jest/globals'
import { chromium } from 'playwright-core'
import type { Browser } from 'playwright-core'

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']
const FLAGS = [
  ...['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-quic'],
  ...['--no-first-run', '--disable-component-update', '--disable-sync']
]

const found = [process.env.LOADGATE_CHROMIUM ?? '', ...PLACES].find((path) => path !== '' && existsSync(path))

/** Tests that need a browser: skipped with the reason said aloud, unless LOADGATE_REQUIRE_CHROMIUM wants them to fail. */
export function describeInBrowser(name: string, tests: () => void): void {
  if (found !== undefined || process.env.LOADGATE_REQUIRE_CHROMIUM !== undefined) {
    describe(name, tests)
    return
  }
  // Jest does not show the names of what it skips as a whole.
  console.warn(
    `Skipped: ${name}. There is no chromium here: apt-get install chromium, or set LOADGATE_CHROMIUM.`
  )
  describe.skip(name, tests)
}

/** Starts it with an empty profile of its own, which goes with it. */
export function launchChromium(): Promise<Browser> {
  if (found === undefined)
    throw new Error(`There is no chromium in ${PLACES.join(', ')}: apt-get install chromium`)
  return chromium.launch({ executablePath: found, args: FLAGS })
}
