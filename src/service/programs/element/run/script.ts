import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { provideExports, createExports } from '../api/exports.js'
import { Plan } from '../api/plan.js'
import { readSettings, readStepSettings, type Settings, type TestSettings } from '../api/settings.js'
import type { RunOrder } from './run-order.js'

/** One user's instance of the script: its own variables, steps and test data. */
export interface Script {
  readonly plan: Plan
  readonly settings: Settings
}

interface ScriptModule {
  readonly default?: unknown
  readonly settings?: TestSettings
}

const RUNS_ONCE =
  'neither the run nor the script sets a duration, and the script no loopCount: each user runs the steps once'

/** Loads the script for a user and lets it declare its steps; throws what is wrong with it. */
export async function loadScript(order: RunOrder, browserId: number): Promise<Script> {
  const plan = new Plan()
  const address = `${pathToFileURL(order.plan).href}?user=${browserId}`
  provideExports(address, {
    exports: createExports(plan, { browserId, env: process.env, folder: order.folder }),
    ...{ folder: order.folder, file: join(order.folder, order.scriptName) }
  })
  const { script } = (await import(/* webpackIgnore: true */ address)) as { script: ScriptModule }
  const { declare, settings } = readModule(script, order)
  // What the script sets by setup() while it is loaded counts too.
  plan.settings = { ...settings, ...plan.settings }
  await declare()
  if (plan.steps.length === 0)
    throw new Error(`${order.scriptName} declares no steps: call step(name, …) in its default export`)
  for (const source of plan.sources)
    if (source.open().length === 0) throw new Error(`${order.scriptName}: test data without any rows`)
  const read = readSettings(plan.settings)
  for (const step of plan.steps) readStepSettings(step.options, read)
  const warnings = [...read.warnings, ...plan.warnings]
  if (existsSync(join(order.folder, 'tsconfig.json')))
    warnings.push('tsconfig.json has no effect: scripts are compiled with settings of their own')
  // A run that nothing ends would go on forever.
  const limit = plan.settings.loopCount ?? plan.settings.duration ?? order.durationMs
  const isUnlimited = limit === null
  if (isUnlimited) warnings.push(RUNS_ONCE)
  return { plan, settings: { ...read, warnings, loopCount: isUnlimited ? 1 : read.loopCount } }
}

function readModule(script: ScriptModule, order: RunOrder) {
  // A module in CommonJS has its exports within the default one.
  const inner = script.default as ScriptModule | undefined
  const declare = typeof script.default === 'function' ? script.default : inner?.default
  if (typeof declare !== 'function')
    throw new Error(
      `${order.scriptName} has no default export: export default () => { step('…', async (browser) => { … }) }`
    )
  const settings = script.settings ?? inner?.settings ?? {}
  if (typeof settings !== 'object') throw new Error(`${order.scriptName}: settings is not an object`)
  return { declare: declare as () => unknown, settings }
}
