import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCapacity } from '../browser-capacity.js'
import type { Engine, NodeOrder, PlanRequest, PlanToPrepare, PreparedPlan } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installPackages } from '../install/install-packages.js'
import type { InstallPorts } from '../install/install-ports.js'
import { refuseVariable } from '../plan-environment.js'
import { BROWSER_PACKAGES } from './browser-packages.js'
import { compileScript } from './compile-script.js'
import { findBrowser, type FoundBrowser } from './find-browser.js'
import { runScript, type CompiledScript } from './run-script.js'

export interface BrowserEngineOptions {
  /** Other names under which scripts import the API, such as `@acme/element`. */
  readonly packageNames?: readonly string[]
  readonly blockedAfterMs?: number
}

/** Runs scripts written for Element in Chrome or Chromium: one process and one browser per node, one context per user. */
export function createBrowserEngine(ports: InstallPorts, options: BrowserEngineOptions = {}): Engine {
  return {
    tools: ['service-chrome'],
    synthetic: false,
    refuse,
    prepare: (plan) => prepare(plan, options, ports)
  }
}

function refuse({ fileNames, properties }: PlanRequest): string[] {
  const [script = ''] = fileNames
  const isScript = /\.(ts|js)$/i.test(script) && !/\.d\.ts$/i.test(script)
  return [
    ...(isScript
      ? []
      : [
          `${script} is not a script for service-chrome: the first file must be TypeScript or JavaScript (.ts or .js) that imports @flood/element`
        ]),
    ...properties.flatMap(({ kind, name }) => {
      const refusal = refuseVariable(name)
      return refusal === undefined ? [] : [`override_parameters: -${kind}${name}: ${refusal}`]
    })
  ]
}

async function prepare(
  plan: PlanToPrepare,
  { packageNames = [], blockedAfterMs }: BrowserEngineOptions,
  ports: InstallPorts
): Promise<PreparedPlan> {
  const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
  const browser = await findBrowser(ports)
  const modules = await installPackages(BROWSER_PACKAGES, ports)
  const file = await compileScript(plan, { modules, packageNames }, ports)
  ports.log(`service-chrome: using ${browser.version} (${browser.path}, ${browser.origin})`)
  const script: CompiledScript = { file, modules, browser: browser.path, variables }
  const crowd = new Crowd(browser)
  const scriptPorts = { ...ports, ...(blockedAfterMs === undefined ? {} : { blockedAfterMs }) }
  return {
    version: `Playwright ${await readPlaywrightVersion(modules)}, ${browser.version}`,
    runNode: async (order, signal) => {
      const warning = crowd.add(order, ports.log)
      const outcome = await runScript(script, order, { signal, ports: scriptPorts })
      return warning === undefined ? outcome : { ...outcome, doubts: [...(outcome.doubts ?? []), warning] }
    }
  }
}

async function readPlaywrightVersion(modules: string): Promise<string> {
  const text = await readFile(join(modules, 'node_modules', 'playwright-core', 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The users of all nodes share this machine. */
class Crowd {
  #users = 0

  constructor(private readonly browser: FoundBrowser) {}

  /** Says how many users the machine carries; returns a warning if there are more. */
  add({ nodeName, threads }: NodeOrder, log: (line: string) => void): string | undefined {
    this.#users += threads ?? 1
    const capacity = describeCapacity({ users: this.#users, browser: this.browser.kind, sharing: 'contexts' })
    if (capacity !== undefined) log(`${nodeName}: ${capacity.warning ?? capacity.line}`)
    return capacity?.warning
  }
}
