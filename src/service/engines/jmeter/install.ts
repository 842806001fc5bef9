import { access, mkdir, rename, mkdtemp, writeFile } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join, resolve } from 'node:path'
import { ToolError } from '../../errors.js'
import { heapSize, jvmOptions, mavenEnvironment } from '../tool-environment.js'
import { type InstallPorts, runToEnd, findOnPath } from '../install/run-to-end.js'
import { type JarList, jarHashes, readJar } from '../install/jars/jar-list.js'
import { requireJava } from '../install/java.js'
import { cacheFolder, type Draft, installOnce } from '../install/install-once.js'
import { checkJars, fetchJars, unpackJar } from '../install/jars/fetch-jars.js'
import { ExtensionError, MAVEN_ERRORS, markProjectRoot } from '../install/jars/maven.js'
import { reportProgress, wordsOf } from '../install/tool-words.js'
import JMETER_JARS from './jmeter-jars.json' with { type: 'json' }

/** The JMeter version to install if there is none; with the revision it names the folder of the cached copy. */
const JMETER_VERSION = '5.6.3'
const INSTALL_REVISION = 2

/** Every module of the real distribution. */
const MODULES = [
  'ApacheJMeter',
  'ApacheJMeter_bolt',
  'ApacheJMeter_components',
  'ApacheJMeter_core',
  'ApacheJMeter_ftp',
  'ApacheJMeter_functions',
  'ApacheJMeter_http',
  'ApacheJMeter_java',
  'ApacheJMeter_jdbc',
  'ApacheJMeter_jms',
  'ApacheJMeter_junit',
  'ApacheJMeter_ldap',
  'ApacheJMeter_mail',
  'ApacheJMeter_mongodb',
  'ApacheJMeter_native',
  'ApacheJMeter_tcp',
  'jorphan'
]

/** Not a library: its `bin` holds the properties and templates that JMeter reads. */
const CONFIG_MODULE = 'ApacheJMeter_config'

const dependencyOf = (module: string): string => `
    <dependency>
      <groupId>org.apache.jmeter</groupId>
      <artifactId>${module}</artifactId>
      <version>${JMETER_VERSION}</version>
    </dependency>`

/**
 * Copies the jars to `loadgate.jars` and the configuration to `bin` in `loadgate.home`. Imports JMeter's own list of third-party versions:
 * otherwise Maven would choose other versions than the distribution has.
 */
export const JMETER_POM = `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>loadgate</groupId>
  <artifactId>jmeter</artifactId>
  <version>${JMETER_VERSION}</version>
  <packaging>pom</packaging>
  <dependencyManagement>
    <dependencies>
      <dependency>
        <groupId>org.apache.jmeter</groupId>
        <artifactId>ApacheJMeter_bom-thirdparty</artifactId>
        <version>${JMETER_VERSION}</version>
        <type>pom</type>
        <scope>import</scope>
      </dependency>
    </dependencies>
  </dependencyManagement>
  <dependencies>${[...MODULES, CONFIG_MODULE].map(dependencyOf).join('')}
  </dependencies>
  <build>
    <plugins>
      <plugin>
        <groupId>org.apache.maven.plugins</groupId>
        <artifactId>maven-dependency-plugin</artifactId>
        <version>3.8.1</version>
        <executions>
          <execution>
            <id>jars</id>
            <phase>generate-resources</phase>
            <goals><goal>copy-dependencies</goal></goals>
            <configuration>
              <includeScope>runtime</includeScope>
              <excludeArtifactIds>${CONFIG_MODULE}</excludeArtifactIds>
              <outputDirectory>\${loadgate.jars}</outputDirectory>
            </configuration>
          </execution>
          <execution>
            <id>configuration</id>
            <phase>generate-resources</phase>
            <goals><goal>unpack-dependencies</goal></goals>
            <configuration>
              <includeArtifactIds>${CONFIG_MODULE}</includeArtifactIds>
              <includes>bin/**</includes>
              <outputDirectory>\${loadgate.home}</outputDirectory>
              <markersDirectory>\${project.basedir}/markers</markersDirectory>
            </configuration>
          </execution>
        </executions>
      </plugin>
    </plugins>
  </build>
</project>
`

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
  const tryOut = (home: string): Promise<string> => askVersion(copyIn(home, java, env), ports)
  return copyIn(await installCopy({ list, tryOut }, ports), java, env)
}

async function findInHome(home: string, ports: InstallPorts): Promise<JMeter> {
  const script = join(home, 'bin', 'jmeter')
  if (await exists(script)) return describeScript(script, ports)
  if (await exists(join(home, 'bin', 'ApacheJMeter.jar'))) {
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
  const args = javaArguments(join(home, 'bin', 'ApacheJMeter.jar'), env)
  return { file: java, args, version: JMETER_VERSION, origin: home }
}

/** What a JVM should know of the node that it runs on. */
export interface JvmPlace {
  /** What it may use, if there is a limit. */
  readonly memoryBytes?: number | undefined
  /** A home of its own, if it has one. */
  readonly home?: string | undefined
}

/** The options of the JVM, with those that users give in its environment, and the jar. */
export function javaArguments(
  jar: string,
  env: NodeJS.ProcessEnv,
  { memoryBytes, home }: JvmPlace = {}
): string[] {
  const size = heapSize(memoryBytes)
  const heap = `-Xms${size} -Xmx${size} -XX:MaxMetaspaceSize=256m`
  return [...JVM_OPTIONS, ...jvmOptions(env, { heap, home }), '-jar', jar]
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

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false
  )
}

