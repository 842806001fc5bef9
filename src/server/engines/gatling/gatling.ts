import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ToolSearch } from '../../nodes/load-node.js'
import { refuseOlderJava } from '../class-version.js'
import type { Engine, PlanToPrepare } from '../engine.js'
import { findOnce } from '../find-once.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installJars } from '../install/jars/install-jars.js'
import type { InstallPorts } from '../install/install-ports.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { requireJava } from '../install/java.js'
import { packageFile } from '../install/package-file.js'
import { runToEnd } from '../install/run-to-end.js'
import { joinVersions } from '../join-versions.js'
import { propertyValue } from '../override-parameters.js'
import { compilePlan } from './compile-plan.js'
import { findGatlingInImage, type GatlingImage } from './find-in-image.js'
import { GATLING_JARS } from './gatling-jars.js'
import { doubtOldTemplates, refuseOldExpressions } from './old-expressions.js'
import { chooseSimulation, readPlanFacts, subPathsOf } from './plan-facts.js'
import { refuseFiles, SIMULATION_PROPERTY, sortPlanFiles } from './plan-files.js'
import { runSimulation, type Simulation } from './run-simulation.js'

const VERSION = GATLING_JARS.name.replace(/^gatling-/, '')
const LEAST_JAVA = 11
const helper = (): string => packageFile('java/jars/gatling.jar')

/** As it is installed on this machine, which compiles plans for all nodes. */
interface Gatling {
  readonly java: string
  readonly jars: readonly string[]
}

/** As it is on a node. */
type GatlingTool =
  { readonly kind: 'here'; readonly java: string } | ({ readonly kind: 'image' } & GatlingImage)

interface CompiledPlan {
  readonly classesDir: string
  /** What the plan's classes need beside Gatling. */
  readonly planPath: readonly string[]
  readonly shared: Omit<Simulation, 'java' | 'jvm' | 'version' | 'classPath'>
}

/** Runs simulations with Gatling, one process per node. */
export function createGatlingEngine(ports: InstallPorts): Engine {
  const find = findOnce(() => findGatling(ports))
  const search: ToolSearch<GatlingTool> = {
    here: async () => ({ kind: 'here', java: (await find()).java }),
    inImage: async (image) => ({ kind: 'image', ...(await findGatlingInImage(image)) })
  }
  return {
    tools: ['gatling'],
    synthetic: false,
    refuse: refuseFiles,
    prepare: async (plan) => {
      const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
      const gatling = await find()
      const compiled = await compileSimulation(plan, { ...gatling, variables, ports })
      const nodes = await plan.nodes()
      const tools = await Promise.all(nodes.map((node) => node.find(search)))
      await checkImages(tools, compiled, ports.log)
      return {
        version: joinVersions(tools.map(versionOf)),
        runNode: async (order, signal) =>
          runSimulation(simulationOn(await order.node.find(search), compiled, gatling), {
            ...{ order, signal, ports }
          })
      }
    }
  }
}

async function findGatling(ports: InstallPorts): Promise<Gatling> {
  const java = await requireJava(ports, 'Gatling')
  await refuseOldJava(java, ports)
  return { java, jars: jarPaths(await installJars(GATLING_JARS, ports), GATLING_JARS) }
}

/** Its own words would be about class files. */
async function refuseOldJava(java: string, ports: InstallPorts): Promise<void> {
  const { lines } = await runToEnd({ file: java, args: ['-version'] }, ports)
  const [, version, first, second] = /version "((?:1\.(\d+)|(\d+))[^"]*)"/.exec(lines.join('\n')) ?? []
  if (Number(first ?? second) < LEAST_JAVA)
    throw new ToolError(
      `Gatling ${VERSION} needs Java ${LEAST_JAVA} or later, and ${java} is ${version ?? ''}: install a JDK 17, or set JAVA_HOME to one`
    )
}

function versionOf(tool: GatlingTool): string {
  return tool.kind === 'image' ? (tool.gatling?.version ?? VERSION) : VERSION
}

/** The plan is compiled here, so what is in an image must be able to run it. */
async function checkImages(
  tools: readonly GatlingTool[],
  { classesDir }: CompiledPlan,
  log: (line: string) => void
): Promise<void> {
  for (const tool of tools) {
    if (tool.kind !== 'image') continue
    const { java, version, major, image, gatling } = tool
    if (major < LEAST_JAVA)
      throw new ToolError(
        `Gatling ${VERSION} needs Java ${LEAST_JAVA} or later, and ${java} of ${image} is ${version}: use an image with a JRE 17`
      )
    await refuseOlderJava(classesDir, tool)
    if (gatling === undefined)
      log(`There is no Gatling in ${image}: the jars of Gatling ${VERSION} are copied from this machine`)
    else if (minorOf(gatling.version) !== minorOf(VERSION))
      throw new ToolError(
        `The plan is compiled with Gatling ${VERSION} on this machine, and ${image} has Gatling ${gatling.version} (${gatling.lib}): use an image with Gatling ${minorOf(VERSION)}, or one with Java but without Gatling, to which this machine's is copied`
      )
  }
}

/** `3.15` of `3.15.1`: what is compiled with one of them runs with the others. */
function minorOf(version: string): string {
  return version.split('.', 2).join('.')
}

/** The simulation as it runs with what a node has. */
function simulationOn(tool: GatlingTool, compiled: CompiledPlan, { jars }: Gatling): Simulation {
  const own = tool.kind === 'image' && tool.gatling ? [{ inImage: `${tool.gatling.lib}/*` }] : jars
  return {
    ...compiled.shared,
    java: tool.java,
    version: versionOf(tool),
    ...(tool.kind === 'image' ? { jvm: tool.jvm } : {}),
    // Gatling first: a jar may contain a Gatling of another version.
    classPath: [helper(), ...own, ...compiled.planPath]
  }
}

async function compileSimulation(
  plan: PlanToPrepare,
  parts: Gatling & { variables: Readonly<Record<string, string>>; ports: InstallPorts }
): Promise<CompiledPlan> {
  const { fileNames, uploadDir } = plan
  const { java, jars, variables, ports } = parts
  const signal = AbortSignal.any([ports.signal, plan.signal])
  const files = sortPlanFiles(fileNames)
  const classesDir = join(plan.buildDir, 'classes')
  const planPath = await compilePlan(
    { files, folder: uploadDir, classesDir, classPath: jars, java, signal },
    ports
  )
  const uploadedJars = files.jars.map((name) => join(uploadDir, name))
  const classes = files.language === undefined ? join(uploadDir, files.plan) : classesDir
  const facts = await readPlanFacts(
    { classes, classPath: [helper(), ...jars, ...planPath, ...uploadedJars], java },
    { ...ports, signal }
  )
  await refuseOldExpressions(facts.expressions, { files, folder: uploadDir })
  const wanted = propertyValue(plan.properties, SIMULATION_PROPERTY)
  const { simulation, doubts } = chooseSimulation(facts, { plan: files.plan, wanted })
  const subPaths = subPathsOf(facts, fileNames)
  const oldTemplates = await doubtOldTemplates(fileNames, uploadDir)
  return {
    ...{ classesDir, planPath },
    shared: { jars: files.jars, simulation, subPaths, variables, doubts: [...doubts, ...oldTemplates] }
  }
}
