import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import type { PlanRequest } from '../analysis/plans/check/request.js'
import { decodeProperties, parseProperties } from '../analysis/plans/jmx/user-properties.js'

/** Files that give values to the plan, a name and a value per line. */
const GIVES = /\.properties$|^environment$/i
/** As in a shell, before a variable. */
const EXPORT = /^[ \t]*export[ \t]+/gm
const LARGEST_BYTES = 1 << 20

/** The names of values that uploaded files give to the plan, or the JMeter of this machine does. */
export async function readGivenNames(
  paths: readonly string[],
  { tool, isHere }: Pick<PlanRequest, 'tool' | 'isHere'>,
  env: NodeJS.ProcessEnv
): Promise<ReadonlySet<string>> {
  const home = tool === 'jmeter' && isHere ? findJMeterHome(env) : undefined
  const ofHome =
    home === undefined
      ? []
      : ['jmeter', 'user', 'system'].map((name) => join(home, 'bin', `${name}.properties`))
  const files = [...paths.filter((path) => GIVES.test(basename(path))), ...ofHome]
  const texts = await Promise.all(files.map(readIfThere))
  return new Set(texts.flatMap((text) => [...parseProperties(text.replace(EXPORT, '')).keys()]))
}

async function readIfThere(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined)
  if (!facts?.isFile() || facts.size > LARGEST_BYTES) return ''
  return readFile(path).then(decodeProperties, () => '')
}

/** The folder of `JMETER_HOME`, or of the `jmeter` on the PATH. */
export function findJMeterHome({ JMETER_HOME, PATH = '' }: NodeJS.ProcessEnv): string | undefined {
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
