import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import { cacheFolder } from '../install/cache-folder.js'
import { checkJars, fetchJars } from '../install/jars/fetch-jars.js'
import { type Draft, installOnce } from '../install/install-once.js'
import type { InstallPorts } from '../install/install-ports.js'
import { jarHashes, type JarList, readJar } from '../install/jars/jar-list.js'
import { ExtensionError } from '../install/jars/maven.js'
import { findOnPath } from '../install/on-path.js'
import { unpackJar } from '../install/jars/unpack-jar.js'
import { fetchByPom } from './fetch-by-pom.js'
import { CONFIG_MODULE, INSTALL_REVISION, JMETER_VERSION } from './pom.js'

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
export function installCopy(request: CopyRequest, ports: InstallPorts): Promise<string> {
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