/** The folder with the installed copies, for caching. */
const JMETER_CACHE = 'loadgate-jmeter'

const WHAT = `JMeter ${JMETER_VERSION}`
const CONFIG_JAR = `${CONFIG_MODULE}-${JMETER_VERSION}.jar`

export interface CopyRequest {
  readonly list: JarList
  /** Throws unless the copy in this folder runs. */
  readonly tryOut: (home: string) => Promise<unknown>
}

/** Returns the folder of the cached copy of JMeter, which Maven installs if there is none. */
function installCopy(request: CopyRequest, ports: InstallPorts): Promise<string> {
  const cache = cacheFolder(JMETER_CACHE, ports.env)
  const name = `${JMETER_VERSION}-r${INSTALL_REVISION}`
  const install = async (draft: Draft): Promise<void> => {
    const maven = await requireMaven(ports)
    ports.log(`Installing ${WHAT} with Maven into ${join(cache, name)}, once`)
    await fetchAll(maven, { draft, list: request.list }, ports)
    await request.tryOut(draft.home)
  }
  const jars = jarHashes(withoutConfig(request.list), placeOf)
  return installOnce({ what: WHAT, cache, name, jars, install }, ports)
}

async function requireMaven({ env }: InstallPorts): Promise<string> {
  const maven = await findOnPath('mvn', env)
  if (maven !== undefined) return maven
  throw new ToolError(
    'JMeter was not found (JMETER_HOME, or jmeter on the PATH), and installing it needs Maven: install Maven or JMeter'
  )
}

/** The quick way; if this Maven cannot go it, the way of any build, which takes ten times as long. */
async function fetchAll(
  maven: string,
  { draft, list }: { draft: Draft; list: JarList },
  ports: InstallPorts
): Promise<void> {
  const jars = join(draft.work, 'jars')
  await mkdir(jars, { recursive: true })
  try {
    await fetchJars({ what: WHAT, list, to: jars, work: draft.work, maven }, ports)
    await unpackJar(join(jars, CONFIG_JAR), 'bin/', draft.home)
  } catch (thrown) {
    // Whatever else is wrong, such as no network, is wrong for the other way too.
    if (!(thrown instanceof ExtensionError)) throw thrown
    ports.log(
      `${thrown.message.split('\n', 1)[0] ?? ''}; trying again as a build, which may take a few minutes`
    )
    await fetchByPom({ maven, jars, home: draft.home, work: draft.work }, ports)
    await checkJars(WHAT, jars, withoutConfig(list))
  }
  await arrange(jars, draft.home, withoutConfig(list))
}

/** Its files are unpacked, and JMeter does not need the jar. */
function withoutConfig(list: JarList): JarList {
  return { ...list, jars: list.jars.filter((line) => readJar(line).fileName !== CONFIG_JAR) }
}

/** Moves the jars to where JMeter expects them. */
async function arrange(jars: string, home: string, list: JarList): Promise<void> {
  for (const dir of ['bin', 'lib/ext', 'lib/junit']) await mkdir(join(home, dir), { recursive: true })
  for (const { fileName } of list.jars.map(readJar))
    await rename(join(jars, fileName), join(home, placeOf(fileName)))
}

function placeOf(jar: string): string {
  if (jar === `ApacheJMeter-${JMETER_VERSION}.jar`) return 'bin/ApacheJMeter.jar'
  return `${jar.startsWith('ApacheJMeter_') ? 'lib/ext' : 'lib'}/${jar}`
}

export interface PomRequest {
  readonly maven: string
  /** Where the jars go. */
  readonly jars: string
  /** Its `bin` gets the configuration. */
  readonly home: string
  /** For files that are needed meanwhile. */
  readonly work: string
}

/** Lets Maven download JMeter as the dependencies of a project: any Maven can, but it reads some 400 POMs for it. */
export async function fetchByPom(
  { maven, jars, home, work }: PomRequest,
  ports: InstallPorts
): Promise<void> {
  const project = await mkdtemp(join(work, 'maven-'))
  await markProjectRoot(project)
  await writeFile(join(project, 'pom.xml'), JMETER_POM)
  const env = mavenEnvironment(ports.env)
  let downloaded = 0
  const stopProgress = reportProgress(
    ports,
    (seconds) => `Installing JMeter: ${downloaded} files downloaded in ${seconds} s`
  )
  const { code, lines } = await runToEnd(
    {
      file: maven,
      args: ['-B', `-Dloadgate.jars=${jars}`, `-Dloadgate.home=${home}`, 'generate-resources'],
      cwd: project,
      env,
      onLine: (line) => {
        if (line.includes('Downloaded from')) downloaded += 1
      }
    },
    ports
  ).finally(stopProgress)
  ports.signal.throwIfAborted()
  if (code === 0) return
  const why = wordsOf(lines, MAVEN_ERRORS, env).join('\n') || `it exited with ${code}`
  throw new ToolError(`Maven could not download JMeter: ${why}`)
}
