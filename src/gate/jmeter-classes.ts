import { accessSync, constants, readFileSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'

/** A larger jar is not a plugin. */
const LARGEST_JAR_BYTES = 64 << 20

/**
 * Whether the JMeter of this machine has a class, by the names in its jars: undefined if nobody knows. Without a JMeter of one's own the
 * copy without plugins is used.
 */
export function createClassFinder(env: NodeJS.ProcessEnv): (name: string) => boolean | undefined {
  let jars: readonly string[] | undefined
  return (name) => {
    const home = findHome(env)
    if (home === undefined) return false
    try {
      jars ??= [join(home, 'lib', 'ext'), join(home, 'lib')].flatMap(jarsIn)
      return jars.length === 0 ? undefined : jars.some((jar) => hasClass(jar, name))
    } catch {
      return undefined
    }
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
