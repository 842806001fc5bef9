import { posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { type Engine, findOnce, joinVersions } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installJars } from '../install/jars/fetch-jars.js'
import { type InstallPorts, runToEnd } from '../install/run-to-end.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { requireJava } from '../install/java.js'
import { searchJavac } from '../javac.js'
import type { ImageJava } from '../image/image-program.js'
import { findHome, listFiles, requireImageJava } from '../image/image-program.js'
import { buildForTools } from '../plan-build.js'
import { compileSimulation, type GatlingBuild, helper, planPathOf } from './compile.js'
import GATLING_JARS from './gatling-jars.json' with { type: 'json' }
import { refuseFiles, sortPlanFiles } from './plan-facts.js'
import { runSimulation, type Simulation } from './run-simulation.js'

/** Runs simulations with Gatling, one process per node. */
export function createGatlingEngine(ports: InstallPorts): Engine {
  const search: ToolSearch<GatlingTool> = {
    here: findOnce(() => findGatling(ports)),
    inImage: findGatlingInImage
  }
  const install = findOnce(async () => jarPaths(await installJars(GATLING_JARS, ports), GATLING_JARS))
  const javac = searchJavac(ports, 'Gatling')
  return {
    tools: ['gatling'],
    refuse: refuseFiles,
    prepare: async (plan) => {
      const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
      const opened = await plan.nodes()
      const nodes = await Promise.all(opened.map(async (node) => ({ node, tool: await node.find(search) })))
      const tools = nodes.map(({ tool }) => tool)
      checkImages(tools, ports.log)
      const jars = await install()
      const buildOf = await buildForTools(plan, nodes, (place, { java }) =>
        compileSimulation(place, { plan, java, javac, jars, ports })
      )
      return {
        version: joinVersions(tools.map(versionOf)),
        runNode: async (order, signal) => {
          const tool = await order.node.find(search)
          const { built, folder } = buildOf(tool)
          const planPath = await planPathOf(plan, folder, ports)
          const own = { jars: sortPlanFiles(plan.fileNames).jars, variables }
          const simulation = simulationOn(tool, { built, planPath, own }, jars)
          return runSimulation(simulation, { order, signal, ports })
        }
      }
    }
  }
}

async function findGatling(ports: InstallPorts): Promise<Gatling> {
  const java = await requireJava(ports, 'Gatling')
  await refuseOldJava(java, ports)
  return { java }
}

/** Java's own message would be about class files. */
async function refuseOldJava(java: string, ports: InstallPorts): Promise<void> {
  const { lines } = await runToEnd({ file: java, args: ['-version'] }, ports)
  const [, version, first, second] = /version "((?:1\.(\d+)|(\d+))[^"]*)"/.exec(lines.join('\n')) ?? []
  if (Number(first ?? second) < LEAST_JAVA)
    throw new ToolError(
      `Gatling ${VERSION} needs Java ${LEAST_JAVA} or later, and ${java} is ${version ?? ''}: install a JDK 17, or set JAVA_HOME to one`
    )
}

export const VERSION = GATLING_JARS.name.replace(/^gatling-/, '')
const LEAST_JAVA = 11

/** On this machine. */
interface Gatling {
  readonly java: string
}

/** As it is on a node: on this machine, or in its image. */
export type GatlingTool = GatlingImage | Gatling

export interface CompiledPlan {
  readonly built: GatlingBuild
  /** What the plan's classes need beside Gatling. */
  readonly planPath: readonly string[]
  readonly own: Pick<Simulation, 'jars' | 'variables'>
}

export function versionOf(tool: GatlingTool): string {
  const own = 'image' in tool ? tool.gatling?.version : undefined
  return own ?? VERSION
}

/** The plan is compiled with one version of Gatling, so what is in an image must be able to run it. */
export function checkImages(tools: readonly GatlingTool[], log: (line: string) => void): void {
  for (const tool of tools) {
    if (!('image' in tool)) continue
    const { java, version, major, image, gatling } = tool
    if (major < LEAST_JAVA)
      throw new ToolError(
        `Gatling ${VERSION} needs Java ${LEAST_JAVA} or later, and ${java} of ${image} is ${version}: use an image with a JDK 17`
      )
    if (gatling === undefined)
      log(`There is no Gatling in ${image}: the jars of Gatling ${VERSION} are copied from this machine`)
    else if (minorOf(gatling.version) !== minorOf(VERSION))
      throw new ToolError(
        `The plan is compiled with Gatling ${VERSION}, and ${image} has Gatling ${gatling.version} (${gatling.lib}): use an image with Gatling ${minorOf(VERSION)}, or one with Java but without Gatling, to which this machine's is copied`
      )
  }
}

/** `3.15` of `3.15.1`: what is compiled with one of them runs with the others. */
function minorOf(version: string): string {
  return version.split('.', 2).join('.')
}

export function simulationOn(
  tool: GatlingTool,
  { built, planPath, own }: CompiledPlan,
  jars: readonly string[]
): Simulation {
  const gatling = 'image' in tool && tool.gatling ? [{ inImage: `${tool.gatling.lib}/*` }] : jars
  return {
    ...built,
    ...own,
    java: tool.java,
    version: versionOf(tool),
    ...('image' in tool ? { jvm: tool.jvm } : {}),
    // Gatling first: a jar may contain a Gatling of another version.
    classPath: [helper(), ...gatling, ...planPath]
  }
}

export interface GatlingImage extends ImageJava {
  readonly image: string
  /** Undefined if it has Java only: then Gatling's jars can be copied there. */
  readonly gatling: { readonly version: string; readonly lib: string } | undefined
}

/** Finds Java and Gatling in an image: `GATLING_HOME`, `gatling.sh` on the PATH, or /opt/gatling. */
export async function findGatlingInImage(image: ImageShell): Promise<GatlingImage> {
  const java = await requireImageJava(image, 'Gatling')
  const gatling = await findHome(image, {
    ...{ title: 'Gatling', variable: 'GATLING_HOME', script: 'gatling.sh', inOpt: '/opt/gatling' },
    look: (home) => jarsIn(image, home),
    missing: 'gatling-core jar in its lib folder'
  })
  return { ...java, image: image.name, gatling }
}

async function jarsIn(image: ImageShell, home: string): Promise<GatlingImage['gatling']> {
  const lib = posix.join(home, 'lib')
  const jars = await listFiles(image, lib, 'gatling-core-[0-9]*.jar')
  const version = jars
    .map((jar) => /gatling-core-(\d+\.\d+[\w.-]*)\.jar$/.exec(jar)?.[1])
    .find((found) => found !== undefined)
  return version === undefined ? undefined : { version, lib }
}
