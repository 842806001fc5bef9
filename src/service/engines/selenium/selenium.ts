import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { type Engine, type PlanRequest, findOnce, joinVersions } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import type { InstallPorts } from '../install/run-to-end.js'
import { requireJdk } from '../install/java.js'
import { searchJavac } from '../javac.js'
import { buildForTools } from '../plan-build.js'
import type { BrowserKind } from '../../programs/selenium-hub/order.js'
import { ToolError } from '../../errors.js'
import { programsHere, programsIn } from '../program-source.js'
import { type ImageJava, requireImageJava, requireImageNode } from '../image/image-program.js'
import { type Browser, describeBrowser, findPair, KINDS } from './browsers.js'
import { type CompiledPlan, compilePlan, openBuild, type SeleniumBuild } from './compile.js'
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
    const kind = kindOf(plan.tool)
    const search: ToolSearch<SeleniumTool> = {
      // Browsers update themselves: they are looked for in each run.
      here: findOnce(async () => {
        const { java } = await requireJdk(ports, plan.tool)
        return { browser: await findPair(kind, programsHere(ports)), java, node: process.execPath }
      }),
      inImage: (image) => findSeleniumInImage(kind, image)
    }
    const compiler = searchJavac(ports, plan.tool)
    const opened = await plan.nodes()
    const nodes = await Promise.all(opened.map(async (node) => ({ node, tool: await node.find(search) })))
    const buildOf = await buildForTools(plan, nodes, async (place, { java }) =>
      compilePlan(place, { plan, tool: { java, ...(await place.node.find(compiler)) }, ports })
    )
    const compiledFor = (tool: SeleniumTool): Promise<CompiledPlan> => openBuild(plan, buildOf(tool), ports)
    const compiled = await Promise.all(nodes.map(({ tool }) => compiledFor(tool)))
    for (const line of new Set(nodes.map(({ tool }) => describePlan(buildOf(tool).built, tool))))
      ports.log(line)
    const browsers = nodes.map(({ tool }) => tool.browser.program.name)
    return {
      // Browsers change the figures more than Selenium does.
      version: `${joinVersions(compiled.map(({ version }) => version))}, ${joinVersions(browsers)}`,
      runNode: async (order, signal) => {
        const tool = await order.node.find(search)
        return runSelenium(
          { ...tool, compiled: await compiledFor(tool), variables },
          { order, signal, ports: engine }
        )
      }
    }
  }
}

function describePlan({ choice, version }: SeleniumBuild, { browser, image }: SeleniumTool): string {
  const [kind, ...names] = choice
  const what = kind === 'main' ? `main of ${names[0] ?? ''}` : `the JUnit tests of ${names.join(', ')}`
  const where = image === undefined ? '' : ` of ${image}`
  return `Selenium ${version} runs ${what} with ${describeBrowser(browser)}${where}`
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
      `${title} needs Java ${LEAST_JAVA} or later, and ${java.java} of ${image.name} is ${java.version}: use an image with a JDK 17`
    )
  const node = await requireImageNode(image, title)
  return { ...java, image: image.name, browser: await findPair(kind, programsIn(image)), node }
}
