import { pathToFileURL } from 'node:url'
import { provideExports } from '../api/bridge.js'
import { createExports } from '../api/exports.js'
import { Plan } from '../api/plan.js'
import { readSettings, type Settings, type TestSettings } from '../api/settings.js'
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

/** Loads the script for a user and lets it declare its steps; throws what is wrong with it. */
export async function loadScript(order: RunOrder, browserId: number): Promise<Script> {
  const plan = new Plan()
  const address = `${pathToFileURL(order.plan).href}?user=${browserId}`
  provideExports(address, createExports(plan, { browserId, env: process.env, folder: order.folder }))
  const { script } = (await import(address)) as { script: ScriptModule }
  const { declare, settings } = readModule(script, order)
  plan.settings = settings
  await declare()
  if (plan.steps.length === 0)
    throw new Error(`${order.scriptName} declares no steps: call step(name, …) in its default export`)
  for (const source of plan.sources)
    if (source.open().length === 0) throw new Error(`${order.scriptName}: test data without any rows`)
  return { plan, settings: readSettings(plan.settings) }
}

function readModule(
  script: ScriptModule,
  order: RunOrder
): { declare: () => unknown; settings: TestSettings } {
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
