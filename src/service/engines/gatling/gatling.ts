import { join, posix, delimiter } from 'node:path'
import { readFile, stat } from 'node:fs/promises'
import { ToolError } from '../../errors.js'
import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { type Engine, type PlanToPrepare, findOnce, joinVersions, propertyValue } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import { installJars } from '../install/jars/fetch-jars.js'
import { type InstallPorts, runToEnd, packageFile } from '../install/run-to-end.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { requireJava, requireJdk } from '../install/java.js'
import type { ImageJava } from '../image/image-program.js'
import { findHome, listFiles, refuseOlderJava, requireImageJava } from '../image/image-program.js'
import { makeFolder } from '../../../contract/files.js'
import GATLING_JARS from './gatling-jars.json' with { type: 'json' }
import {
  chooseSimulation,
  readPlanFacts,
  subPathsOf,
  refuseFiles,
  SIMULATION_PROPERTY,
  sortPlanFiles,
  type PlanFiles
} from './plan-facts.js'
import { runSimulation, type Simulation } from './run-simulation.js'
import KOTLIN_COMPILER_JARS from './kotlin-compiler-jars.json' with { type: 'json' }
import SCALA_COMPILER_JARS from './scala-compiler-jars.json' with { type: 'json' }

/** Runs simulations with Gatling, one process per node. */
export function createGatlingEngine(ports: InstallPorts): Engine {
  const find = findOnce(() => findGatling(ports))
  const search: ToolSearch<GatlingTool> = { here: find, inImage: findGatlingInImage }
  return {
    tools: ['gatling'],
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
        runNode: async (order, signal) => {
          const simulation = simulationOn(await order.node.find(search), compiled, gatling)
          return runSimulation(simulation, { order, signal, ports })
        }
      }
    }
  }
}

