import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { ToolError } from '../../errors.js'
import { installJars } from '../install/jars/install-jars.js'
import type { InstallPorts } from '../install/install-ports.js'
import { jarPaths } from '../install/jars/jar-list.js'
import { requireJdk } from '../install/java.js'
import { packageFile } from '../install/package-file.js'
import { runToEnd } from '../install/run-to-end.js'
import { KOTLIN_COMPILER_JARS } from './kotlin-compiler-jars.js'
import type { Language, PlanFiles } from './plan-files.js'
import { SCALA_COMPILER_JARS } from './scala-compiler-jars.js'

export interface PlanSource {
  readonly files: PlanFiles
  /** The folder of the uploaded files. */
  readonly folder: string
  /** Where the classes go; may not exist yet. */
  readonly classesDir: string
  /** What the sources may import. */
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

/**
 * Compiles a plan; returns what its classes need beside Gatling and the uploaded jars. A `ToolError` has the compiler's
 * words.
 */
export async function compilePlan(source: PlanSource, ports: InstallPorts): Promise<string[]> {
  const { files, folder, classesDir, signal } = source
  if (files.language === undefined) return []
  const compiler = await COMPILERS[files.language](source, ports)
  makeFolder(classesDir)
  const helper = files.language === 'scala' ? await findHelper(source) : []
  // With a folder in front, a name cannot be taken for an option.
  const sources = [...files.sources.map((name) => `./${name}`), ...helper]
  const args = [...compiler.args, '-d', classesDir, ...sources]
  const { code, lines } = await runToEnd({ file: compiler.file, args, cwd: folder }, { ...ports, signal })
  if (code !== 0) throw new ToolError(explain(files.plan, compiler.name, { code, lines, folder }))
  return [classesDir, ...compiler.runtimeJars]
}

const COMPILERS: Readonly<Record<Language, (source: PlanSource, ports: InstallPorts) => Promise<Compiler>>> =
  {
    java: async (source, ports) => {
      const { javac } = await requireJdk(ports, 'Gatling')
      const options = ['-encoding', 'UTF-8', '-g', '-parameters', '-proc:none', '-nowarn', '-Xlint:none']
      const args = [...options, '-cp', pathOf(source)]
      return { name: 'javac', file: javac, args, runtimeJars: [] }
    },
    scala: async (source, ports) => {
      const jars = jarPaths(await installJars(SCALA_COMPILER_JARS, ports), SCALA_COMPILER_JARS)
      const features = 'postfixOps,implicitConversions,reflectiveCalls,higherKinds,existentials'
      const options = ['-nowarn', '-encoding', 'UTF-8', `-language:${features}`]
      const args = [...compilerArgs(jars, 'scala.tools.nsc.Main'), ...options, '-cp', pathOf(source)]
      return { name: SCALA_COMPILER_JARS.name, file: source.java, args, runtimeJars: [] }
    },
    kotlin: async (source, ports) => {
      const jars = jarPaths(await installJars(KOTLIN_COMPILER_JARS, ports), KOTLIN_COMPILER_JARS)
      const runtimeJars = jars.filter((jar) => /kotlin-stdlib-[\d.]+\.jar$/.test(jar))
      const main = 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler'
      const options = ['-nowarn', '-no-stdlib', '-no-reflect', '-jvm-target', '11']
      const args = [...compilerArgs(jars, main), ...options, '-cp', pathOf(source, runtimeJars)]
      return { name: KOTLIN_COMPILER_JARS.name, file: source.java, args, runtimeJars }
    }
  }

function compilerArgs(jars: readonly string[], main: string): string[] {
  return [...COMPILER_JVM, '-cp', jars.join(delimiter), main]
}

function pathOf({ classPath, files, folder }: PlanSource, more: readonly string[] = []): string {
  return [...classPath, ...files.jars.map((name) => join(folder, name)), ...more].join(delimiter)
}

/** The helper that scripts written for a hosted service import, unless the plan brings its own. */
async function findHelper({ files, folder }: PlanSource): Promise<string[]> {
  const texts = await Promise.all(files.sources.map((name) => readFile(join(folder, name), 'utf8')))
  const isImported = texts.some((text) => /^\s*import\s+flood\b/m.test(text))
  const isOwn = texts.some((text) => /\b(?:object|package)\s+flood\b/.test(text))
  return isImported && !isOwn ? [packageFile('java/gatling/scala/flood.scala')] : []
}

/** The compiler's own lines, which name the file and the line. */
function explain(
  plan: string,
  compiler: string,
  end: { code: number | null; lines: readonly string[]; folder: string }
): string {
  const said = end.lines
    .filter((line) => !/^\s*(?:warning:|Note:)/.test(line))
    .map((line) => line.replaceAll(`${end.folder}/`, '').replace(/^(?:file:\/\/|\.\/)+/, ''))
    .join('\n')
  const words = said === '' ? `it exited with ${end.code} and no output` : said.slice(0, MAX_WORDS)
  return `${plan} could not be compiled (${compiler}):\n${words}`
}
