import { execFile } from 'node:child_process'
import { access, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Finding } from '../../plans/check/finding.js'

const LEAST_JAVA: Readonly<Record<string, number>> = {
  jmeter: 8,
  gatling: 11,
  'java-selenium-chrome': 11,
  'java-selenium-firefox': 11
}
const LEAST_FREE_MB = 200
const LONGEST_MS = 10_000
const INSTALL =
  'install a JDK (17 is a good choice: `apt-get install openjdk-17-jdk-headless` on Debian and Ubuntu, `brew install openjdk@17` on macOS, actions/setup-java in a workflow), or set JAVA_HOME'

interface Wanted {
  readonly tool: string
  /** Its path. */
  readonly plan: string
  readonly workspace: string
}

/** What the tool needs on this machine: Java, and space for what it writes. */
export async function checkMachine(
  wanted: Wanted,
  { env = process.env, freeMb = readFreeMb }: { env?: NodeJS.ProcessEnv; freeMb?: typeof readFreeMb } = {}
): Promise<Finding[]> {
  const [java, space] = await Promise.all([checkJava(wanted, env), checkSpace(wanted, freeMb)])
  return [...java, ...space]
}

async function checkJava({ tool, plan }: Wanted, env: NodeJS.ProcessEnv): Promise<Finding[]> {
  const least = LEAST_JAVA[tool]
  if (least === undefined) return []
  const { JAVA_HOME } = env
  const java = JAVA_HOME ? resolve(JAVA_HOME, 'bin', 'java') : 'java'
  const { output, isThere } = await run(java, env)
  if (!isThere) {
    const where = JAVA_HOME
      ? `JAVA_HOME is ${JAVA_HOME}, where no bin/java runs`
      : 'there is no java on the PATH'
    return [{ level: 'error', message: `${tool} needs Java, and ${where}: ${INSTALL}.` }]
  }
  const [, version = '', old, now] = /version "((?:1\.(\d+)|(\d+))[^"]*)"/.exec(output) ?? []
  if (Number(old ?? now) < least)
    return [
      {
        level: 'error',
        message: `${tool} needs Java ${least} or later, and ${java} is ${version}: ${INSTALL}.`
      }
    ]
  const lacksCompiler = /\.java$/i.test(plan) && JAVA_HOME && !(await exists(join(dirname(java), 'javac')))
  return lacksCompiler
    ? [
        {
          level: 'error',
          message: `${tool} needs a JDK to compile the plan, and in ${JAVA_HOME} there is no javac: ${INSTALL}.`
        }
      ]
    : []
}

async function checkSpace({ workspace }: Wanted, freeMb: typeof readFreeMb): Promise<Finding[]> {
  const free = await freeMb(workspace)
  return free === undefined || free >= LEAST_FREE_MB
    ? []
    : [
        {
          level: 'warning',
          message: `Only ${Math.floor(free)} MB are free on the disk of ${workspace}, where the results go; free up space, or choose another folder with --output.`
        }
      ]
}

async function readFreeMb(folder: string): Promise<number | undefined> {
  const facts = await statfs(folder).catch(() => undefined)
  return facts && (facts.bavail * facts.bsize) / 2 ** 20
}

function run(java: string, env: NodeJS.ProcessEnv): Promise<{ output: string; isThere: boolean }> {
  return new Promise((done) => {
    execFile(java, ['-version'], { env, timeout: LONGEST_MS }, (error, stdout, stderr) =>
      done({ output: `${stderr}${stdout}`, isThere: error === null })
    )
  })
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}
