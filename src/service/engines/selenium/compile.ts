import { delimiter, join, basename } from 'node:path'
import { ToolError } from '../../errors.js'
import type { PlanToPrepare } from '../engine.js'
import { installJars } from '../install/jars/fetch-jars.js'
import { type Javac, javacOptions } from '../javac.js'
import { type InstallPorts, packageFile } from '../install/run-to-end.js'
import { type JarList, jarPaths } from '../install/jars/jar-list.js'
import { type BuildPlace, javaOf, runBuild } from '../plan-build.js'
import SELENIUM_3_JARS from './selenium-3-jars.json' with { type: 'json' }
import SELENIUM_4_JARS from './selenium-4-jars.json' with { type: 'json' }

export interface CompiledPlan {
  /** Of Selenium. */
  readonly version: string
  /** Everything but the plan's own classes. */
  readonly classPath: readonly string[]
  /** The plan's own classes. */
  readonly planJar: string
  readonly choice: PlanChoice
}

/** What only the compiler knows; the rest follows from it. */
export interface SeleniumBuild {
  readonly version: string
  readonly choice: PlanChoice
}

interface CompileParts {
  readonly plan: PlanToPrepare
  readonly tool: Javac & { readonly java: string }
  readonly ports: InstallPorts
}

const SHOWN_LINES = 40
const MAX_LENGTH = 4000
/** What the compiler says when a library has changed, and not when something is misspelt. */
const OTHER_LIBRARY =
  /error: (?:cannot find symbol|package \S+ does not exist|incompatible types|no suitable|.* cannot be applied|.* has private access|.* is abstract)/

/** Compiles the plan's sources with Selenium 4, or with 3 if only that works. */
export async function compilePlan(place: BuildPlace, parts: CompileParts): Promise<SeleniumBuild> {
  const newest = versionOf(SELENIUM_4_JARS)
  const first = await tryCompile(place, parts, SELENIUM_4_JARS)
  if (typeof first !== 'string') return first
  const second = OTHER_LIBRARY.test(first) && (await tryCompile(place, parts, SELENIUM_3_JARS))
  if (typeof second !== 'object')
    throw new ToolError(`The plan does not compile with Selenium ${newest}:\n${first}`)
  const why = /^.*error:.*$/m.exec(first)?.[0] ?? 'it does not compile with Selenium 4'
  parts.ports.log(`The plan needs Selenium ${second.version} (with ${newest}: ${why})`)
  return second
}

/** The plan as it was built in this folder, with this machine's libraries. */
export async function openBuild(
  { uploadDir, fileNames }: Pick<PlanToPrepare, 'uploadDir' | 'fileNames'>,
  { built: { version, choice }, folder }: { built: SeleniumBuild; folder: string },
  ports: InstallPorts
): Promise<CompiledPlan> {
  const list = [SELENIUM_4_JARS, SELENIUM_3_JARS].find((each) => versionOf(each) === version)
  if (list === undefined)
    throw new ToolError(`Selenium ${version} is not installed any more: run the plan again`)
  const classPath = await classPathOf({ fileNames, folder: uploadDir, list }, ports)
  return { version, classPath, planJar: jarIn(folder, version), choice }
}

function versionOf({ name }: JarList): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

function jarIn(folder: string, version: string): string {
  return join(folder, 'out', `selenium-${version}.jar`)
}

/** The tool's own classes first, so that no jar replaces them. */
async function classPathOf(
  { fileNames, folder, list }: { fileNames: readonly string[]; folder: string; list: JarList },
  ports: InstallPorts
): Promise<string[]> {
  const uploaded = fileNames.filter((name) => name.endsWith('.jar')).map((name) => join(folder, name))
  return [
    packageFile('java/jars/selenium.jar'),
    ...uploaded,
    ...jarPaths(await installJars(list, ports), list)
  ]
}

