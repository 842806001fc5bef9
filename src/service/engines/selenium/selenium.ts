import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
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
import { programsHere, programsIn } from '../program-source.js'
import {
  type ImageJava,
  refuseOlderJava,
  requireImageJava,
  requireImageNode
} from '../image/image-program.js'
import { type Browser, describeBrowser, findPair } from './browsers.js'
import { type CompiledPlan, compilePlan } from './compile.js'
import { runSelenium } from './run-node.js'
import { KINDS } from './browser-kinds.js'

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
      browser: await findPair(kind, programsHere(ports))
    })),
    inImage: async (image) => ({ kind: 'image', ...(await findSeleniumInImage(kind, image)) })
  }
  const nodes = await plan.nodes()
  const tools = await Promise.all(nodes.map((node) => node.find(search)))
  for (const tool of tools) if (tool.kind === 'image') await refuseOlderJava(compiled.classesDir, tool)
  tellPlan(compiled, tools, ports.log)
  return {
    // Browsers update themselves, and change the figures more than Selenium does.
    version: `${compiled.version}, ${joinVersions(tools.map(({ browser }) => browser.program.name))}`,
    runNode: async (order, signal) => {
      const tool = await order.node.find(search)
      const jvm = tool.kind === 'image' ? { jvm: tool.jvm } : {}
      const { browser, java, node } = tool
      const shared = { compiled, browser, java, node, ...jvm, variables }
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
  const browser = await findPair(kind, programsIn(image))
  return { ...java, image: image.name, browser, node }
}
