import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { type Engine, type PlanRequest, findOnce, joinVersions } from '../engine.js'
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
import { type Browser, describeBrowser, findPair, KINDS } from './browsers.js'
import { type CompiledPlan, compilePlan } from './compile.js'
import { runSelenium } from './run-node.js'

/** Runs scripts for Selenium in Java, with real browsers. */
export function createSeleniumEngine(ports: InstallPorts): Engine {
  const tools = Object.values(KINDS).map(({ title }) => title)
  return { tools, refuse, prepare: prepareWith(ports) }
}

function kindOf(tool: string): BrowserKind {
  return tool === KINDS.firefox.title ? 'firefox' : 'chrome'
}

function refuse({ tool, fileNames, hosts }: PlanRequest): string[] {
  const [plan = ''] = fileNames
  const problems: string[] = []
  if (!plan.endsWith('.java'))
    problems.push(`${tool}: the plan must be Java source (.java), and "${plan}" is not`)
  if (hosts.length > 0 && kindOf(tool) === 'firefox')
    problems.push(
      `override_hosts: Firefox cannot be given addresses for host names; use java-selenium-chrome, or leave it out`
    )
  return problems
}

type SeleniumTool = Pick<SeleniumImage, 'browser' | 'java' | 'node'> & Partial<SeleniumImage>

function prepareWith(engine: InstallPorts): Engine['prepare'] {
  return async (plan) => {
    const ports = { ...engine, signal: AbortSignal.any([engine.signal, plan.signal]) }
    const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
    const jdk = await requireJdk(ports, plan.tool)
    const compiled = await compilePlan(plan, jdk, ports)
    const kind = kindOf(plan.tool)
    const search: ToolSearch<SeleniumTool> = {
      // Browsers update themselves: they are looked for in each run.
      here: findOnce(async () => {
        const browser = await findPair(kind, programsHere(ports))
        return { browser, java: jdk.java, node: process.execPath }
      }),
      inImage: async (image) => {
        const tool = await findSeleniumInImage(kind, image)
        await refuseOlderJava(compiled.classesDir, tool)
        return tool
      }
    }
    const nodes = await plan.nodes()
    const tools = await Promise.all(nodes.map((node) => node.find(search)))
    tellPlan(compiled, tools, ports.log)
    return {
      // Browsers change the figures more than Selenium does.
      version: `${compiled.version}, ${joinVersions(tools.map(({ browser }) => browser.program.name))}`,
      runNode: async (order, signal) =>
        runSelenium(
          { ...(await order.node.find(search)), compiled, variables },
          { order, signal, ports: engine }
        )
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
    ({ browser, image }) => `${describeBrowser(browser)}${image === undefined ? '' : ` of ${image}`}`
  )
  for (const browser of new Set(browsers)) log(`Selenium ${version} runs ${what} with ${browser}`)
}

interface SeleniumImage extends ImageJava {
  readonly image: string
  readonly browser: Browser
  /** Node, which runs the hub. */
  readonly node: string
}

const LEAST_JAVA = 11

export async function findSeleniumInImage(kind: BrowserKind, image: ImageShell): Promise<SeleniumImage> {
  const { title } = KINDS[kind]
  const java = await requireImageJava(image, title)
  if (java.major < LEAST_JAVA)
    throw new ToolError(
      `${title} needs Java ${LEAST_JAVA} or later, and ${java.java} of ${image.name} is ${java.version}: use an image with a JRE 17`
    )
  const node = await requireImageNode(image, title)
  return { ...java, image: image.name, browser: await findPair(kind, programsIn(image)), node }
}
