import { ToolError } from '../errors.js'
import type { ImageShell, ToolSearch } from '../nodes/load-node.js'
import { findOnce } from './engine.js'
import { requireImageJava, runInImage } from './image/image-program.js'
import { requireJdk } from './install/java.js'
import type { InstallPorts } from './install/run-to-end.js'

/** How to start the compiler of Java: the words before its options. */
export interface Javac {
  readonly javac: readonly string[]
}

/** Finds a compiler for `what` where a plan runs: there it is compiled. */
export function searchJavac(ports: InstallPorts, what: string): ToolSearch<Javac> {
  return {
    here: findOnce(async () => ({ javac: [(await requireJdk(ports, what)).javac] })),
    inImage: (image) => findJavacInImage(image, what)
  }
}

/** Some JREs have the compiler, without a program to start it (Debian's); others have none. */
async function findJavacInImage(image: ImageShell, what: string): Promise<Javac> {
  const { java } = await requireImageJava(image, what)
  const { lines, how } = await runInImage(image, [java, '--list-modules'])
  if (lines.some((line) => line.startsWith('jdk.compiler@')))
    return { javac: [java, '-m', 'jdk.compiler/com.sun.tools.javac.Main'] }
  throw new ToolError(
    `${what} compiles the plan in the pod that runs it, and ${java} of ${image.name} has no compiler (no module jdk.compiler, ${how}): use an image with a JDK 17`
  )
}

/**
 * Options for a plan. No annotation processor and no plugin of its jars is started: javac looks for plugins on the class path too, and
 * starts those that ask for it, unless there is another path for them. `empty` is a folder with nothing in it.
 */
export function javacOptions(empty: string): string[] {
  return ['-encoding', 'UTF-8', '-g', '-nowarn', '-proc:none', '-processorpath', empty]
}
