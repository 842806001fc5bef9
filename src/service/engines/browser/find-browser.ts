import { basename, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import { messageOf } from '../../../contract/text.js'
import type { BrowserKind } from '../browser-capacity.js'
import {
  type InstallPorts,
  runWithin,
  VERSION_LIMIT_MS,
  findOnPath,
  isExecutable
} from '../install/run-to-end.js'

/** A browser that can be started. */
export interface FoundBrowser {
  readonly path: string
  /** Its name and version, in its own words. */
  readonly version: string
  /** Why this one, for the log. */
  readonly origin: string
  readonly kind: BrowserKind
}

/** The leanest first: many users fit into a machine. */
export const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable'
]
const MAC_APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium'
]
const ADVICE =
  'On Debian: apt-get install chromium-headless-shell (or chromium); on macOS: brew install --cask google-chrome; runners hosted by GitHub have google-chrome. Or set CHROME to the path of the browser'

/** Finds the browser for scripts and asks it for its version. */
export async function findBrowser(ports: InstallPorts, versionMs = VERSION_LIMIT_MS): Promise<FoundBrowser> {
  const found = await locate(ports.env)
  if (found === undefined)
    throw new ToolError(
      `There is no Chrome or Chromium: neither CHROME nor CHROME_BIN is set, and none of ${NAMES.join(', ')} is on the PATH. ${ADVICE}`
    )
  const version = await askVersion(found, ports, versionMs)
  return { ...found, version, kind: kindOf(basename(found.path)) }
}

export function kindOf(fileName: string): BrowserKind {
  return fileName.includes('headless') ? 'chromium-headless-shell' : 'chromium'
}

interface Located {
  readonly path: string
  readonly origin: string
}

async function askVersion({ path, origin }: Located, ports: InstallPorts, limitMs: number): Promise<string> {
  const fail = (why: string): ToolError =>
    new ToolError(`The browser ${path} (${origin}) does not start${why}. ${ADVICE}`)
  const command = { file: path, args: ['--version'] }
  const { code, lines, isLate } = await runWithin(limitMs, command, ports).catch((thrown: unknown) => {
    throw ports.signal.aborted ? thrown : fail(`: ${messageOf(thrown)}`)
  })
  if (isLate) throw fail(`: ${path} --version did not end within ${limitMs / 1000} s`)
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line))?.trim()
  if (code === 0 && version !== undefined) return version
  throw fail(` (exit code ${code ?? 'unknown'}): ${(lines[0] ?? 'no output').slice(0, 200)}`)
}

async function locate(env: NodeJS.ProcessEnv): Promise<Located | undefined> {
  if (env.CHROME) return { path: await check(env.CHROME, 'CHROME'), origin: 'from CHROME' }
  for (const name of NAMES) {
    const path = await findOnPath(name, env)
    if (path !== undefined) return { path, origin: 'on the PATH' }
  }
  if (env.CHROME_BIN) return { path: await check(env.CHROME_BIN, 'CHROME_BIN'), origin: 'from CHROME_BIN' }
  if (process.platform !== 'darwin') return undefined
  for (const path of MAC_APPLICATIONS) if (await isExecutable(path)) return { path, origin: 'an application' }
  return undefined
}

async function check(given: string, variable: string): Promise<string> {
  const path = resolve(given)
  if (await isExecutable(path)) return path
  throw new ToolError(
    `${variable} is ${given}, but there is no program: point it to a browser, or unset it. ${ADVICE}`
  )
}
