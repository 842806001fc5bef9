import { readFile, stat } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { ToolError } from '../../errors.js'
import { type PlanToPrepare, propertyValue } from '../engine.js'
import { installJars } from '../install/jars/fetch-jars.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { type Javac, javacOptions } from '../javac.js'
import { type InstallPorts, packageFile } from '../install/run-to-end.js'
import type { ToolSearch } from '../../nodes/load-node.js'
import { type BuildPlace, javaOf, runBuild } from '../plan-build.js'
import { heapSize } from '../tool-environment.js'
import KOTLIN_COMPILER_JARS from './kotlin-compiler-jars.json' with { type: 'json' }
import SCALA_COMPILER_JARS from './scala-compiler-jars.json' with { type: 'json' }
import {
  chooseSimulation,
  parseFacts,
  type PlanFiles,
  SIMULATION_PROPERTY,
  sortPlanFiles,
  subPathsOf
} from './plan-facts.js'

/** What only the compiled classes tell. */
export interface GatlingBuild {
  readonly simulation: string
  readonly subPaths: readonly string[]
  readonly doubts: readonly string[]
}

export interface CompileParts {
  readonly plan: PlanToPrepare
  /** On the node. */
  readonly java: string
  readonly javac: ToolSearch<Javac>
  /** Of this machine: Gatling's. */
  readonly jars: readonly string[]
  readonly ports: InstallPorts
}

const MAX_WORDS = 4000
const SHOWN_LINES = 5

export const helper = (): string => packageFile('java/jars/gatling.jar')

/** What a plan's classes need beside Gatling: its own, and the libraries of its language. Nothing for a jar. */
export async function planPathOf(
  { fileNames }: Pick<PlanToPrepare, 'fileNames'>,
  folder: string,
  ports: InstallPorts
): Promise<string[]> {
  const { language } = sortPlanFiles(fileNames)
  return language === undefined ? [] : [jarIn(folder), ...(await runtimeJarsOf(language, ports))]
}

function jarIn(folder: string): string {
  return join(folder, 'out', 'plan.jar')
}

/** Compiles a plan, unless it is a jar, and chooses what to run. A `ToolError` has the compiler's words. */
export async function compileSimulation(place: BuildPlace, parts: CompileParts): Promise<GatlingBuild> {
  const { fileNames, uploadDir, properties } = parts.plan
  const files = sortPlanFiles(fileNames)
  const facts = parseFacts(await compile(place, files, parts))
  await refuseOldExpressions(facts.expressions, { files, folder: uploadDir })
  const wanted = propertyValue(properties, SIMULATION_PROPERTY)
  const { simulation, doubts } = chooseSimulation(facts, { plan: files.plan, wanted })
  const oldTemplates = await doubtOldTemplates(fileNames, uploadDir)
  return { simulation, subPaths: subPathsOf(facts, fileNames), doubts: [...doubts, ...oldTemplates] }
}

/** Returns what the classes say about the plan, in lines. */
async function compile(
  place: BuildPlace,
  files: PlanFiles,
  { java, javac, jars, ports }: CompileParts
): Promise<readonly string[]> {
  const { node, folder, filesDir } = place
  const [classesDir, empty] = [join(folder, 'classes'), join(folder, 'empty')]
  const uploaded = files.jars.map((name) => join(filesDir, name))
  const pathOf = (all: readonly string[]): string => all.map((file) => node.pathOf(file)).join(delimiter)
  const readFacts = (classPath: readonly string[], ...plan: readonly string[]): string[] => [
    ...[...javaOf(place, java), '-XX:TieredStopAtLevel=1', '-cp', pathOf(classPath)],
    ...['loadgate.gatling.PlanFacts', ...plan.map((file) => node.pathOf(file))]
  ]
  if (files.language === undefined) {
    const command = readFacts([helper(), ...jars, ...uploaded], join(filesDir, files.plan))
    const { failed, lines } = await runBuild(place, {
      ...{ commands: [command], brings: [helper(), ...jars], folders: [] }
    })
    return factsOf(lines[0] ?? [], failed !== undefined, files)
  }
  const compiler = await COMPILERS[files.language]({ place, java, javac, empty: node.pathOf(empty) }, ports)
  const flood = files.language === 'scala' ? await findHelper(files, filesDir) : []
  // With a folder in front, a name cannot be taken for an option.
  const sources = [...files.sources.map((name) => `./${name}`), ...flood.map((file) => node.pathOf(file))]
  const runtimeJars = await runtimeJarsOf(files.language, ports)
  const classPath = [...jars, ...uploaded, ...runtimeJars]
  const product = jarIn(folder)
  const { failed, lines } = await runBuild(place, {
    commands: [
      [...compiler.words, '-cp', pathOf(classPath), '-d', node.pathOf(classesDir), ...sources],
      // The tool's own classes and Gatling first, so that the plan replaces none of them.
      readFacts([helper(), ...jars, classesDir, ...runtimeJars, ...uploaded], classesDir, product)
    ],
    brings: [helper(), ...jars, ...compiler.brings, ...runtimeJars, ...flood],
    folders: [classesDir, empty],
    product
  })
  if (failed === 0)
    throw notCompiled(files, compiler.name, { lines: lines[0] ?? [], folder: node.pathOf(filesDir) })
  return factsOf(lines[1] ?? [], failed !== undefined, files)
}

