import { accessSync, constants, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

/** A larger jar is not a plugin. */
const LARGEST_JAR_BYTES = 64 << 20

/** Reading the jars for each of many classes would take minutes. */
const LONGEST_MS = 1_000

/**
 * Whether the JMeter of this machine has a class, by the names in its jars: undefined if nobody knows, or it takes too
 * long to find out. Without a JMeter of one's own the copy without plugins is used.
 */
export function createClassFinder(
  env: NodeJS.ProcessEnv,
  now: () => number = () => performance.now()
): (name: string) => boolean | undefined {
  const known = new Map<string, boolean | undefined>()
  let home: { readonly path: string | undefined } | undefined
  let jars: readonly string[] | undefined
  let spentMs = 0
  const look = (name: string): boolean | undefined => {
    home ??= { path: findHome(env) }
    if (home.path === undefined) return false
    jars ??= [join(home.path, 'lib', 'ext'), join(home.path, 'lib')].flatMap(jarsIn)
    for (const jar of jars) {
      if (spentMs > LONGEST_MS) return undefined
      const startedMs = now()
      const isThere = hasClass(jar, name)
      spentMs += now() - startedMs
      if (isThere) return true
    }
    return jars.length === 0 ? undefined : false
  }
  return (name) => {
    if (known.has(name)) return known.get(name)
    let found: boolean | undefined
    try {
      found = look(name)
    } catch {
      found = undefined
    }
    known.set(name, found)
    return found
  }
}

/** The folder of `JMETER_HOME`, or of the `jmeter` on the PATH. */
function findHome({ JMETER_HOME, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  if (JMETER_HOME) return resolve(JMETER_HOME)
  const script = PATH.split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, 'jmeter'))
    .find(isProgram)
  return script === undefined ? undefined : dirname(dirname(realpathSync(script)))
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function jarsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jar'))
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).size <= LARGEST_JAR_BYTES)
}

/** The names of a jar's entries are not compressed. A plan writes `_-` for the `$` of a class within another. */
function hasClass(jar: string, name: string): boolean {
  return readFileSync(jar).includes(`${name.replaceAll('_-', '$').replaceAll('.', '/')}.class`)
}
