import { HOOKS, type Condition, type Plan, type Step, type StepFunction } from './plan.js'
import type { TestSettings } from './settings.js'

export const RecoverWith = { CONTINUE: 'continue', RESTART: 'restart', RETRY: 'retry' } as const

const GLOBAL = 'global'

export function createDeclarations(plan: Plan): Record<string, unknown> {
  const add = (more: Partial<Step>, given: readonly unknown[]): void => {
    const { name: label, options, run } = readArguments(given)
    const name = readStepName(label)
    plan.steps.push({ name, options, run, ...readStepOptions(name, options), ...more })
    for (const option of Object.keys(options))
      if (!KNOWN.has(option))
        plan.warnings.push(`the option ${option} of the step "${name}" is unknown and has no effect`)
  }
  const step = Object.assign((...given: unknown[]) => add({}, given), {
    once: (...given: unknown[]) => add({ isOnce: true }, given),
    skip: (...given: unknown[]) => add({ isSkipped: true }, given),
    if: (predicate: Condition, ...given: unknown[]) => add({ predicate }, given),
    unless: (predicate: Condition, ...given: unknown[]) =>
      add({ predicate: async (browser) => !(await predicate(browser)) }, given),
    repeat: (count: number, ...given: unknown[]) => add({ repeat: readCount(count) }, given),
    while: (loop: Condition, ...given: unknown[]) => add({ loop }, given),
    recovery: (...given: unknown[]) => {
      const { name = GLOBAL, options, run } = readArguments(given)
      const tries = Number(options.recoveryTries ?? options.tries ?? 1)
      plan.recoveries.set(name, { run, tries })
    }
  })
  const setup = (settings: TestSettings): void => {
    plan.settings = { ...plan.settings, ...settings }
  }
  const suite = (declare: (step: unknown) => unknown) => () => declare(step)
  const withData = (): never => {
    throw new Error(
      'suite.withData is not supported: call TestData.fromCSV(…) in the script and take the row as the second argument of each step'
    )
  }
  const hooks = HOOKS.map((hook): [string, unknown] => [
    hook,
    (run: StepFunction, waitTimeout?: unknown) => void plan.hooks[hook].push({ run, waitTimeout })
  ])
  return { step, setup, suite: Object.assign(suite, { withData }), ...Object.fromEntries(hooks) }
}

export function findRecovery({ recoveries }: Plan, step: Step): ReturnType<Plan['recoveries']['get']> {
  return recoveries.get(step.name) ?? recoveries.get(GLOBAL)
}

/** `(name, fn)`, `(name, options, fn)` or `(fn)`. */
function readArguments(given: readonly unknown[]) {
  const run = given.at(-1)
  if (typeof run !== 'function')
    throw new Error(`a step needs a function as its last argument: step(name, async (browser) => { … })`)
  const name = given.find((argument) => typeof argument === 'string')
  const options = given.find((argument) => typeof argument === 'object' && argument !== null)
  return { name, options: (options ?? {}) as TestSettings, run: run as StepFunction }
}

/** Each decides whether or how often the step runs, so a run without it would be a different test. */
const REFUSED = { predicate: 'use step.if or step.unless', stepWhile: 'use step.while' }
const KNOWN = new Set([
  ...['once', 'skip', 'pending', 'repeat', 'stepDelay', 'actionDelay', 'waitTimeout', 'waitUntil'],
  ...['name', 'description']
])
/** The labels of the pages' own times end with these. */
const TIMING_LABEL = / \[(?:ttfb|dom ready|load|lcp)\]$/

/** Checks what is the label of the step's rows. */
function readStepName(name: string | undefined): string {
  if (name === undefined) throw new Error('a step needs a name: step(name, async (browser) => { … })')
  const shown = JSON.stringify(name)
  if (name.trim() === '') throw new Error(`a step needs a name that is not blank: its name is ${shown}`)
  if (/\p{Cc}/u.test(name)) throw new Error(`the name of a step has control characters: ${shown}`)
  if (TIMING_LABEL.test(name))
    throw new Error(`the name of a step ends like the labels of the pages' own times: ${shown}`)
  return name
}

/** What the options of a step say about when it runs; throws for what cannot be honoured. */
function readStepOptions(step: string, options: TestSettings): Partial<Step> {
  for (const [name, instead] of Object.entries(REFUSED))
    if (options[name] !== undefined && options[name] !== null)
      throw new Error(`the option ${name} of the step "${step}" is not supported: ${instead}`)
  const { repeat } = options
  const count = typeof repeat === 'object' && repeat !== null ? (repeat as { count?: unknown }).count : repeat
  return {
    ...(options.once ? { isOnce: true } : {}),
    ...(options.skip || options.pending ? { isSkipped: true } : {}),
    ...(count === undefined || count === null ? {} : { repeat: readCount(count) })
  }
}

function readCount(count: unknown): number {
  if (Number.isInteger(count) && Number(count) >= 0) return Number(count)
  throw new Error(`step.repeat needs a whole number of times, not ${JSON.stringify(count)}`)
}
