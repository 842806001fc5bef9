import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ToolSearch } from '../../nodes/load-node.js'
import { describeCapacity } from '../browser-capacity.js'
import type { Engine, NodeOrder, PlanRequest, PlanToPrepare, PreparedPlan } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import { findOnce } from '../find-once.js'
import { installPackages } from '../install/install-packages.js'
import type { InstallPorts } from '../install/install-ports.js'
import { joinVersions } from '../join-versions.js'
import { refuseVariable } from '../plan-environment.js'
import { BROWSER_PACKAGES } from './browser-packages.js'
import { compileScript } from './compile-script.js'
import { findBrowser, type FoundBrowser } from './find-browser.js'
import { type BrowserImage, findBrowserInImage } from './find-in-image.js'
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

/** What a node has for a run. */
type BrowserTool =
  | { readonly kind: 'here'; readonly node: string; readonly browser: FoundBrowser }
  | ({ readonly kind: 'image' } & BrowserImage)

/** A browser has sockets in its temporary folder, whose paths must be short. */
const IMAGE_TEMP = '/tmp'

async function prepare(
  plan: PlanToPrepare,
  { packageNames = [], blockedAfterMs }: BrowserEngineOptions,
  ports: InstallPorts
): Promise<PreparedPlan> {
  const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
  const modules = await installPackages(BROWSER_PACKAGES, ports)
  const file = await compileScript(plan, { modules, packageNames }, ports)
  const search: ToolSearch<BrowserTool> = {
    // Browsers update themselves: they are looked for in each run.
    here: findOnce(async () => ({
      ...{ kind: 'here', node: process.execPath },
      browser: await findBrowser(ports)
    })),
    inImage: async (image) => ({ kind: 'image', ...(await findBrowserInImage(image)) })
  }
  const nodes = await plan.nodes()
  const tools = await Promise.all(nodes.map((node) => node.find(search)))
  for (const words of new Set(tools.map(describeTool))) ports.log(`service-chrome: using ${words}`)
  const crowd = new Crowd()
  const scriptPorts = { ...ports, ...(blockedAfterMs === undefined ? {} : { blockedAfterMs }) }
  return {
    version: `Playwright ${await readPlaywrightVersion(modules)}, ${joinVersions(tools.map(({ browser }) => browser.version))}`,
    runNode: async (order, signal) => {
      const tool = await order.node.find(search)
      const { browser, node } = tool
      const script: CompiledScript = {
        ...{ file, modules, browser: browser.path, node, variables },
        ...(tool.kind === 'image' ? { tempDir: IMAGE_TEMP } : {})
      }
      // A pod has its own memory.
      const warning = tool.kind === 'here' ? crowd.add(order, browser, ports.log) : undefined
      const outcome = await runScript(script, order, { signal, ports: scriptPorts })
      return warning === undefined ? outcome : { ...outcome, doubts: [...(outcome.doubts ?? []), warning] }
    }
  }
}

function describeTool(tool: BrowserTool): string {
  const { version, path, origin } = tool.browser
  return `${version} (${path}${tool.kind === 'image' ? ` of ${tool.image}` : ''}, ${origin})`
}

async function readPlaywrightVersion(modules: string): Promise<string> {
  const text = await readFile(join(modules, 'node_modules', 'playwright-core', 'package.json'), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** The users of all nodes on this machine share it. */
class Crowd {
  #users = 0

  /** Says how many users the machine carries; returns a warning if there are more. */
  add(
    { nodeName, threads }: NodeOrder,
    { kind }: FoundBrowser,
    log: (line: string) => void
  ): string | undefined {
    this.#users += threads ?? 1
    const capacity = describeCapacity({ users: this.#users, browser: kind, sharing: 'contexts' })
    if (capacity !== undefined) log(`${nodeName}: ${capacity.warning ?? capacity.line}`)
    return capacity?.warning
  }
}