/** Returns the compiler's words if it does not compile. */
async function tryCompile(
  place: BuildPlace,
  { plan: { fileNames }, tool, ports }: CompileParts,
  list: JarList
): Promise<SeleniumBuild | string> {
  const { node, folder, filesDir } = place
  const version = versionOf(list)
  const classPath = await classPathOf({ fileNames, folder: filesDir, list }, ports)
  const [classesDir, empty] = [join(folder, 'classes'), join(folder, 'empty')]
  const product = jarIn(folder, version)
  const path = classPath.map((file) => node.pathOf(file)).join(delimiter)
  const classes = node.pathOf(classesDir)
  // With the folder, no name is taken for an option.
  const sources = fileNames.filter((name) => name.endsWith('.java')).map((name) => `./${name}`)
  const { failed, lines } = await runBuild(place, {
    commands: [
      [...tool.javac, ...javacOptions(node.pathOf(empty)), '-cp', path, '-d', classes, ...sources],
      [
        ...[...javaOf(place, tool.java), '-XX:TieredStopAtLevel=1', '-cp', path],
        ...['loadgate.selenium.FindPlan', classes, node.pathOf(product)]
      ]
    ],
    brings: classPath,
    folders: [classesDir, empty],
    product
  })
  const [compiler = [], found = []] = lines
  if (failed === 0) return describe(compiler)
  if (failed !== undefined)
    throw new ToolError(`The plan's classes cannot be loaded: ${found.slice(0, 3).join(' ').slice(0, 500)}`)
  return { version, choice: choosePlan(found, fileNames) }
}

/** The compiler's own lines, with the names of the files as they were uploaded. */
function describe(lines: readonly string[]): string {
  const shown = lines.filter((line) => !line.startsWith('Note: ')).map((line) => line.replace(/^\.\//, ''))
  const more = shown.length > SHOWN_LINES ? [`… and ${shown.length - SHOWN_LINES} more lines`] : []
  return [...shown.slice(0, SHOWN_LINES), ...more].join('\n').slice(0, MAX_LENGTH)
}

/** What to run: a class with a `main` method, or classes with JUnit 5 tests. */
type PlanChoice = readonly ['main', string] | readonly ['test', ...string[]]

/** Chooses among what the compiled classes offer, as lines of `main Name`, `test Name` and `old-test Name`. */
export function choosePlan(lines: readonly string[], fileNames: readonly string[]): PlanChoice {
  const named = (kind: string): string[] =>
    lines.filter((line) => line.startsWith(`${kind} `)).map((line) => line.slice(kind.length + 1))
  const mains = named('main')
  const tests = named('test')
  // By Java's own rule a file has the name of its public class. Others may have a main for purposes of their own.
  const plan = basename(fileNames[0] ?? '', '.java')
  const chosen = mains.filter((name) => simpleName(name) === plan)
  if (chosen.length === 1 && chosen[0] !== undefined) return ['main', chosen[0]]
  if (chosen.length === 0 && tests.some((name) => simpleName(name) === plan)) return ['test', ...tests]
  const [first, ...others] = mains
  if (first !== undefined && others.length === 0) return ['main', first]
  if (mains.length > 1)
    throw new ToolError(
      `The plan has ${mains.length} classes with a main method (${mains.join(', ')}), and none is called ${plan} like its first file: leave one, or name the file after the class to run`
    )
  if (tests.length > 0) return ['test', ...tests]
  const oldTests = named('old-test')
  throw new ToolError(
    oldTests.length > 0
      ? `The plan has tests for JUnit 4 (${oldTests.join(', ')}), which are not run: import org.junit.jupiter.api.Test instead of org.junit.Test (JUnit 5), or write a class with public static void main(String[] args)`
      : `The plan has nothing to run: neither a class with public static void main(String[] args) nor a JUnit 5 test is in ${fileNames.filter((name) => name.endsWith('.java')).join(', ')}`
  )
}

function simpleName(name: string): string {
  return name.slice(Math.max(name.lastIndexOf('.'), name.lastIndexOf('$')) + 1)
}
