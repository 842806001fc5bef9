import { constants } from 'node:fs'
import { access, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { devNull, homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { messageOf, ToolError } from '../../errors.js'
import { INSTALL_REVISION, JMETER_POM, JMETER_VERSION, REQUIRED_JARS } from './pom.js'
import type { Processes } from '../../nodes/processes.js'
import { mavenEnvironment, toolEnvironment } from '../tool-environment.js'

/** A JMeter that can be started: the command and its leading arguments. */
export interface JMeter {
  readonly file: string
  readonly args: readonly string[]
  readonly version: string
  /** Where it was found, for messages. */
  readonly origin: string
}

/** Dependencies of finding and installing JMeter. */
export interface InstallPorts {
  readonly env: NodeJS.ProcessEnv
  readonly processes: Processes
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  /** How often an installation reports its progress. */
  readonly progressEveryMs?: number
}

const COMPLETE = 'complete'
const PROGRESS_EVERY_MS = 5000
const ABANDONED_AFTER_MS = 24 * 3600 * 1000

/** The JVM options of JMeter's own start script. */
const DEFAULT_HEAP = '-Xms1g -Xmx1g -XX:MaxMetaspaceSize=256m'
const JVM_OPTIONS = [
  '-XX:+IgnoreUnrecognizedVMOptions',
  '-XX:+UseG1GC',
  '-XX:MaxGCPauseMillis=100',
  '-XX:G1ReservePercent=20',
  '-Djava.security.egd=file:/dev/urandom',
  ...['java.lang', 'java.lang.invoke', 'java.lang.reflect', 'java.math', 'java.text', 'java.util'].map(
    (name) => `--add-opens=java.base/${name}=ALL-UNNAMED`
  )
]

/** Finds JMeter: `JMETER_HOME`, `jmeter` on the PATH, the cached copy, or a copy installed now, once. */
export async function findJMeter(ports: InstallPorts): Promise<JMeter> {
  const { env } = ports
  // An empty variable counts as unset.
  if (env.JMETER_HOME) return findInHome(resolve(env.JMETER_HOME), ports)
  const onPath = await findOnPath('jmeter', env)
  if (onPath !== undefined) return describeScript(onPath, ports)
  const home = join(cacheFolder(env), `${JMETER_VERSION}-r${INSTALL_REVISION}`)
  const java = await requireJava(ports)
  if (!(await exists(join(home, COMPLETE)))) await installJMeter(home, java, ports)
  return copyIn(home, java, env)
}

/** Where the installed copy is, for caching: the runner's tool cache, or the user's cache folder. */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  if (env.RUNNER_TOOL_CACHE) return resolve(env.RUNNER_TOOL_CACHE, 'loadgate-jmeter')
  if (env.XDG_CACHE_HOME) return resolve(env.XDG_CACHE_HOME, 'loadgate-jmeter')
  const home = env.HOME ?? homedir()
  return resolve(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', 'loadgate-jmeter')
}

async function findInHome(home: string, ports: InstallPorts): Promise<JMeter> {
  const script = join(home, 'bin', 'jmeter')
  if (await exists(script)) return describeScript(script, ports)
  if (await exists(join(home, 'bin', 'ApacheJMeter.jar'))) {
    const java = await requireJava(ports)
    const jmeter = copyIn(home, java, ports.env)
    return { ...jmeter, version: await askVersion(jmeter, ports) }
  }
  throw new ToolError(
    `JMETER_HOME is ${home}, but there is no bin/jmeter in it; point it to an installation of JMeter, or unset it`
  )
}

async function describeScript(script: string, ports: InstallPorts): Promise<JMeter> {
  const jmeter = { file: script, args: [], version: '', origin: script }
  return { ...jmeter, version: await askVersion(jmeter, ports) }
}

function copyIn(home: string, java: string, env: NodeJS.ProcessEnv): JMeter {
  const options = `${env.HEAP ?? DEFAULT_HEAP} ${env.JVM_ARGS ?? ''}`
    .split(/\s+/)
    .filter((part) => part !== '')
  const args = [...JVM_OPTIONS, ...options, '-jar', join(home, 'bin', 'ApacheJMeter.jar')]
  return { file: java, args, version: JMETER_VERSION, origin: home }
}

async function askVersion(jmeter: JMeter, ports: InstallPorts): Promise<string> {
  // JMeter opens a log first thing, in the working directory unless it gets a path.
  const args = [...jmeter.args, '--version', '-j', devNull]
  const { lines, code } = await runToEnd({ file: jmeter.file, args }, ports)
  const version = readVersion(lines)
  if (code === 0 && version !== undefined) return version
  throw new ToolError(
    `${jmeter.origin} --version did not print a version: ${lines.slice(-5).join(' ').slice(0, 500)}`
  )
}

/**
 * JMeter prints its version at the end of its ASCII-art name. What the JVM prints before, such as a warning or the
 * options it picked up, may contain numbers too.
 */
export function readVersion(lines: readonly string[]): string | undefined {
  const ofJMeter = /^(?:[\s_/\\|<>()-]*|(?:Apache )?JMeter (?:version )?)(\d+\.\d+[\w.-]*)\s*$/i
  return lines.map((line) => ofJMeter.exec(line)?.[1]).findLast((version) => version !== undefined)
}

async function requireJava(ports: InstallPorts): Promise<string> {
  const { env } = ports
  const java = env.JAVA_HOME ? resolve(env.JAVA_HOME, 'bin', 'java') : await findOnPath('java', env)
  const advice =
    'install a JDK (17 is a good choice; in a workflow, use actions/setup-java), or set JAVA_HOME'
  if (java === undefined)
    throw new ToolError(`JMeter needs Java, and there is no java on the PATH: ${advice}`)
  // macOS has a java stub that only asks people to install one.
  const { code, lines } = await runToEnd({ file: java, args: ['-version'] }, ports)
  if (code !== 0)
    throw new ToolError(`JMeter needs Java, and ${java} does not run (${lines[0] ?? 'no output'}): ${advice}`)
  return java
}

/** All or nothing: installs into a temporary folder and renames it as the last step. */
async function installJMeter(home: string, java: string, ports: InstallPorts): Promise<void> {
  const maven = await findOnPath('mvn', ports.env)
  if (maven === undefined) {
    throw new ToolError(
      'JMeter was not found (JMETER_HOME, or jmeter on the PATH), and installing it needs Maven: install Maven or JMeter'
    )
  }
  const folder = cacheFolder(ports.env)
  ports.log(`Installing JMeter ${JMETER_VERSION} with Maven into ${home}, once; this may take a few minutes`)
  makeFolder(folder)
  await removeAbandoned(folder)
  const draft = await mkdtemp(join(folder, 'installing-'))
  try {
    await fetchByMaven(maven, draft, ports)
    await arrange(draft)
    const installed = join(draft, 'home')
    await askVersion(copyIn(installed, java, ports.env), ports)
    await writeFile(join(installed, COMPLETE), `${JMETER_VERSION}\n`)
    await giveName(installed, home)
    ports.log(`JMeter ${JMETER_VERSION} is installed`)
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

async function fetchByMaven(maven: string, draft: string, ports: InstallPorts): Promise<void> {
  await writeFile(join(draft, 'pom.xml'), JMETER_POM)
  const startMs = performance.now()
  const errors: string[] = []
  let fetched = 0
  const onLine = (line: string): void => {
    if (line.includes('Downloaded from')) fetched += 1
    if (line.startsWith('[ERROR]')) errors.push(line)
  }
  const progress = setInterval(() => {
    const seconds = Math.round((performance.now() - startMs) / 1000)
    ports.log(`Installing JMeter: ${fetched} files downloaded in ${seconds} s`)
  }, ports.progressEveryMs ?? PROGRESS_EVERY_MS)
  try {
    const { code } = await ports.processes.run(
      {
        file: maven,
        args: ['-B', 'generate-resources'],
        cwd: draft,
        env: mavenEnvironment(ports.env),
        onLine
      },
      ports.signal
    )
    if (code !== 0) {
      throw new ToolError(
        `Maven could not download JMeter: ${errors.slice(0, 5).join('\n') || `it exited with ${code}`}`
      )
    }
  } finally {
    clearInterval(progress)
  }
}

/** Moves the jars to where JMeter expects them. */
async function arrange(draft: string): Promise<void> {
  const jars = await readdir(join(draft, 'jars'))
  const missing = REQUIRED_JARS.filter((jar) => !jars.includes(jar))
  if (missing.length > 0) throw new ToolError(`Maven downloaded JMeter without ${missing.join(', ')}`)
  for (const dir of ['lib/ext', 'lib/junit']) await mkdir(join(draft, 'home', dir), { recursive: true })
  for (const jar of jars) {
    const place =
      jar === `ApacheJMeter-${JMETER_VERSION}.jar`
        ? 'bin/ApacheJMeter.jar'
        : `${jar.startsWith('ApacheJMeter_') ? 'lib/ext' : 'lib'}/${jar}`
    await rename(join(draft, 'jars', jar), join(draft, 'home', place))
  }
}

/** Of two concurrent installations the first to rename wins; the other one's copy is discarded. */
async function giveName(installed: string, home: string): Promise<void> {
  try {
    await rename(installed, home)
  } catch (thrown) {
    if (await exists(join(home, COMPLETE))) return
    // An incomplete installation has the name, such as a partly restored cache.
    await rename(home, `${installed}-replaced`)
    await rename(installed, home).catch(async () => {
      if (!(await exists(join(home, COMPLETE)))) throw thrown
    })
  }
}

async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('installing-')) continue
    const { mtimeMs } = await stat(join(folder, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS)
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

async function runToEnd(
  command: { file: string; args: readonly string[] },
  ports: InstallPorts
): Promise<{ code: number | null; lines: string[] }> {
  const lines: string[] = []
  try {
    const { code } = await ports.processes.run(
      {
        ...command,
        cwd: process.cwd(),
        env: toolEnvironment(ports.env),
        onLine: (line) => lines.push(line)
      },
      ports.signal
    )
    return { code, lines }
  } catch (thrown) {
    throw new ToolError(`${command.file} cannot be started: ${messageOf(thrown)}`, { cause: thrown })
  }
}

async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const dir of (env.PATH ?? '').split(delimiter)) {
    const file = resolve(dir, name)
    if (dir !== '' && (await isExecutable(file))) return file
  }
  return undefined
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}
