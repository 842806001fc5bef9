import { posix } from 'node:path'
import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { describeCapacity } from '../browser-capacity.js'
import { refuseOlderJava } from '../class-path.js'
import {
  type Engine,
  type PlanRequest,
  type PlanToPrepare,
  type PreparedPlan,
  findOnce,
  joinVersions
} from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import type { InstallPorts } from '../install/run-to-end.js'
import { requireJdk } from '../install/java.js'
import type { BrowserKind } from '../../programs/selenium-hub/order.js'
import { ToolError } from '../../errors.js'
import { findPrograms, readVariables, runInImage, IN_OPT } from '../image/ask-image.js'
import { type ImageJava, requireImageJava } from '../image/image-java.js'
import { requireImageNode } from '../image/image-node.js'
import { type Browser, capacityKind, describeBrowser, findBrowser, findPair } from './browsers.js'
import { type CompiledPlan, compilePlan } from './compile.js'
import { runSelenium } from './run-node.js'
import { KINDS, type Place } from './browser-kinds.js'

const BROWSERS: Readonly<Record<string, BrowserKind>> = {
  'java-selenium-chrome': 'chrome',
  'java-selenium-firefox': 'firefox'
}

/** Runs scripts for Selenium in Java, with real browsers. */
export function createSeleniumEngine(ports: InstallPorts): Engine {
  return { tools: Object.keys(BROWSERS), synthetic: false, refuse, prepare: (plan) => prepare(plan, ports) }
}

function refuse({ tool, fileNames, hosts }: PlanRequest): string[] {
  const [plan = ''] = fileNames
  return [
    ...(plan.endsWith('.java')
      ? []
      : [`${tool}: the plan, the first file, must be Java source (.java), and it is "${plan}"`]),
    ...(hosts.length > 0 && BROWSERS[tool] === 'firefox'
      ? [
          `override_hosts: Firefox cannot be given addresses for host names; use java-selenium-chrome, or leave it out`
        ]
      : [])
  ]
}

/** What a node has for a run. */
type SeleniumTool =
  | { readonly kind: 'here'; readonly java: string; readonly node: string; readonly browser: Browser }
  | ({ readonly kind: 'image' } & SeleniumImage)

async function prepare(plan: PlanToPrepare, engine: InstallPorts): Promise<PreparedPlan> {
  const ports = { ...engine, signal: AbortSignal.any([engine.signal, plan.signal]) }
  const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
  const jdk = await requireJdk(ports, plan.tool)
  const compiled = await compilePlan(plan, jdk, ports)
  const kind = BROWSERS[plan.tool] ?? 'chrome'
  const search: ToolSearch<SeleniumTool> = {
    // Browsers update themselves: they are looked for in each run.
    here: findOnce(async () => ({
      ...{ kind: 'here', java: jdk.java, node: process.execPath },
      browser: await findBrowser(kind, ports)
    })),
    inImage: async (image) => ({ kind: 'image', ...(await findSeleniumInImage(kind, image)) })
  }
  const nodes = await plan.nodes()
  const tools = await Promise.all(nodes.map((node) => node.find(search)))
  for (const tool of tools) if (tool.kind === 'image') await refuseOlderJava(compiled.classesDir, tool)
  tellPlan(compiled, tools, ports.log)
  const doubts = doubtCapacity(plan, tools, ports.log)
  return {
    // Browsers update themselves, and change the figures more than Selenium does.
    version: `${compiled.version}, ${joinVersions(tools.map(({ browser }) => browser.program.name))}`,
    runNode: async (order, signal) => {
      const tool = await order.node.find(search)
      const jvm = tool.kind === 'image' ? { jvm: tool.jvm } : {}
      const { browser, java, node } = tool
      const shared = { compiled, browser, java, node, ...jvm, variables, doubts }
      return runSelenium(shared, { order, signal, ports: engine })
    }
  }
}

function tellPlan(
  { choice, version }: CompiledPlan,
  tools: readonly SeleniumTool[],
  log: InstallPorts['log']
): void {
  const [kind, ...names] = choice
  const what = kind === 'main' ? `main of ${names[0] ?? ''}` : `the JUnit tests of ${names.join(', ')}`
  const browsers = tools.map(
    (tool) => `${describeBrowser(tool.browser)}${tool.kind === 'image' ? ` of ${tool.image}` : ''}`
  )
  for (const browser of new Set(browsers)) log(`Selenium ${version} runs ${what} with ${browser}`)
}

/** What may be too much for this machine; a pod has its own memory. */
function doubtCapacity(
  { threads }: PlanToPrepare,
  tools: readonly SeleniumTool[],
  log: InstallPorts['log']
): string[] {
  const here = tools.find(({ kind }) => kind === 'here')
  if (here === undefined) return []
  const crowd = { users: threads ?? 1, browser: capacityKind(here.browser), sharing: 'browsers' } as const
  const capacity = describeCapacity(crowd)
  if (capacity !== undefined) log(capacity.warning ?? capacity.line)
  return capacity?.warning === undefined ? [] : [capacity.warning]
}

/** What an image has for Selenium. */
export interface SeleniumImage extends ImageJava {
  readonly image: string
  readonly browser: Browser
  /** Node, which runs the hub. */
  readonly node: string
}

const LEAST_JAVA = 11

/** Finds Java, Node, a browser and its driver in an image. */
export async function findSeleniumInImage(kind: BrowserKind, image: ImageShell): Promise<SeleniumImage> {
  const { title } = KINDS[kind]
  const java = await requireImageJava(image, title)
  if (java.major < LEAST_JAVA)
    throw new ToolError(
      `${title} needs Java ${LEAST_JAVA} or later, and ${java.java} of ${image.name} is ${java.version}: use an image with a JRE 17`
    )
  const node = await requireImageNode(image, title)
  const browser = await findPair(kind, {
    find: (place) => findAll(image, place),
    askVersion: async (file) => {
      const { how, ...ended } = await runInImage(image, [file, '--version'])
      return { ...ended, how: `in ${image.name} (${how})` }
    },
    tellMissing: (kind, { title, variable, names }) =>
      `${KINDS[kind].title} needs ${title}, and ${image.name} has none on its PATH (${names.join(', ')}): use an image that has it, or set ${variable} in the image to its path`,
    advise: () => `use another image than ${image.name}`
  })
  return { ...java, image: image.name, browser, node }
}

/** The same places as on this machine, and those below /opt. */
async function findAll(image: ImageShell, place: Place): Promise<string[]> {
  const { variable, folderVariable, names, files, title } = place
  const variables = await readVariables(image, [variable, ...(folderVariable ? [folderVariable] : [])])
  const chosen = variables[variable]
  if (chosen) {
    const found = await findPrograms(image, [chosen])
    if (found.length > 0) return found
    throw new ToolError(
      `In ${image.name} ${variable} is ${chosen}, and there is no program that can be started; point it to the program of ${title}, or unset it`
    )
  }
  const folder = folderVariable && variables[folderVariable]
  const inFolder = folder ? names.map((name) => posix.join(folder, name)) : []
  return findPrograms(image, [...inFolder, ...names, ...files, ...(IN_OPT[variable] ?? [])])
}
