import { posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from '../image/ask-image.js'
import { IN_OPT } from '../image/image-browsers.js'
import { type ImageJava, requireImageJava } from '../image/image-java.js'
import { requireImageNode } from '../image/image-node.js'
import type { BrowserKind } from '../../../tools/selenium-hub/order.js'
import { KINDS, type Place } from './browser-kinds.js'
import { type Browser, findPair } from './browsers.js'

/** What an image has for Selenium. */
export interface SeleniumImage extends ImageJava {
  readonly image: string
  readonly browser: Browser
  /** Node, which runs the hub. */
  readonly node: string
}

const LEAST_JAVA = 11

/** Finds Java, Node, a browser and its driver in an image. */
export async function findSeleniumInImage(kind: BrowserKind, image: ImageShell): Promise<SeleniumImage> {
  const { title } = KINDS[kind]
  const java = await requireImageJava(image, title)
  if (java.major < LEAST_JAVA)
    throw new ToolError(
      `${title} needs Java ${LEAST_JAVA} or later, and ${java.java} of ${image.name} is ${java.version}: use an image with a JRE 17`
    )
  const node = await requireImageNode(image, title)
  const browser = await findPair(kind, {
    find: (place) => findAll(image, place),
    askVersion: async (file) => {
      const { how, ...ended } = await runInImage(image, [file, '--version'])
      return { ...ended, how: `in ${image.name} (${how})` }
    },
    tellMissing: (kind, { title, variable, names }) =>
      `${KINDS[kind].title} needs ${title}, and ${image.name} has none on its PATH (${names.join(', ')}): use an image that has it, or set ${variable} in the image to its path`,
    advise: () => `use another image than ${image.name}`
  })
  return { ...java, image: image.name, browser, node }
}

/** The same places as on this machine, and those below /opt. */
async function findAll(image: ImageShell, place: Place): Promise<string[]> {
  const { variable, folderVariable, names, files, title } = place
  const variables = await readVariables(image, [variable, ...(folderVariable ? [folderVariable] : [])])
  const chosen = variables[variable]
  if (chosen) {
    const found = await findPrograms(image, [chosen])
    if (found.length > 0) return found
    throw new ToolError(
      `In ${image.name} ${variable} is ${chosen}, and there is no program that can be started; point it to the program of ${title}, or unset it`
    )
  }
  const folder = folderVariable && variables[folderVariable]
  const inFolder = folder ? names.map((name) => posix.join(folder, name)) : []
  return findPrograms(image, [...inFolder, ...names, ...files, ...(IN_OPT[variable] ?? [])])
}
