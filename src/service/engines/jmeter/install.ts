import { existsSync } from 'node:fs'
import { devNull } from 'node:os'
import { join, resolve } from 'node:path'
import { makeFolder } from '../../../contract/files.js'
import { ToolError } from '../../errors.js'
import { heapSize, jvmOptions } from '../tool-environment.js'
import { type InstallPorts, runToEnd, findOnPath } from '../install/run-to-end.js'
import type { JarList } from '../install/jars/jar-list.js'
import { requireJava } from '../install/java.js'
import { installJars } from '../install/jars/fetch-jars.js'
import JMETER_JARS from './jmeter-jars.json' with { type: 'json' }

/** The JMeter version to install if there is none; with the revision it names the folder of the cached copy. */
const JMETER_VERSION = '5.6.3'
const INSTALL_REVISION = 2

/** A JMeter that can be started: the command and its leading arguments. */
export interface JMeter {
  readonly file: string
  readonly args: readonly string[]
  readonly version: string
  /** Where it was found, for messages. */
  readonly origin: string
  /** The image that it is in, if it is not on this machine. */
  readonly image?: string
  /** The leading arguments on a node with this memory. */
  readonly argsFor?: (node: JvmPlace) => readonly string[]
}

/** The JVM options of JMeter's own start script. */
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
export async function findJMeter(ports: InstallPorts, list: JarList = JMETER_JARS): Promise<JMeter> {
  const { env } = ports
  // An empty variable counts as unset.
  if (env.JMETER_HOME) return findInHome(resolve(env.JMETER_HOME), ports)
  const onPath = await findOnPath('jmeter', env)
  if (onPath !== undefined) return describeScript(onPath, ports)
  const java = await requireJava(ports, 'JMeter')
  const home = await installJars(list, ports, {
    what: `JMeter ${JMETER_VERSION}`,
    cache: 'loadgate-jmeter',
    name: `${JMETER_VERSION}-r${INSTALL_REVISION}`,
    placeOf,
    unpacked: { jar: CONFIG_JAR, folder: 'bin/' },
    tryOut: (home) => {
      // It looks for libraries there.
      makeFolder(join(home, 'lib', 'junit'))
      return askVersion(copyIn(home, java, env), ports)
    }
  })
  return copyIn(home, java, env)
}

async function findInHome(home: string, ports: InstallPorts): Promise<JMeter> {
  const script = join(home, 'bin', 'jmeter')
  if (existsSync(script)) return describeScript(script, ports)
  if (existsSync(join(home, 'bin', 'ApacheJMeter.jar'))) {
    const java = await requireJava(ports, 'JMeter')
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
  const argsFor = (place?: JvmPlace): string[] =>
    javaArguments(join(home, 'bin', 'ApacheJMeter.jar'), env, place)
  return { file: java, args: argsFor(), argsFor, version: JMETER_VERSION, origin: home }
}

export interface JvmPlace {
  readonly memoryBytes?: number | undefined
  readonly env?: NodeJS.ProcessEnv
}

export function javaArguments(jar: string, env: NodeJS.ProcessEnv, place: JvmPlace = {}): string[] {
  const size = heapSize(place.memoryBytes)
  const heap = `-Xms${size} -Xmx${size} -XX:MaxMetaspaceSize=256m`
  return [...JVM_OPTIONS, ...jvmOptions(env, { heap, env: place.env ?? {} }), '-jar', jar]
}

/** JMeter opens a log first thing, in the working directory unless it gets a path. */
export const VERSION_ARGUMENTS = ['--version', '-j', devNull]

async function askVersion(jmeter: JMeter, ports: InstallPorts): Promise<string> {
  const args = [...jmeter.args, ...VERSION_ARGUMENTS]
  const { lines, code } = await runToEnd({ file: jmeter.file, args }, ports)
  const version = readVersion(lines)
  if (code === 0 && version !== undefined) return version
  throw new ToolError(
    `${jmeter.origin} --version did not print a version: ${lines.slice(-5).join(' ').slice(0, 500)}`
  )
}

/** JMeter's version is at the end of its ASCII-art name; what the JVM prints before may contain numbers too. */
export function readVersion(lines: readonly string[]): string | undefined {
  const ofJMeter = /^(?:[\s_/\\|<>()-]*|(?:Apache )?JMeter (?:version )?)(\d+\.\d+[\w.-]*)\s*$/i
  return lines.map((line) => ofJMeter.exec(line)?.[1]).findLast((version) => version !== undefined)
}

/** Its files are unpacked: its `bin` holds the properties and templates that JMeter reads. */
const CONFIG_JAR = `ApacheJMeter_config-${JMETER_VERSION}.jar`

function placeOf(jar: string): string {
  if (jar === `ApacheJMeter-${JMETER_VERSION}.jar`) return 'bin/ApacheJMeter.jar'
  return `${jar.startsWith('ApacheJMeter_') ? 'lib/ext' : 'lib'}/${jar}`
}
