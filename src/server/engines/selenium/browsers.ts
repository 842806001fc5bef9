import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import type { BrowserKind as CapacityKind } from '../browser-capacity.js'
import type { InstallPorts } from '../install/install-ports.js'
import { findOnPath, isExecutable } from '../install/on-path.js'
import { runWithin, VERSION_LIMIT_MS } from '../install/run-to-end.js'
import type { BrowserKind } from '../../../tools/selenium-hub/order.js'

export interface Program {
  readonly file: string
  /** As it says itself, such as `ChromeDriver 140.0.7339.80`. */
  readonly name: string
  readonly major: number
}

/** A browser with the driver that fits it. */
export interface Browser {
  readonly kind: BrowserKind
  readonly program: Program
  readonly driver: Program
}

interface Kind {
  readonly title: string
  readonly browser: Place
  readonly driver: Place
  /** Whether the driver only works with a browser of the same major version. */
  readonly isPair: boolean
  readonly advice: string
}

/** Where a program may be, in the order of preference. */
interface Place {
  readonly title: string
  readonly variable: string
  /** A variable with the folder, which hosted runners have. */
  readonly folderVariable?: string
  readonly names: readonly string[]
  readonly files: readonly string[]
}

const KINDS: Readonly<Record<BrowserKind, Kind>> = {
  chrome: {
    title: 'java-selenium-chrome',
    browser: {
      title: 'Chrome or Chromium',
      variable: 'CHROME',
      // The first one takes the least memory.
      names: [
        ...['chromium-headless-shell', 'chrome-headless-shell', 'google-chrome', 'google-chrome-stable'],
        ...['chromium', 'chromium-browser', 'chrome']
      ],
      files: [
        '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
        '/Applications/Chromium.app/Contents/MacOS/Chromium'
      ]
    },
    driver: {
      title: 'ChromeDriver',
      variable: 'CHROMEDRIVER',
      folderVariable: 'CHROMEWEBDRIVER',
      names: ['chromedriver'],
      files: ['/usr/lib/chromium/chromedriver', '/usr/lib/chromium-browser/chromedriver']
    },
    isPair: true,
    advice:
      '`apt-get install chromium chromium-driver` on Debian, `brew install --cask google-chrome chromedriver` on macOS; hosted runners with Ubuntu and macOS have both'
  },
  firefox: {
    title: 'java-selenium-firefox',
    browser: {
      title: 'Firefox',
      variable: 'FIREFOX',
      names: ['firefox-esr', 'firefox'],
      files: ['/Applications/Firefox.app/Contents/MacOS/firefox']
    },
    driver: {
      title: 'geckodriver',
      variable: 'GECKODRIVER',
      folderVariable: 'GECKOWEBDRIVER',
      names: ['geckodriver'],
      files: []
    },
    isPair: false,
    advice:
      '`apt-get install firefox-esr` and `cargo install geckodriver` on Debian, `brew install --cask firefox && brew install geckodriver` on macOS; hosted runners with Ubuntu and macOS have both'
  }
}

/** Finds a browser and its driver, and sees that they fit; throws with what to install. */
export async function findBrowser(
  kind: BrowserKind,
  ports: InstallPorts,
  { versionTimeoutMs = VERSION_LIMIT_MS } = {}
): Promise<Browser> {
  const read = (file: string, place: Place): Promise<Program> =>
    readProgram({ file, place, timeoutMs: versionTimeoutMs }, ports)
  const { browser, driver, isPair } = KINDS[kind]
  const [drivers, browsers] = [await findAll(driver, ports), await findAll(browser, ports)]
  requireOne(kind, browser, browsers)
  requireOne(kind, driver, drivers)
  const programs: Program[] = []
  for (const file of browsers) {
    const program = await read(file, browser)
    programs.push(program)
    for (const candidate of drivers) {
      const fitting = await read(candidate, driver)
      if (!isPair || fitting.major === program.major) return { kind, program, driver: fitting }
    }
  }
  throw mismatch(kind, programs, await Promise.all(drivers.map((file) => read(file, driver))))
}

export function describeBrowser({ program, driver }: Browser): string {
  return `${program.name} (${program.file}) and ${driver.name} (${driver.file})`
}

export function capacityKind({ kind, program }: Browser): CapacityKind {
  if (kind === 'firefox') return 'firefox'
  return program.file.includes('headless-shell') ? 'chromium-headless-shell' : 'chromium'
}

/** A variable decides alone: whoever sets it wants that program and no other. */
async function findAll(place: Place, { env }: InstallPorts): Promise<string[]> {
  const chosen = env[place.variable]
  if (chosen) {
    if (await isExecutable(resolve(chosen))) return [resolve(chosen)]
    const what = (await isFolder(resolve(chosen)))
      ? 'that is a folder'
      : 'there is no program that can be started'
    throw new ToolError(
      `${place.variable} is ${chosen}, and ${what}; point it to the program of ${place.title}, or unset it`
    )
  }
  const folder = place.folderVariable && env[place.folderVariable]
  const inFolder = folder ? place.names.map((name) => join(resolve(folder), name)) : []
  const onPath = await Promise.all(place.names.map((name) => findOnPath(name, env)))
  const all = [...inFolder, ...onPath.filter((file) => file !== undefined), ...place.files]
  const areThere = await Promise.all(all.map(isExecutable))
  return [...new Set(all.filter((_, index) => areThere[index]))]
}

function requireOne(kind: BrowserKind, { title, variable, names }: Place, found: readonly string[]): void {
  if (found.length > 0) return
  throw new ToolError(
    `${KINDS[kind].title} needs ${title}, and there is none on the PATH (${names.join(', ')}): install it (${KINDS[kind].advice}), or set ${variable} to its path`
  )
}

async function readProgram(
  { file, place, timeoutMs }: { file: string; place: Place; timeoutMs: number },
  ports: InstallPorts
): Promise<Program> {
  const { code, lines, isLate } = await runWithin(timeoutMs, { file, args: ['--version'] }, ports)
  // Start scripts of distributions may print something of their own before.
  const found = lines
    .map((line) => /^(.*?\b(\d+)\.\d[\w.]*)/.exec(line.trim()))
    .find((match) => match !== null)
  const [, name, major] = found ?? []
  if (code === 0 && name !== undefined) return { file, name, major: Number(major) }
  const said = lines.slice(-3).join(' ').slice(0, 300) || 'no output'
  const how = isLate ? `within ${timeoutMs / 1000} s` : `(exit code ${code})`
  throw new ToolError(
    `${file} --version did not print a version ${how}: ${said}; is it ${place.title}? Set ${place.variable} to the program that is`
  )
}

function mismatch(kind: BrowserKind, browsers: readonly Program[], drivers: readonly Program[]): ToolError {
  const list = (programs: readonly Program[]): string =>
    programs.map(({ name, file }) => `${name} (${file})`).join(', ')
  const { browser, driver, advice, title } = KINDS[kind]
  return new ToolError(
    `${title} needs a browser and a driver of the same major version, and there are ${list(browsers)} and ${list(drivers)}: install a pair (${advice}), or set ${browser.variable} and ${driver.variable} to one`
  )
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false
  )
}
