import { HOOKS, type Condition, type Hook, type Plan, type Step, type StepFunction } from './plan.js'
import type { TestSettings } from './settings.js'
import { listUnknownOptions, readCount, readStepName, readStepOptions } from './step-options.js'

export const RecoverWith = { CONTINUE: 'continue', RESTART: 'restart', RETRY: 'retry' } as const

const GLOBAL = 'global'

/** The functions by which a script declares its steps. */
export function createDeclarations(plan: Plan): Record<string, unknown> {
  const add = (more: Partial<Step>, given: readonly unknown[]): void => {
    const { name: label, options, run } = readArguments(given)
    const name = readStepName(label)
    plan.steps.push({ name, options, run, ...readStepOptions(name, options), ...more })
    plan.warnings.push(...listUnknownOptions(name, options))
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
  return { step, setup: createSetup(plan), suite: createSuite(step), ...createHooks(plan) }
}

export function findRecovery(plan: Plan, step: Step): { run: StepFunction; tries: number } | undefined {
  return plan.recoveries.get(step.name) ?? plan.recoveries.get(GLOBAL)
}

/** `(name, fn)`, `(name, options, fn)` or `(fn)`. */
function readArguments(given: readonly unknown[]): {
  name: string | undefined
  options: TestSettings
  run: StepFunction
} {
  const run = given.at(-1)
  if (typeof run !== 'function')
    throw new Error(`a step needs a function as its last argument: step(name, async (browser) => { … })`)
  const name = given.find((argument) => typeof argument === 'string')
  const options = given.find((argument) => typeof argument === 'object' && argument !== null)
  return { name, options: (options ?? {}) as TestSettings, run: run as StepFunction }
}

function createSetup(plan: Plan): (settings: TestSettings) => void {
  return (settings) => {
    plan.settings = { ...plan.settings, ...settings }
  }
}

function createSuite(step: unknown): unknown {
  const suite = (declare: (step: unknown) => unknown) => () => declare(step)
  const withData = (): never => {
    throw new Error(
      'suite.withData is not supported: call TestData.fromCSV(…) in the script and take the row as the second argument of each step'
    )
  }
  return Object.assign(suite, { withData })
}

function createHooks(plan: Plan): Record<Hook, unknown> {
  const declare =
    (hook: Hook) =>
    (run: StepFunction, waitTimeout?: unknown): void => {
      plan.hooks[hook].push({ run, waitTimeout })
    }
  return Object.fromEntries(HOOKS.map((hook) => [hook, declare(hook)])) as Record<Hook, unknown>
}
