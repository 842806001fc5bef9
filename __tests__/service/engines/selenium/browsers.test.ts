import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describeBrowser, findPair } from '../../../../src/service/engines/selenium/browsers.js'
import { programsHere } from '../../../../src/service/engines/program-source.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
let env: NodeJS.ProcessEnv
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-browsers-'))
  env = { PATH: join(folder, 'bin') }
})
afterEach(() => removeFolder(folder))

/** A program that prints its version, and nothing else. */
function install(path: string, ...version: string[]): string {
  const file = join(folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, ['#!/bin/sh', ...version.map((line) => `echo "${line}"`), ''].join('\n'))
  chmodSync(file, 0o755)
  return file
}

const find = (kind: 'chrome' | 'firefox', limitMs?: number): ReturnType<typeof findPair> =>
  findPair(
    kind,
    programsHere(
      {
        env,
        processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
        log: () => undefined,
        signal: new AbortController().signal
      },
      limitMs
    )
  )

describe('Chrome', () => {
  test('the smallest browser on the path, and what is used is said', async () => {
    install('bin/chromium', 'Chromium 140.0.1 built on Debian')
    const shell = install(
      'bin/chromium-headless-shell',
      'chromium: 9: [: unexpected operator',
      'Chromium 140.0.1'
    )
    const driver = install('bin/chromedriver', 'ChromeDriver 140.0.7339.80 (abc-refs/heads@{#1})')
    const found = await find('chrome')
    expect(describeBrowser(found)).toBe(
      `Chromium 140.0.1 (${shell}) and ChromeDriver 140.0.7339.80 (${driver})`
    )
  })

  test('the pair that fits, of several; hosted runners name a folder', async () => {
    install('bin/chromium', 'Chromium 138.0.1')
    install('bin/google-chrome', 'Google Chrome 141.0.2')
    install('bin/chromedriver', 'ChromeDriver 138.0.1')
    const hosted = install('hosted/chromedriver', 'ChromeDriver 141.0.2')
    env.CHROMEWEBDRIVER = join(folder, 'hosted')
    const found = await find('chrome')
    expect([found.program.name, found.driver.file]).toEqual(['Google Chrome 141.0.2', hosted])
  })

  test('variables decide alone', async () => {
    install('bin/chromium', 'Chromium 138.0.1')
    install('bin/chromedriver', 'ChromeDriver 138.0.1')
    env.CHROME = install('own/browser', 'Google Chrome for Testing 150.0.1')
    await expect(find('chrome')).rejects.toThrow(
      /same major version, and there are Google Chrome for Testing 150\.0\.1 \(.*\/own\/browser\) and ChromeDriver 138\.0\.1 \(.*\): install a pair \(.*\), or set CHROME and CHROMEDRIVER to one$/
    )
    env.CHROMEDRIVER = install('own/driver', 'ChromeDriver 150.0.1')
    expect((await find('chrome')).driver.file).toBe(env.CHROMEDRIVER)
  })

  test.each([
    {
      what: 'no browser',
      there: ['bin/chromedriver'],
      says: /needs Chrome or Chromium, .*apt-get install chromium chromium-driver.*brew install.*hosted runners.*set CHROME/
    },
    {
      what: 'no driver',
      there: ['bin/chromium'],
      says: /needs ChromeDriver, .*or set CHROMEDRIVER to its path/
    }
  ])('$what', async ({ there, says }) => {
    for (const path of there) install(path, 'Something 140.0.1')
    await expect(find('chrome')).rejects.toThrow(says)
  })

  test('a variable that leads nowhere, and a program that has no version', async () => {
    env.CHROME = '/nowhere/chrome'
    await expect(find('chrome')).rejects.toThrow(/^CHROME is \/nowhere\/chrome, and there is no program/)
    env.CHROME = install('own/browser', 'no display')
    install('bin/chromedriver', 'ChromeDriver 138.0.1')
    await expect(find('chrome')).rejects.toThrow(
      /own\/browser --version did not print a version .*: no display/
    )
  })

  test('a variable that names a folder, and a program that does not print its version in time', async () => {
    env.CHROME = folder
    await expect(find('chrome')).rejects.toThrow(
      `CHROME is ${folder}, and there is no program that can be started; point it to the program of Chrome or Chromium, or unset it`
    )
    env.CHROME = install('own/browser')
    writeFileSync(env.CHROME, '#!/bin/sh\nexec /bin/sleep 600\n')
    install('bin/chromedriver', 'ChromeDriver 138.0.1')
    await expect(find('chrome', 100)).rejects.toThrow(
      /own\/browser --version did not print a version \(no end within 0\.1 s\): no output; is it Chrome or Chromium\? Set CHROME to/
    )
  })
})

describe('Firefox', () => {
  test('any version of the driver', async () => {
    install('bin/firefox', 'Mozilla Firefox 140.3.0esr')
    env.GECKODRIVER = install('own/geckodriver', 'geckodriver 0.36.0', '', 'The source code is at 1.2.3')
    const found = await find('firefox')
    expect(describeBrowser(found)).toMatch(/^Mozilla Firefox 140\.3\.0esr \(.*\) and geckodriver 0\.36\.0 \(/)
  })

  test('no driver', async () => {
    install('bin/firefox-esr', 'Mozilla Firefox 140.3.0esr')
    await expect(find('firefox')).rejects.toThrow(
      /needs geckodriver, .*cargo install geckodriver.*brew install geckodriver/
    )
  })
})
