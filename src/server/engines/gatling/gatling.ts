import { join } from 'node:path'
import type { Engine, PlanToPrepare, PreparedPlan } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installJars } from '../install/install-jars.js'
import type { InstallPorts } from '../install/install-ports.js'
import { requireJava } from '../install/java.js'
import { packageFile } from '../install/package-file.js'
import { propertyValue } from '../override-parameters.js'
import { compilePlan } from './compile-plan.js'
import { GATLING_JARS } from './gatling-jars.js'
import { listJars } from './list-jars.js'
import { chooseSimulation, readPlanFacts, refuseOldExpressions, subPathsOf } from './plan-facts.js'
import { refuseFiles, SIMULATION_PROPERTY, sortPlanFiles } from './plan-files.js'
import { runSimulation } from './run-simulation.js'

const VERSION = GATLING_JARS.name.replace(/^gatling-/, '')

interface Gatling {
  readonly java: string
  readonly jars: readonly string[]
}

/** Runs simulations with Gatling, one process per node. */
export function createGatlingEngine(ports: InstallPorts): Engine {
  let found: Promise<Gatling> | undefined
  const find = (): Promise<Gatling> => {
    // Do not cache a failure: what was missing may have been installed since.
    found ??= findGatling(ports).catch((thrown: unknown) => {
      found = undefined
      throw thrown
    })
    return found
  }
  return {
    tools: ['gatling'],
    synthetic: false,
    refuse: refuseFiles,
    prepare: async (plan) => {
      const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
      return prepareSimulation(plan, { ...(await find()), variables, ports })
    }
  }
}

async function findGatling(ports: InstallPorts): Promise<Gatling> {
  const java = await requireJava(ports, 'Gatling')
  return { java, jars: await listJars(await installJars(GATLING_JARS, ports)) }
}

async function prepareSimulation(
  plan: PlanToPrepare,
  parts: Gatling & { variables: Readonly<Record<string, string>>; ports: InstallPorts }
): Promise<PreparedPlan> {
  const { fileNames, uploadDir } = plan
  const { java, jars, variables, ports } = parts
  // A stop ends a compiler; an installation goes on, because the next run needs it.
  const stoppable = { ...ports, signal: AbortSignal.any([ports.signal, plan.signal]) }
  const files = sortPlanFiles(fileNames)
  const classesDir = join(plan.buildDir, 'classes')
  const planPath = await compilePlan(
    { files, folder: uploadDir, classesDir, classPath: jars, java },
    stoppable
  )
  // Gatling first: a jar may contain a Gatling of another version.
  const classPath = [packageFile('java/jars/gatling.jar'), ...jars, ...planPath]
  const classes = files.language === undefined ? join(uploadDir, files.plan) : classesDir
  const facts = await readPlanFacts({ classes, classPath, java }, stoppable)
  await refuseOldExpressions(facts.expressions, { files, folder: uploadDir })
  const wanted = propertyValue(plan.properties, SIMULATION_PROPERTY)
  const simulation = chooseSimulation(facts, { plan: files.plan, wanted })
  const subPaths = subPathsOf(facts, fileNames)
  return {
    version: VERSION,
    runNode: (order, signal) =>
      runSimulation(
        { java, version: VERSION, classPath, simulation, subPaths, variables },
        { order, signal, ports }
      )
  }
}
