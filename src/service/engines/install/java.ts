import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import { type InstallPorts, runToEnd, findOnPath } from './run-to-end.js'

export interface Jdk {
  readonly java: string
  readonly javac: string
}

/** For macOS, hosted runners, and Debian and its relatives. */
const INSTALL =
  'install a JDK (17 is a good choice: `apt-get install openjdk-17-jdk-headless` on Debian and Ubuntu, `brew install openjdk@17` on macOS, actions/setup-java in a workflow)'
const ADVICE = `${INSTALL}, or set JAVA_HOME`

/** Finds Java for `what`, in `JAVA_HOME` or on the PATH, and sees it run. */
export async function requireJava(ports: InstallPorts, what: string): Promise<string> {
  const { env } = ports
  const home = env.JAVA_HOME
  const java = home ? resolve(home, 'bin', 'java') : await findOnPath('java', env)
  if (java === undefined)
    throw new ToolError(`${what} needs Java, and there is no java on the PATH: ${ADVICE}`)
  // Another Java than the one that was asked for would be a surprise.
  if (home && !existsSync(java))
    throw new ToolError(
      `${what} needs Java, and JAVA_HOME is ${home}, where there is no bin/java: correct JAVA_HOME, or unset it to use the java on the PATH; if there is none, ${INSTALL}`
    )
  await seeItRun(java, `${what} needs Java`, ports)
  return java
}

/** The same with a compiler: a plan that is source code has to be compiled. */
export async function requireJdk(ports: InstallPorts, what: string): Promise<Jdk> {
  const { env } = ports
  const java = await requireJava(ports, what)
  const javac = await findJavac(java, env)
  const needs = `${what} needs a JDK to compile the plan`
  if (javac === undefined)
    throw new ToolError(`${needs}, and next to ${java} there is no javac (a JRE only?): ${ADVICE}`)
  await seeItRun(javac, needs, ports)
  return { java, javac }
}

/** Preferably of the same installation: what a newer compiler makes does not run on an older Java. */
async function findJavac(java: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const dir = await realpath(java).then(dirname, () => dirname(java))
  const beside = await findOnPath('javac', { PATH: dir })
  return beside ?? (env.JAVA_HOME ? undefined : findOnPath('javac', env))
}

/** macOS has stubs of both that only ask people to install one. */
async function seeItRun(file: string, needs: string, ports: InstallPorts): Promise<void> {
  const { code, lines } = await runToEnd({ file, args: ['-version'] }, ports)
  if (code !== 0)
    throw new ToolError(`${needs}, and ${file} does not run (${lines[0] ?? 'no output'}): ${ADVICE}`)
}
