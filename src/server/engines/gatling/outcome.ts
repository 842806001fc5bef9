import type { ToolExit } from '../../nodes/processes.js'
import type { Said } from './console.js'

/** Of Gatling's exit codes the one that is no failure of Gatling: the simulation ran, and an assertion does not hold. */
const ASSERTIONS_FAILED = 2
const MAX_WORDS = 4000
const SHOWN_LINES = 15
const WRONG_CLASSES =
  /NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|ClassNotFoundException|AbstractMethodError|IncompatibleClassChangeError|UnsupportedClassVersionError/

/** Why a run is a problem, in Gatling's own words; null if the whole simulation ran and its assertions hold. */
export function findProblem(exit: ToolExit, said: Said, version: string): string | null {
  const gatling = `Gatling ${version}`
  if (!said.isEnded)
    return cut(`${gatling} did not run the plan to its end (${describe(exit)}):`, lastWords(said))
  if (exit.code === 0) return null
  if (exit.code === ASSERTIONS_FAILED && said.failures.length === 0)
    return cut(`${gatling} ran the whole plan, and its assertions do not hold:`, said.brokenAssertions)
  const words = said.failures.length > 0 ? said.failures : lastWords(said)
  return cut(`${gatling} could not run the plan (${describe(exit)}):`, [
    ...adviceFor(words, version),
    ...words
  ])
}

function describe({ code, signal }: ToolExit): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`
}

function lastWords({ lastLines }: Said): readonly string[] {
  const memory = lastLines.filter((line) => line.includes('java.lang.OutOfMemoryError'))
  if (memory.length > 0)
    return [...memory, 'Give it more memory with the environment variable HEAP, such as HEAP=-Xmx4g']
  const shown = lastLines.slice(-SHOWN_LINES)
  return shown.length > 0
    ? ['Does the plan call System.exit? Its last lines:', ...shown]
    : ['It printed nothing']
}

function adviceFor(words: readonly string[], version: string): string[] {
  return words.some((line) => WRONG_CLASSES.test(line))
    ? [
        `A class is missing or of another version: compile the plan with Gatling ${version}, and upload its libraries as .jar files next to it`
      ]
    : []
}

function cut(start: string, words: readonly string[]): string {
  return [start, ...words].join('\n').slice(0, MAX_WORDS)
}
