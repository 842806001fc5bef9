import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe } from '@jest/globals'
import { chromium } from 'playwright-core'
import type { Browser, BrowserContext } from 'playwright-core'
import { removeFolder } from './remove-folder.js'

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
export function launchChromium(...flags: string[]): Promise<Browser> {
  return chromium.launch({ executablePath: requireChromium(), args: [...FLAGS, ...flags] })
}

function requireChromium(): string {
  if (found === undefined)
    throw new Error(`There is no chromium in ${PLACES.join(', ')}: apt-get install chromium`)
  return found
}

/** A window with tabs as people have them: one is seen, the others are hidden. Elsewhere all pages believe to be seen. */
export async function openWindow(): Promise<{ context: BrowserContext; close(): Promise<void> }> {
  const profile = mkdtempSync(join(tmpdir(), 'loadgate-chromium-'))
  const place = ['--remote-debugging-port=0', `--user-data-dir=${profile}`]
  const child = spawn(requireChromium(), ['--headless', ...FLAGS, ...place, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe']
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const address = await new Promise<string>((resolve, reject) => {
    child.once('exit', () => reject(new Error('chromium did not start')))
    createInterface(child.stderr).on('line', (line) => {
      const [, found] = /DevTools listening on (\S+)/.exec(line) ?? []
      if (found !== undefined) resolve(found)
    })
  })
  const browser = await chromium.connectOverCDP(address, { noDefaults: true })
  const [context] = browser.contexts()
  if (context === undefined) throw new Error('chromium has no window')
  return {
    context,
    close: async () => {
      await (await browser.newBrowserCDPSession()).send('Browser.close').catch(() => undefined)
      await ended
      removeFolder(profile)
    }
  }
}
