import { posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, listFiles, readVariables, realPath } from '../image/ask-image.js'
import { type ImageJava, requireImageJava } from '../image/image-java.js'

/** What an image has for Gatling. */
export interface GatlingImage extends ImageJava {
  readonly image: string
  /** Undefined if it has Java only: then Gatling's jars can be copied there. */
  readonly gatling: { readonly version: string; readonly lib: string } | undefined
}

const IN_OPT = '/opt/gatling'

/** Finds Java and Gatling in an image: `GATLING_HOME`, `gatling.sh` on the PATH, or /opt/gatling. */
export async function findGatlingInImage(image: ImageShell): Promise<GatlingImage> {
  const java = await requireImageJava(image, 'Gatling')
  return { ...java, image: image.name, gatling: await findJars(image) }
}

async function findJars(image: ImageShell): Promise<GatlingImage['gatling']> {
  const { GATLING_HOME } = await readVariables(image, ['GATLING_HOME'])
  if (GATLING_HOME) {
    const found = await jarsIn(image, GATLING_HOME)
    if (found !== undefined) return found
    throw new ToolError(
      `In ${image.name} GATLING_HOME is ${GATLING_HOME}, but there is no gatling-core jar in its lib folder; point it to an installation of Gatling, or unset it`
    )
  }
  const [script] = await findPrograms(image, ['gatling.sh'])
  const home = script && posix.dirname(posix.dirname(await realPath(image, script)))
  return (home === undefined ? undefined : await jarsIn(image, home)) ?? jarsIn(image, IN_OPT)
}

async function jarsIn(image: ImageShell, home: string): Promise<GatlingImage['gatling']> {
  const lib = posix.join(home, 'lib')
  const jars = await listFiles(image, lib, 'gatling-core-[0-9]*.jar')
  const version = jars
    .map((jar) => /gatling-core-(\d+\.\d+[\w.-]*)\.jar$/.exec(jar)?.[1])
    .find((found) => found !== undefined)
  return version === undefined ? undefined : { version, lib }
}
