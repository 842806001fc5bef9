import { ToolError } from '../../errors.js'
import { refuseOlderJava } from '../class-version.js'
import { packageFile } from '../install/package-file.js'
import type { GatlingImage } from './find-in-image.js'
import { GATLING_JARS } from './gatling-jars.js'
import type { Simulation } from './run-simulation.js'

export const VERSION = GATLING_JARS.name.replace(/^gatling-/, '')
export const LEAST_JAVA = 11
export const helper = (): string => packageFile('java/jars/gatling.jar')

/** As it is installed on this machine, which compiles plans for all nodes. */
export interface Gatling {
  readonly java: string
  readonly jars: readonly string[]
}

/** As it is on a node. */
export type GatlingTool =
  { readonly kind: 'here'; readonly java: string } | ({ readonly kind: 'image' } & GatlingImage)

export interface CompiledPlan {
  readonly classesDir: string
  /** What the plan's classes need beside Gatling. */
  readonly planPath: readonly string[]
  readonly shared: Omit<Simulation, 'java' | 'jvm' | 'version' | 'classPath'>
}

export function versionOf(tool: GatlingTool): string {
  return tool.kind === 'image' ? (tool.gatling?.version ?? VERSION) : VERSION
}

/** The plan is compiled here, so what is in an image must be able to run it. */
export async function checkImages(
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
export function simulationOn(tool: GatlingTool, compiled: CompiledPlan, { jars }: Gatling): Simulation {
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
