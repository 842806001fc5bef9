import { join, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import { CHROME_ON_MAC, IN_OPT } from '../image/image-program.js'
import type { ProgramSource } from '../program-source.js'
import type { BrowserKind } from '../../programs/selenium-hub/order.js'

interface Kind {
  /** The tool, as in `run[tool]`. */
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

export const KINDS: Readonly<Record<BrowserKind, Kind>> = {
  chrome: {
    title: 'java-selenium-chrome',
    browser: {
      ...{ title: 'Chrome or Chromium', variable: 'CHROME' },
      // The first one takes the least memory.
      names: [
        ...['chromium-headless-shell', 'chrome-headless-shell', 'google-chrome', 'google-chrome-stable'],
        ...['chromium', 'chromium-browser', 'chrome']
      ],
      files: CHROME_ON_MAC
    },
    driver: {
      ...{ title: 'ChromeDriver', variable: 'CHROMEDRIVER', folderVariable: 'CHROMEWEBDRIVER' },
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
      ...{ title: 'Firefox', variable: 'FIREFOX', names: ['firefox-esr', 'firefox'] },
      files: ['/Applications/Firefox.app/Contents/MacOS/firefox']
    },
    driver: {
      ...{ title: 'geckodriver', variable: 'GECKODRIVER', folderVariable: 'GECKOWEBDRIVER' },
      ...{ names: ['geckodriver'], files: [] }
    },
    isPair: false,
    advice:
      '`apt-get install firefox-esr` and `cargo install geckodriver` on Debian, `brew install --cask firefox && brew install geckodriver` on macOS; hosted runners with Ubuntu and macOS have both'
  }
}

interface Program {
  readonly file: string
  /** As it says itself, such as `ChromeDriver 140.0.7339.80`. */
  readonly name: string
  readonly major: number
}

export interface Browser {
  readonly kind: BrowserKind
  readonly program: Program
  readonly driver: Program
}

export async function findPair(kind: BrowserKind, source: ProgramSource): Promise<Browser> {
  const { browser, driver, isPair, title, advice } = KINDS[kind]
  const [drivers, browsers] = [await findAll(driver, source), await findAll(browser, source)]
  if (browsers.length === 0) throw new ToolError(tellMissing(KINDS[kind], browser, source))
  if (drivers.length === 0) throw new ToolError(tellMissing(KINDS[kind], driver, source))
  const programs: Program[] = []
  for (const file of browsers) {
    const program = await readProgram(file, browser, source)
    programs.push(program)
    for (const candidate of drivers) {
      const fitting = await readProgram(candidate, driver, source)
      if (!isPair || fitting.major === program.major) return { kind, program, driver: fitting }
    }
  }
  const others = await Promise.all(drivers.map((file) => readProgram(file, driver, source)))
  const list = (found: readonly Program[]): string =>
    found.map(({ name, file }) => `${name} (${file})`).join(', ')
  const toDo = source.image ? `use another image than ${source.image}` : `install a pair (${advice})`
  throw new ToolError(
    `${title} needs a browser and a driver of the same major version, and there are ${list(programs)} and ${list(others)}: ${toDo}, or set ${browser.variable} and ${driver.variable} to one`
  )
}

function tellMissing(kind: Kind, { title, variable, names }: Place, { image }: ProgramSource): string {
  const needs = `${kind.title} needs ${title}, and`
  return image === undefined
    ? `${needs} there is none on the PATH (${names.join(', ')}): install it (${kind.advice}), or set ${variable} to its path`
    : `${needs} ${image} has none on its PATH (${names.join(', ')}): use an image that has it, or set ${variable} in the image to its path`
}

export function describeBrowser({ program, driver }: Browser): string {
  return `${program.name} (${program.file}) and ${driver.name} (${driver.file})`
}

/** A variable decides alone: it names the only program that is wanted. */
async function findAll(place: Place, source: ProgramSource): Promise<string[]> {
  const { variable, folderVariable, names, files, title } = place
  const { image } = source
  const absolute = (path: string): string => (image === undefined ? resolve(path) : path)
  const variables = await source.variables([variable, ...(folderVariable ? [folderVariable] : [])])
  const chosen = variables[variable]
  if (chosen) {
    const found = await source.find([absolute(chosen)])
    if (found.length > 0) return found
    throw new ToolError(
      `${image === undefined ? '' : `In ${image} `}${variable} is ${chosen}, and there is no program that can be started; point it to the program of ${title}, or unset it`
    )
  }
  const folder = folderVariable && variables[folderVariable]
  const inFolder = folder ? names.map((name) => join(absolute(folder), name)) : []
  const inOpt = image === undefined ? [] : (IN_OPT[variable] ?? [])
  return source.find([...inFolder, ...names, ...files, ...inOpt])
}

async function readProgram(file: string, place: Place, source: ProgramSource): Promise<Program> {
  const { code, lines, how } = await source.askVersion(file)
  // Start scripts of distributions may print something of their own before.
  const found = lines
    .map((line) => /^(.*?\b(\d+)\.\d[\w.]*)/.exec(line.trim()))
    .find((match) => match !== null)
  const [, name, major] = found ?? []
  if (code === 0 && name !== undefined) return { file, name, major: Number(major) }
  const said = lines.slice(-3).join(' ').slice(0, 300) || 'no output'
  throw new ToolError(
    `${file}${source.image ? ` of ${source.image}` : ''} --version did not print a version (${how}): ${said}; is it ${place.title}? Set ${place.variable} to the program that is`
  )
}
