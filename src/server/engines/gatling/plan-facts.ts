import { basename, delimiter, extname, posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { InstallPorts } from '../install/install-ports.js'
import { runToEnd } from '../install/run-to-end.js'
import { SIMULATION_PROPERTY } from './plan-files.js'

/** What a plan's classes say about it. */
export interface PlanFacts {
  /** The classes that Gatling can run. */
  readonly simulations: readonly string[]
  /** Simulations that Gatling cannot construct. */
  readonly hidden: readonly string[]
  /** Strings such as `${user}`, in the syntax of Gatling 2. */
  readonly expressions: readonly string[]
  /** Literals that look like the path of a file in a folder. */
  readonly paths: readonly string[]
}

const SHOWN = 5

/** Reads a plan's classes: a folder, or a jar. */
export async function readPlanFacts(
  plan: { classes: string; classPath: readonly string[]; java: string },
  ports: InstallPorts
): Promise<PlanFacts> {
  const args = ['-XX:TieredStopAtLevel=1', '-cp', plan.classPath.join(delimiter)]
  const { code, lines } = await runToEnd(
    { file: plan.java, args: [...args, 'loadgate.gatling.PlanFacts', plan.classes] },
    ports
  )
  if (code !== 0)
    throw new ToolError(
      `${basename(plan.classes)} could not be read: ${lines.slice(0, SHOWN).join(' ') || `exit code ${code}`}`
    )
  return parseFacts(lines)
}

export function parseFacts(lines: readonly string[]): PlanFacts {
  const facts = lines.map((line) => line.split('\t'))
  const valuesOf = (kind: string): string[] => [
    ...new Set(facts.flatMap(([name, value]) => (name === kind && value !== undefined ? [value] : [])))
  ]
  return {
    simulations: valuesOf('simulation'),
    hidden: valuesOf('hidden'),
    expressions: valuesOf('expression'),
    paths: valuesOf('path')
  }
}

/**
 * The simulation to run: the one that was named, or the only one, or the one that is named after the plan, for a plan
 * comes first among its files.
 */
export function chooseSimulation(
  { simulations, hidden }: PlanFacts,
  { plan, wanted }: { plan: string; wanted: string | undefined }
): string {
  const choose = `choose one with -D${SIMULATION_PROPERTY}=<class> in override-parameters`
  if (wanted !== undefined) {
    const named = findNamed(simulations, wanted)
    if (named !== undefined) return named
    throw new ToolError(`${SIMULATION_PROPERTY} is ${wanted}, but ${describe(plan, simulations)}; ${choose}`)
  }
  const only =
    simulations.length === 1 ? simulations[0] : findNamed(simulations, basename(plan, extname(plan)))
  if (only !== undefined) return only
  if (simulations.length > 1) throw new ToolError(`${describe(plan, simulations)}; ${choose}`)
  const notPublic = hidden.length === 0 ? '' : ` (${hidden.join(', ')} cannot be constructed from outside)`
  throw new ToolError(
    `there is no simulation in ${plan}${notPublic}: it must have a public class with a public constructor without parameters that extends Simulation, of io.gatling.javaapi.core in Java and Kotlin, or of io.gatling.core.Predef in Scala`
  )
}

function findNamed(simulations: readonly string[], name: string): string | undefined {
  const simple = simulations.filter((each) => each.split(/[.$]/).at(-1) === name)
  return simulations.find((each) => each === name) ?? (simple.length === 1 ? simple[0] : undefined)
}

function describe(plan: string, simulations: readonly string[]): string {
  return simulations.length === 0
    ? `there is no simulation in ${plan}`
    : `${plan} has ${simulations.length === 1 ? 'one simulation' : `${simulations.length} simulations`}: ${simulations.join(', ')}`
}

/** Where a plan looks for uploaded files below its own folder: `data/users.csv` for an uploaded `users.csv`. */
export function subPathsOf({ paths }: PlanFacts, fileNames: readonly string[]): string[] {
  const names = new Set(fileNames)
  const below = paths
    .map((path) => posix.normalize(path.replaceAll('\\', '/')))
    .filter((path) => names.has(posix.basename(path)))
    .filter((path) => path.includes('/') && !path.startsWith('/') && !path.startsWith('../'))
  return [...new Set(below)]
}
