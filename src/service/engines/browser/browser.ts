import { readFile } from 'node:fs/promises'
import { join, basename } from 'node:path'
import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { describeCapacity } from '../browser-capacity.js'
import {
  type Engine,
  type NodeOrder,
  type PlanRequest,
  type PlanToPrepare,
  type PreparedPlan,
  findOnce,
  joinVersions
} from '../engine.js'
import { readEnvironmentFile, refuseVariable } from '../environment-file.js'
import { installPackages, type PackageLock } from '../install/install-packages.js'
import type { InstallPorts } from '../install/run-to-end.js'
import { makeFolder } from '../../../contract/files.js'
import { ToolError } from '../../errors.js'
import { createMachineNode } from '../../nodes/machine/machine-place.js'
import { toolEnvironment } from '../tool-environment.js'
import { findPrograms, readVariables, runInImage, IN_OPT } from '../image/ask-image.js'
import { requireImageNode } from '../image/image-node.js'
import { findBrowser, type FoundBrowser, kindOf, NAMES } from './find-browser.js'
import { runScript, type CompiledScript } from './run-script.js'
import { runTool } from './tool-process.js'

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

/** playwright-core, which drives the browser, and esbuild, which compiles a script. */
export const BROWSER_PACKAGES: PackageLock = {
  name: 'browser-engine',
  what: 'the packages for service-chrome (playwright-core, esbuild)',
  packageJson: 'packages/browser/package.json',
  packageLock: 'packages/browser/package-lock.json'
}

/** Compiles the script and what it imports into one module; throws the compiler's own lines. */
async function compileScript(
  plan: PlanToPrepare,
  tool: { modules: string; packageNames: readonly string[] },
  ports: InstallPorts
): Promise<string> {
  const [scriptName = ''] = plan.fileNames
  const outFile = join(plan.buildDir, 'plan.mjs')
  makeFolder(plan.buildDir)
  const problems: string[] = []
  const lines: string[] = []
  const exit = await runTool(
    {
      order: () => ({ mode: 'compile', script: join(plan.uploadDir, scriptName), outFile, ...tool }),
      cwd: plan.buildDir,
      onLine: (line) => void lines.push(line),
      onMessage: (message) => {
        if (message.kind === 'problem') problems.push(message.text)
      }
    },
    createMachineNode({ processes: ports.processes, env: toolEnvironment(ports.env) }),
    plan.signal
  )
  plan.signal.throwIfAborted()
  if (problems.length > 0) throw new ToolError(`${scriptName} does not compile:\n${problems.join('\n')}`)
  if (exit.code !== 0)
    throw new ToolError(
      `The compiler of ${scriptName} failed (${exit.signal ?? `exit code ${exit.code}`}): ${lines.slice(0, 5).join('\n')}`
    )
  return outFile
}

/** What an image has for scripts. */
export interface BrowserImage {
  readonly image: string
  readonly browser: FoundBrowser
  readonly node: string
}

/** Finds Node and a browser in an image: `CHROME`, on the PATH, `CHROME_BIN`, or below /opt. */
export async function findBrowserInImage(image: ImageShell): Promise<BrowserImage> {
  const node = await requireImageNode(image, 'service-chrome')
  const { path, origin } = await locate(image)
  const { code, lines, how } = await runInImage(image, [path, '--version'])
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line))?.trim()
  if (code !== 0 || version === undefined)
    throw new ToolError(
      `The browser ${path} of ${image.name} (${origin}) does not start (${how}): ${(lines[0] ?? 'no output').slice(0, 200)}; use an image in which it does`
    )
  return { image: image.name, node, browser: { path, origin, version, kind: kindOf(basename(path)) } }
}

async function locate(image: ImageShell): Promise<{ path: string; origin: string }> {
  const { CHROME, CHROME_BIN } = await readVariables(image, ['CHROME', 'CHROME_BIN'])
  if (CHROME) return { path: await check(image, 'CHROME', CHROME), origin: 'from CHROME' }
  const [onPath] = await findPrograms(image, NAMES)
  if (onPath !== undefined) return { path: onPath, origin: 'on the PATH' }
  if (CHROME_BIN) return { path: await check(image, 'CHROME_BIN', CHROME_BIN), origin: 'from CHROME_BIN' }
  const [inOpt] = await findPrograms(image, IN_OPT.CHROME ?? [])
  if (inOpt !== undefined) return { path: inOpt, origin: 'in /opt' }
  throw new ToolError(
    `There is no Chrome or Chromium in ${image.name}: neither CHROME nor CHROME_BIN is set, and none of ${NAMES.join(', ')} is on its PATH; use an image that has one, or set CHROME in it`
  )
}

async function check(image: ImageShell, variable: string, given: string): Promise<string> {
  const [path] = await findPrograms(image, [given])
  if (path !== undefined) return path
  throw new ToolError(
    `In ${image.name} ${variable} is ${given}, but there is no program: point it to a browser, or unset it`
  )
}
