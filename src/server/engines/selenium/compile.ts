import { delimiter, join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { ToolError } from '../../errors.js'
import type { PlanToPrepare } from '../engine.js'
import type { Jdk } from '../install/java.js'
import { installJars } from '../install/jars/install-jars.js'
import type { InstallPorts } from '../install/install-ports.js'
import { type JarList, jarPaths } from '../install/jars/jar-list.js'
import { packageFile } from '../install/package-file.js'
import { runToEnd } from '../install/run-to-end.js'
import { choosePlan, type PlanChoice } from './choose-plan.js'
import { SELENIUM_3_JARS } from './selenium-3-jars.js'
import { SELENIUM_4_JARS } from './selenium-4-jars.js'

/** A plan in the form in which a JVM runs it. */
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
  const first = await tryCompile(plan, { jdk, list: SELENIUM_4_JARS }, ports)
  if (first.compiled) return first.compiled
  if (OTHER_LIBRARY.test(first.words)) {
    const second = await tryCompile(plan, { jdk, list: SELENIUM_3_JARS }, ports)
    if (second.compiled) {
      const why = /^.*error:.*$/m.exec(first.words)?.[0] ?? 'it does not compile with Selenium 4'
      ports.log(
        `The plan needs Selenium ${second.compiled.version} (with ${versionOf(SELENIUM_4_JARS)}: ${why})`
      )
      return second.compiled
    }
  }
  throw new ToolError(
    `The plan does not compile with Selenium ${versionOf(SELENIUM_4_JARS)}:\n${first.words}`
  )
}

function versionOf({ name }: JarList): string {
  return name.slice(name.lastIndexOf('-') + 1)
}

async function tryCompile(
  plan: PlanToPrepare,
  { jdk, list }: { jdk: Jdk; list: JarList },
  ports: InstallPorts
): Promise<{ compiled?: CompiledPlan; words: string }> {
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
  const { code, lines } = await runToEnd(
    {
      file: jdk.javac,
      args: [
        ...['-encoding', 'UTF-8', '-nowarn', '-proc:none', '-g'],
        ...['-cp', classPath.join(delimiter), '-d', classesDir],
        // With the folder, no name is taken for an option.
        ...sources.map((name) => `./${name}`)
      ],
      cwd: plan.uploadDir
    },
    ports
  )
  ports.signal.throwIfAborted()
  if (code !== 0) return { words: describe(lines) }
  const choice = choosePlan(
    await listClasses({ java: jdk.java, classPath, classesDir }, ports),
    plan.fileNames
  )
  return { compiled: { version, classPath, classesDir, choice }, words: '' }
}

/** The compiler's own lines, with the names of the files as they were uploaded. */
function describe(lines: readonly string[]): string {
  const shown = lines.filter((line) => !line.startsWith('Note: ')).map((line) => line.replace(/^\.\//, ''))
  const more = shown.length > SHOWN_LINES ? [`… and ${shown.length - SHOWN_LINES} more lines`] : []
  return [...shown.slice(0, SHOWN_LINES), ...more].join('\n').slice(0, MAX_LENGTH)
}

async function listClasses(
  { java, classPath, classesDir }: { java: string; classPath: readonly string[]; classesDir: string },
  ports: InstallPorts
): Promise<string[]> {
  const path = [classesDir, ...classPath].join(delimiter)
  const args = ['-XX:TieredStopAtLevel=1', '-cp', path, 'loadgate.selenium.FindPlan', classesDir]
  const { code, lines } = await runToEnd({ file: java, args }, ports)
  if (code === 0) return lines
  throw new ToolError(`The plan's classes cannot be loaded: ${lines.slice(0, 3).join(' ').slice(0, 500)}`)
}
