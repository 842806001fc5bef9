import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import type { BrowserKind as CapacityKind } from '../browser-capacity.js'
import {
  type InstallPorts,
  runWithin,
  VERSION_LIMIT_MS,
  findOnPath,
  isExecutable
} from '../install/run-to-end.js'
import type { BrowserKind } from '../../programs/selenium-hub/order.js'
import { KINDS, type Place } from './browser-kinds.js'

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

/** Where programs are: this machine, or an image. */
export interface ProgramSource {
  /** All that can be started, in the order of preference; throws if a variable leads nowhere. */
  find(place: Place): Promise<string[]>
  askVersion(file: string): Promise<{ code: number | null; lines: readonly string[]; how: string }>
  /** That there is none, and what to do. */
  tellMissing(kind: BrowserKind, place: Place): string
  /** Where a pair comes from, for advice. */
  advise(kind: BrowserKind): string
}

/** Finds a browser and its driver on this machine, and sees that they fit; throws with what to install. */
export function findBrowser(
  kind: BrowserKind,
  ports: InstallPorts,
  { versionTimeoutMs = VERSION_LIMIT_MS } = {}
): Promise<Browser> {
  return findPair(kind, {
    find: (place) => findAll(place, ports),
    askVersion: async (file) => {
      const { isLate, ...ended } = await runWithin(versionTimeoutMs, { file, args: ['--version'] }, ports)
      return { ...ended, how: isLate ? `within ${versionTimeoutMs / 1000} s` : `(exit code ${ended.code})` }
    },
    tellMissing: (kind, { title, variable, names }) =>
      `${KINDS[kind].title} needs ${title}, and there is none on the PATH (${names.join(', ')}): install it (${KINDS[kind].advice}), or set ${variable} to its path`,
    advise: (kind) => `install a pair (${KINDS[kind].advice})`
  })
}

/** Finds a browser and a driver that fits it. */
export async function findPair(kind: BrowserKind, source: ProgramSource): Promise<Browser> {
  const { browser, driver, isPair } = KINDS[kind]
  const [drivers, browsers] = [await source.find(driver), await source.find(browser)]
  if (browsers.length === 0) throw new ToolError(source.tellMissing(kind, browser))
  if (drivers.length === 0) throw new ToolError(source.tellMissing(kind, driver))
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
  throw mismatch(kind, { browsers: programs, drivers: others, advice: source.advise(kind) })
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
    `${file} --version did not print a version ${how}: ${said}; is it ${place.title}? Set ${place.variable} to the program that is`
  )
}

function mismatch(
  kind: BrowserKind,
  found: { browsers: readonly Program[]; drivers: readonly Program[]; advice: string }
): ToolError {
  const list = (programs: readonly Program[]): string =>
    programs.map(({ name, file }) => `${name} (${file})`).join(', ')
  const { browser, driver, title } = KINDS[kind]
  return new ToolError(
    `${title} needs a browser and a driver of the same major version, and there are ${list(found.browsers)} and ${list(found.drivers)}: ${found.advice}, or set ${browser.variable} and ${driver.variable} to one`
  )
}

async function isFolder(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isDirectory(),
    () => false
  )
}
