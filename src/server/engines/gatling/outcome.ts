import type { ToolExit } from '../../nodes/machine/processes.js'
import type { Said } from './console.js'

/** Of Gatling's exit codes the one that is no failure of Gatling: the simulation ran, and an assertion does not hold. */
const ASSERTIONS_FAILED = 2
const MAX_WORDS = 4000
const SHOWN_LINES = 15
const WRONG_CLASSES =
  /NoSuchMethodError|NoSuchFieldError|NoClassDefFoundError|ClassNotFoundException|AbstractMethodError|IncompatibleClassChangeError|UnsupportedClassVersionError/
const MORE_MEMORY = 'Give it more memory with the environment variable HEAP, such as HEAP=-Xmx4g'

export interface Ending {
  readonly exit: ToolExit
  readonly said: Said
  /** The first error in Gatling's log; empty if there is none. */
  readonly firstError: string
  /** Of Gatling. */
  readonly version: string
}

/** Why a run is a problem, in Gatling's own words; null if the whole simulation ran and its assertions hold. */
export function findProblem(ending: Ending): string | null {
  const { exit, said, version } = ending
  const gatling = `Gatling ${version}`
  if (!said.isEnded)
    return cut(`${gatling} did not run the plan to its end (${describe(exit)}):`, lastWords(ending))
  if (exit.code === 0) return null
  if (exit.code === ASSERTIONS_FAILED && said.failures.length === 0)
    return cut(`${gatling} ran the whole plan, and its assertions do not hold:`, said.brokenAssertions)
  const words = said.failures.length > 0 ? said.failures : lastWords(ending)
  return cut(`${gatling} could not run the plan (${describe(exit)}):`, [
    ...adviceFor(words, version),
    ...words
  ])
}

function describe({ code, signal }: ToolExit): string {
  return signal === null ? `exit code ${code}` : `killed by ${signal}`
}

function lastWords(ending: Ending): readonly string[] {
  const { lastLines } = ending.said
  const memory = lastLines.filter((line) => line.includes('java.lang.OutOfMemoryError'))
  if (memory.length > 0) return [...memory, MORE_MEMORY]
  const shown = lastLines.slice(-SHOWN_LINES)
  const cause = causeOf(ending, shown.length > 0)
  return shown.length > 0 ? [...cause, 'Its last lines:', ...shown] : [...cause, 'It printed nothing']
}

/** What may have ended it early. */
function causeOf({ exit, firstError, version }: Ending, hasStarted: boolean): string[] {
  if (exit.signal === 'SIGKILL')
    return [
      'Something outside ended it. If it was not a person, the machine was probably short of memory (the kernel then kills a process, which its log tells: `dmesg`): use a machine with more memory, fewer threads, or a smaller heap with HEAP, such as HEAP=-Xmx512m'
    ]
  if (firstError !== '')
    return [...adviceFor([firstError], version), `The first error in its log: ${firstError}`]
  return hasStarted && exit.signal === null ? ['Does the plan call System.exit?'] : []
}

function adviceFor(words: readonly string[], version: string): string[] {
  const text = words.join('\n')
  if (WRONG_CLASSES.test(text))
    return [
      `A class is missing or of another version: compile the plan with Gatling ${version}, and upload its libraries as .jar files next to it`
    ]
  return text.includes('StackOverflowError')
    ? [
        'The plan calls itself without end, or too deeply: correct it, or give it a larger stack with the environment variable JVM_ARGS, such as JVM_ARGS=-Xss4m'
      ]
    : []
}

function cut(start: string, words: readonly string[]): string {
  return [start, ...words].join('\n').slice(0, MAX_WORDS)
}
