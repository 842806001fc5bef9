import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ToolSearch } from '../../nodes/load-node.js'
import type { Engine, PlanToPrepare } from '../engine.js'
import { findOnce } from '../find-once.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installJars } from '../install/jars/install-jars.js'
import type { InstallPorts } from '../install/install-ports.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { requireJava } from '../install/java.js'
import { runToEnd } from '../install/run-to-end.js'
import { joinVersions } from '../join-versions.js'
import { propertyValue } from '../override-parameters.js'
import { compilePlan } from './compile-plan.js'
import { findGatlingInImage } from './find-in-image.js'
import { GATLING_JARS } from './gatling-jars.js'
import {
  checkImages,
  type CompiledPlan,
  type Gatling,
  type GatlingTool,
  helper,
  LEAST_JAVA,
  simulationOn,
  VERSION,
  versionOf
} from './gatling-on-node.js'
import { doubtOldTemplates, refuseOldExpressions } from './old-expressions.js'
import { chooseSimulation, readPlanFacts, subPathsOf } from './plan-facts.js'
import { refuseFiles, SIMULATION_PROPERTY, sortPlanFiles } from './plan-files.js'
import { runSimulation } from './run-simulation.js'

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