function factsOf(lines: readonly string[], hasFailed: boolean, { plan }: PlanFiles): readonly string[] {
  if (!hasFailed) return lines
  throw new ToolError(
    `${basename(plan)} could not be read: ${lines.slice(0, SHOWN_LINES).join(' ').slice(0, MAX_WORDS) || 'no output'}`
  )
}

/** The compiler's own lines, which name the file and the line. */
function notCompiled(
  { plan }: PlanFiles,
  compiler: string,
  { lines, folder }: { lines: readonly string[]; folder: string }
): ToolError {
  const said = lines
    .filter((line) => !/^\s*(?:warning:|Note:)/.test(line))
    .map((line) => line.replaceAll(`${folder}/`, '').replace(/^(?:file:\/\/|\.\/)+/, ''))
    .join('\n')
  const words = said === '' ? 'it failed without a word' : said.slice(0, MAX_WORDS)
  return new ToolError(`${plan} could not be compiled (${compiler}):\n${words}`)
}

interface Compiler {
  readonly name: string
  /** How it is started on the node. */
  readonly words: readonly string[]
  /** Its files of this machine. */
  readonly brings: readonly string[]
}

type CompilerPlace = Pick<CompileParts, 'java' | 'javac'> & {
  readonly place: BuildPlace
  readonly empty: string
}

const COMPILERS = {
  java: async ({ place, javac, empty }: CompilerPlace): Promise<Compiler> => {
    const { javac: words } = await place.node.find(javac)
    const options = [...javacOptions(empty), '-parameters', '-Xlint:none']
    return { name: 'javac', words: [...words, ...options], brings: [] }
  },
  scala: async (place: CompilerPlace, ports: InstallPorts): Promise<Compiler> => {
    const brings = jarPaths(await installJars(SCALA_COMPILER_JARS, ports), SCALA_COMPILER_JARS)
    const features = 'postfixOps,implicitConversions,reflectiveCalls,higherKinds,existentials'
    const options = ['-nowarn', '-encoding', 'UTF-8', `-language:${features}`]
    const words = [...startCompiler(place, brings, 'scala.tools.nsc.Main'), ...options]
    return { name: SCALA_COMPILER_JARS.name, words, brings }
  },
  kotlin: async (place: CompilerPlace, ports: InstallPorts): Promise<Compiler> => {
    const brings = jarPaths(await installJars(KOTLIN_COMPILER_JARS, ports), KOTLIN_COMPILER_JARS)
    const options = ['-nowarn', '-no-stdlib', '-no-reflect', '-jvm-target', '11']
    const words = [...startCompiler(place, brings, 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'), ...options]
    return { name: KOTLIN_COMPILER_JARS.name, words, brings }
  }
}

/** Quick to start, which is what counts for a few files; the Scala compiler recurses deeply. */
function startCompiler({ place, java }: CompilerPlace, jars: readonly string[], main: string) {
  const options = ['-XX:TieredStopAtLevel=1', '-Xss8m', `-Xmx${heapSize(place.node.memoryBytes)}`]
  const path = jars.map((jar) => place.node.pathOf(jar))
  return [...javaOf(place, java), ...options, '-cp', path.join(delimiter), main]
}

async function runtimeJarsOf(language: PlanFiles['language'], ports: InstallPorts): Promise<string[]> {
  if (language !== 'kotlin') return []
  const jars = jarPaths(await installJars(KOTLIN_COMPILER_JARS, ports), KOTLIN_COMPILER_JARS)
  return jars.filter((jar) => /kotlin-stdlib-[\d.]+\.jar$/.test(jar))
}

/** The helper that scripts written for a hosted service import, unless the plan brings its own. */
async function findHelper({ sources }: PlanFiles, folder: string): Promise<string[]> {
  const texts = await Promise.all(sources.map((name) => readFile(join(folder, name), 'utf8')))
  const isImported = texts.some((text) => /^[^\S\n]*import[^\S\n]+flood\b/m.test(text))
  const isOwn = texts.some((text) => /\b(?:object|package)\s+flood\b/.test(text))
  return isImported && !isOwn ? [packageFile('java/gatling/scala/flood.scala')] : []
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
