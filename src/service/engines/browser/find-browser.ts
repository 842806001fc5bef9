import { resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import { IN_OPT, type ProgramSource } from '../image/program-source.js'

/** A browser that can be started. */
export interface FoundBrowser {
  readonly path: string
  /** Its name and version, in its own words. */
  readonly version: string
  /** Why this one, for the log. */
  readonly origin: string
}

/** The leanest first: many users fit into a machine. */
const NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
]
const MAC_APPLICATIONS = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium'
]
const ADVICE =
  'On Debian: apt-get install chromium-headless-shell (or chromium); on macOS: brew install --cask google-chrome; runners hosted by GitHub have google-chrome. Or set CHROME to the path of the browser'

/** Finds the browser for scripts: `CHROME`, on the PATH, `CHROME_BIN`, an application of macOS, or below /opt in an image. */
export async function findBrowser(source: ProgramSource): Promise<FoundBrowser> {
  const { path, origin } = await locate(source)
  const { code, lines, how } = await source.askVersion(path)
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line))?.trim()
  if (code === 0 && version !== undefined) return { path, origin, version }
  const where = source.image === undefined ? '' : ` of ${source.image}`
  throw failure(
    source,
    `The browser ${path}${where} (${origin}) does not start (${how}): ${(lines[0] ?? 'no output').slice(0, 200)}`
  )
}

async function locate(source: ProgramSource): Promise<{ path: string; origin: string }> {
  const { CHROME, CHROME_BIN } = await source.variables(['CHROME', 'CHROME_BIN'])
  const { image } = source
  const elsewhere = image === undefined ? MAC_APPLICATIONS : IN_OPT.CHROME
  const chosen = async (variable: string, given: string): Promise<{ path: string; origin: string }> => {
    const [path] = await source.find([image === undefined ? resolve(given) : given])
    if (path !== undefined) return { path, origin: `from ${variable}` }
    const where = image === undefined ? '' : `In ${image} `
    throw failure(
      source,
      `${where}${variable} is ${given}, but there is no program: point it to a browser, or unset it`
    )
  }
  if (CHROME) return chosen('CHROME', CHROME)
  const [onPath] = await source.find(NAMES)
  if (onPath !== undefined) return { path: onPath, origin: 'on the PATH' }
  if (CHROME_BIN) return chosen('CHROME_BIN', CHROME_BIN)
  const [path] = await source.find(elsewhere ?? [])
  if (path !== undefined) return { path, origin: image === undefined ? 'an application' : 'in /opt' }
  const where = image === undefined ? '' : ` in ${image}`
  throw failure(
    source,
    `There is no Chrome or Chromium${where}: neither CHROME nor CHROME_BIN is set, and none of ${NAMES.join(', ')} is on the PATH`
  )
}

function failure({ image }: ProgramSource, words: string): ToolError {
  return new ToolError(
    image === undefined ? `${words}. ${ADVICE}` : `${words}; use an image that has one, or set CHROME in it`
  )
}
