import { delimiter, join, basename } from 'node:path'
import { makeFolder } from '../../../contract/files.js'
import { ToolError } from '../../errors.js'
import type { PlanToPrepare } from '../engine.js'
import type { Jdk } from '../install/java.js'
import { installJars } from '../install/jars/fetch-jars.js'
import { type InstallPorts, runToEnd, packageFile } from '../install/run-to-end.js'
import { type JarList, jarPaths } from '../install/jars/jar-list.js'
import SELENIUM_3_JARS from './selenium-3-jars.json' with { type: 'json' }
import SELENIUM_4_JARS from './selenium-4-jars.json' with { type: 'json' }

export interface CompiledPlan {
  /** Of Selenium. */
  readonly version: string
  /** Everything but the plan's own classes. */
  readonly classPath: readonly string[]
  readonly classesDir: string
  readonly choice: PlanChoice
}

const SHOWN_LINES = 40
const MAX_LENGTH = 4000
/** What the compiler says when a library has changed, and not when something is misspelt. */
const OTHER_LIBRARY =
  /error: (?:cannot find symbol|package \S+ does not exist|incompatible types|no suitable|.* cannot be applied|.* has private access|.* is abstract)/

/** Compiles the plan's sources with Selenium 4, or with 3 if only that works. */
export async function compilePlan(plan: PlanToPrepare, jdk: Jdk, ports: InstallPorts): Promise<CompiledPlan> {
  const newest = versionOf(SELENIUM_4_JARS)
  const first = await tryCompile(plan, { jdk, list: SELENIUM_4_JARS }, ports)
  if (typeof first !== 'string') return first
  const second = OTHER_LIBRARY.test(first) && (await tryCompile(plan, { jdk, list: SELENIUM_3_JARS }, ports))
  if (typeof second !== 'object')
    throw new ToolError(`The plan does not compile with Selenium ${newest}:\n${first}`)
  const why = /^.*error:.*$/m.exec(first)?.[0] ?? 'it does not compile with Selenium 4'
  ports.log(`The plan needs Selenium ${second.version} (with ${newest}: ${why})`)
  return second
}

function versionOf({ name }: JarList): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

/** Returns the compiler's words if it does not compile. */
async function tryCompile(
  plan: PlanToPrepare,
  { jdk, list }: { jdk: Jdk; list: JarList },
  ports: InstallPorts
): Promise<CompiledPlan | string> {
  const version = versionOf(list)
  const jars = jarPaths(await installJars(list, ports), list)
  const classesDir = join(plan.buildDir, `selenium-${version}`)
  makeFolder(classesDir)
  const uploadedJars = plan.fileNames.filter((name) => name.endsWith('.jar'))
  const classPath = [
    packageFile('java/jars/selenium.jar'),
    ...uploadedJars.map((name) => join(plan.uploadDir, name)),
    ...jars
  ]
  const sources = plan.fileNames.filter((name) => name.endsWith('.java'))
  const args = [
    ...['-encoding', 'UTF-8', '-nowarn', '-proc:none', '-g'],
    ...['-cp', classPath.join(delimiter), '-d', classesDir],
    // With the folder, no name is taken for an option.
    ...sources.map((name) => `./${name}`)
  ]
  const { code, lines } = await runToEnd({ file: jdk.javac, args, cwd: plan.uploadDir }, ports)
  ports.signal.throwIfAborted()
  if (code !== 0) return describe(lines)
  const classes = await listClasses(jdk.java, { classPath, classesDir }, ports)
  return { version, classPath, classesDir, choice: choosePlan(classes, plan.fileNames) }
}

/** The compiler's own lines, with the names of the files as they were uploaded. */
function describe(lines: readonly string[]): string {
  const shown = lines.filter((line) => !line.startsWith('Note: ')).map((line) => line.replace(/^\.\//, ''))
  const more = shown.length > SHOWN_LINES ? [`… and ${shown.length - SHOWN_LINES} more lines`] : []
  return [...shown.slice(0, SHOWN_LINES), ...more].join('\n').slice(0, MAX_LENGTH)
}

async function listClasses(
  java: string,
  { classPath, classesDir }: Pick<CompiledPlan, 'classPath' | 'classesDir'>,
  ports: InstallPorts
): Promise<string[]> {
  const path = [classesDir, ...classPath].join(delimiter)
  const args = ['-XX:TieredStopAtLevel=1', '-cp', path, 'loadgate.selenium.FindPlan', classesDir]
  const { code, lines } = await runToEnd({ file: java, args }, ports)
  if (code === 0) return lines
  throw new ToolError(`The plan's classes cannot be loaded: ${lines.slice(0, 3).join(' ').slice(0, 500)}`)
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
