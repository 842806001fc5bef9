import { basename } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from '../image/ask-image.js'
import { IN_OPT } from '../image/image-browsers.js'
import { requireImageNode } from '../image/image-node.js'
import { kindOf, NAMES, type FoundBrowser } from './find-browser.js'

/** What an image has for scripts. */
export interface BrowserImage {
  readonly image: string
  readonly browser: FoundBrowser
  readonly node: string
}

/** Finds Node and a browser in an image: `CHROME`, on the PATH, `CHROME_BIN`, or below /opt. */
export async function findBrowserInImage(image: ImageShell): Promise<BrowserImage> {
  const node = await requireImageNode(image, 'service-chrome')
  const { path, origin } = await locate(image)
  const { code, lines, how } = await runInImage(image, [path, '--version'])
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line))?.trim()
  if (code !== 0 || version === undefined)
    throw new ToolError(
      `The browser ${path} of ${image.name} (${origin}) does not start (${how}): ${(lines[0] ?? 'no output').slice(0, 200)}; use an image in which it does`
    )
  return { image: image.name, node, browser: { path, origin, version, kind: kindOf(basename(path)) } }
}

async function locate(image: ImageShell): Promise<{ path: string; origin: string }> {
  const { CHROME, CHROME_BIN } = await readVariables(image, ['CHROME', 'CHROME_BIN'])
  if (CHROME) return { path: await check(image, 'CHROME', CHROME), origin: 'from CHROME' }
  const [onPath] = await findPrograms(image, NAMES)
  if (onPath !== undefined) return { path: onPath, origin: 'on the PATH' }
  if (CHROME_BIN) return { path: await check(image, 'CHROME_BIN', CHROME_BIN), origin: 'from CHROME_BIN' }
  const [inOpt] = await findPrograms(image, IN_OPT.CHROME ?? [])
  if (inOpt !== undefined) return { path: inOpt, origin: 'in /opt' }
  throw new ToolError(
    `There is no Chrome or Chromium in ${image.name}: neither CHROME nor CHROME_BIN is set, and none of ${NAMES.join(', ')} is on its PATH; use an image that has one, or set CHROME in it`
  )
}

async function check(image: ImageShell, variable: string, given: string): Promise<string> {
  const [path] = await findPrograms(image, [given])
  if (path !== undefined) return path
  throw new ToolError(
    `In ${image.name} ${variable} is ${given}, but there is no program: point it to a browser, or unset it`
  )
}