async function findGatling(ports: InstallPorts): Promise<Gatling> {
  const java = await requireJava(ports, 'Gatling')
  await refuseOldJava(java, ports)
  return { java, jars: jarPaths(await installJars(GATLING_JARS, ports), GATLING_JARS) }
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

async function compileSimulation(
  plan: PlanToPrepare,
  parts: Gatling & { variables: Readonly<Record<string, string>>; ports: InstallPorts }
): Promise<CompiledPlan> {
  const { fileNames, uploadDir } = plan
  const { java, jars, variables, ports } = parts
  const signal = AbortSignal.any([ports.signal, plan.signal])
  const files = sortPlanFiles(fileNames)
  const classesDir = join(plan.buildDir, 'classes')
  const uploadedJars = files.jars.map((name) => join(uploadDir, name))
  const classPath = [...jars, ...uploadedJars]
  const planPath = await compilePlan({ files, folder: uploadDir, classesDir, classPath, java, signal }, ports)
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

const SHOWN = 5
const EXPRESSION = /\$\{[^{}\s]{1,100}\}/
/** Files that Gatling never searches for expressions. */
const NO_TEMPLATE = /\.(?:java|scala|kt|jar|csv|tsv|ssv|conf)$/i
const MAX_TEMPLATE_BYTES = 1 << 20

/** Gatling 3 sends `${user}` as it stands, so that a plan of Gatling 2 would put the wrong load on its target. */
export async function refuseOldExpressions(
  expressions: readonly string[],
  { files, folder }: { files: PlanFiles; folder: string }
): Promise<void> {
  if (expressions.length === 0) return
  const texts = await Promise.all(files.sources.map((name) => readFile(join(folder, name), 'utf8')))
  const places = expressions.slice(0, SHOWN).map((expression) => {
    const source = texts.findIndex((text) => text.includes(expression))
    const line = texts[source]?.split(expression, 1)[0]?.split('\n').length
    return `${line === undefined ? files.plan : `${files.sources[source]}:${line}`}: ${expression}`
  })
  const more = expressions.length > SHOWN ? ` and ${expressions.length - SHOWN} more` : ''
  throw new ToolError(
    `the plan has expressions of Gatling 2, which Gatling 3 does not replace: write #{…} instead of \${…}, or put text that is to be sent as it stands into a file (RawFileBody)\n${places.join('\n')}${more}`
  )
}

/** Uploaded files with such expressions, one sentence each: wrong in a template (ElFileBody), and fine elsewhere. */
export async function doubtOldTemplates(fileNames: readonly string[], folder: string): Promise<string[]> {
  const candidates = fileNames.filter((name) => !NO_TEMPLATE.test(name))
  const doubts = candidates.map(async (name) => {
    const file = join(folder, name)
    if ((await stat(file)).size > MAX_TEMPLATE_BYTES) return []
    const [expression] = EXPRESSION.exec(await readFile(file, 'utf8')) ?? []
    return expression === undefined
      ? []
      : [`${name} has ${expression}, which Gatling 3 sends as it stands: if it is a template, write #{…}`]
  })
  return (await Promise.all(doubts)).flat()
}

export const VERSION = GATLING_JARS.name.replace(/^gatling-/, '')
const LEAST_JAVA = 11
const helper = (): string => packageFile('java/jars/gatling.jar')

/** As it is installed on this machine, which compiles plans for all nodes. */
interface Gatling {
  readonly java: string
  readonly jars: readonly string[]
}

/** As it is on a node: on this machine, or in its image. */
export type GatlingTool = GatlingImage | Gatling

export interface CompiledPlan {
  readonly classesDir: string
  /** What the plan's classes need beside Gatling. */
  readonly planPath: readonly string[]
  readonly shared: Omit<Simulation, 'java' | 'jvm' | 'version' | 'classPath'>
}

export function versionOf(tool: GatlingTool): string {
  const own = 'image' in tool ? tool.gatling?.version : undefined
  return own ?? VERSION
}

/** The plan is compiled here, so what is in an image must be able to run it. */
export async function checkImages(
  tools: readonly GatlingTool[],
  { classesDir }: CompiledPlan,
  log: (line: string) => void
): Promise<void> {
  for (const tool of tools) {
    if (!('image' in tool)) continue
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

export function simulationOn(tool: GatlingTool, compiled: CompiledPlan, { jars }: Gatling): Simulation {
  const own = 'image' in tool && tool.gatling ? [{ inImage: `${tool.gatling.lib}/*` }] : jars
  return {
    ...compiled.shared,
    java: tool.java,
    version: versionOf(tool),
    ...('image' in tool ? { jvm: tool.jvm } : {}),
    // Gatling first: a jar may contain a Gatling of another version.
    classPath: [helper(), ...own, ...compiled.planPath]
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

interface PlanSource {
  readonly files: PlanFiles
  readonly folder: string
  /** Where the classes go; may not exist yet. */
  readonly classesDir: string
  /** What the sources may import: Gatling and the uploaded jars. */
  readonly classPath: readonly string[]
  /** Any Java; a compiler for Java itself needs a JDK. */
  readonly java: string
  /** Ends the compiler; an installation goes on, because the next run needs it. */
  readonly signal: AbortSignal
}

interface Compiler {
  readonly name: string
  readonly file: string
  readonly args: readonly string[]
  /** What the classes need beside Gatling. */
  readonly runtimeJars: readonly string[]
}

const MAX_WORDS = 4000
/** Quick to start, which is what counts for a few files; the Scala compiler recurses deeply. */
const COMPILER_JVM = ['-XX:TieredStopAtLevel=1', '-Xss8m', '-Xmx1g']

/** Compiles a plan; returns what its classes need beside Gatling and the uploaded jars. A `ToolError` has the compiler's words. */
async function compilePlan(source: PlanSource, ports: InstallPorts): Promise<string[]> {
  const { files, folder, classesDir, signal } = source
  if (files.language === undefined) return []
  const compiler = await COMPILERS[files.language](source.java, ports)
  makeFolder(classesDir)
  const helper = files.language === 'scala' ? await findHelper(source) : []
  // With a folder in front, a name cannot be taken for an option.
  const sources = [...files.sources.map((name) => `./${name}`), ...helper]
  const classPath = [...source.classPath, ...compiler.runtimeJars].join(delimiter)
  const args = [...compiler.args, '-cp', classPath, '-d', classesDir, ...sources]
  const { code, lines } = await runToEnd({ file: compiler.file, args, cwd: folder }, { ...ports, signal })
  if (code === 0) return [classesDir, ...compiler.runtimeJars]
  // The compiler's own lines, which name the file and the line.
  const said = lines
    .filter((line) => !/^\s*(?:warning:|Note:)/.test(line))
    .map((line) => line.replaceAll(`${folder}/`, '').replace(/^(?:file:\/\/|\.\/)+/, ''))
    .join('\n')
  const words = said === '' ? `it exited with ${code} and no output` : said.slice(0, MAX_WORDS)
  throw new ToolError(`${files.plan} could not be compiled (${compiler.name}):\n${words}`)
}

const COMPILERS = {
  java: async (_java: string, ports: InstallPorts): Promise<Compiler> => {
    const { javac } = await requireJdk(ports, 'Gatling')
    const args = ['-encoding', 'UTF-8', '-g', '-parameters', '-proc:none', '-nowarn', '-Xlint:none']
    return { name: 'javac', file: javac, args, runtimeJars: [] }
  },
  scala: async (java: string, ports: InstallPorts): Promise<Compiler> => {
    const jars = jarPaths(await installJars(SCALA_COMPILER_JARS, ports), SCALA_COMPILER_JARS)
    const features = 'postfixOps,implicitConversions,reflectiveCalls,higherKinds,existentials'
    const options = ['-nowarn', '-encoding', 'UTF-8', `-language:${features}`]
    const args = [...compilerArgs(jars, 'scala.tools.nsc.Main'), ...options]
    return { name: SCALA_COMPILER_JARS.name, file: java, args, runtimeJars: [] }
  },
  kotlin: async (java: string, ports: InstallPorts): Promise<Compiler> => {
    const jars = jarPaths(await installJars(KOTLIN_COMPILER_JARS, ports), KOTLIN_COMPILER_JARS)
    const runtimeJars = jars.filter((jar) => /kotlin-stdlib-[\d.]+\.jar$/.test(jar))
    const options = ['-nowarn', '-no-stdlib', '-no-reflect', '-jvm-target', '11']
    const args = [...compilerArgs(jars, 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'), ...options]
    return { name: KOTLIN_COMPILER_JARS.name, file: java, args, runtimeJars }
  }
}

function compilerArgs(jars: readonly string[], main: string): string[] {
  return [...COMPILER_JVM, '-cp', jars.join(delimiter), main]
}

/** The helper that scripts written for a hosted service import, unless the plan brings its own. */
async function findHelper({ files, folder }: PlanSource): Promise<string[]> {
  const texts = await Promise.all(files.sources.map((name) => readFile(join(folder, name), 'utf8')))
  const isImported = texts.some((text) => /^[^\S\n]*import[^\S\n]+flood\b/m.test(text))
  const isOwn = texts.some((text) => /\b(?:object|package)\s+flood\b/.test(text))
  return isImported && !isOwn ? [packageFile('java/gatling/scala/flood.scala')] : []
}
