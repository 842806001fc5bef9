import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from './ask-image.js'

/** The Java of an image. */
export interface ImageJava {
  readonly java: string
  /** As it says itself, such as `17.0.16`. */
  readonly version: string
  /** 8, 11, 17, … */
  readonly major: number
  /** `HEAP` and `JVM_ARGS`, as far as the image sets them. */
  readonly jvm: Readonly<Record<string, string>>
}

const IN_OPT = '/opt/java/bin/java'

/** Finds Java for `what`, in `JAVA_HOME`, on the PATH or in /opt/java, and asks it for its version. */
export async function requireImageJava(image: ImageShell, what: string): Promise<ImageJava> {
  const { JAVA_HOME, ...jvm } = await readVariables(image, ['JAVA_HOME', 'HEAP', 'JVM_ARGS'])
  const inHome = JAVA_HOME ? `${JAVA_HOME}/bin/java` : undefined
  const [java] = await findPrograms(image, inHome === undefined ? ['java', IN_OPT] : [inHome])
  if (java === undefined)
    throw new ToolError(
      inHome === undefined
        ? `${what} needs Java, and ${image.name} has none: there is no java on its PATH, and no ${IN_OPT}; use an image with a JRE 17`
        : `${what} needs Java, and in ${image.name} JAVA_HOME is ${JAVA_HOME}, where there is no bin/java: correct the image's JAVA_HOME, or unset it to use the java on the PATH`
    )
  const { lines, how } = await runInImage(image, [java, '-version'])
  const [, version, first, second] = /version "((?:1\.(\d+)|(\d+))[^"]*)"/.exec(lines.join('\n')) ?? []
  if (version === undefined)
    throw new ToolError(
      `${what} needs Java, and ${java} of ${image.name} does not print its version (${how}): ${lines.slice(0, 3).join(' ').slice(0, 300) || 'no output'}`
    )
  return { java, version, major: Number(first ?? second), jvm }
}
