import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ToolError } from '../../../errors.js'
import type { InstallPorts } from '../install-ports.js'
import { type Jar, type JarList, readJar } from './jar-list.js'
import { fetchByMaven, type MavenRequest } from './maven.js'

export interface JarRequest extends Omit<MavenRequest, 'coordinates' | 'localRepository'> {
  readonly list: JarList
}

interface BrokenJar {
  readonly jar: Jar
  /** Undefined if there is no file. */
  readonly sha256: string | undefined
}

/** Enough of a hash to compare it with another one. */
const SHOWN_DIGITS = 12

/** Downloads the jars of a list with Maven; returns when each one has the bytes that the list names. */
export async function fetchJars(request: JarRequest, ports: InstallPorts): Promise<void> {
  const jars = request.list.jars.map(readJar)
  await fetchByMaven({ ...request, coordinates: jars.map(({ coordinates }) => coordinates) }, ports)
  const broken = await findBroken(request.to, jars)
  if (broken.length === 0) return
  // Maven uses what its local repository has without another look, so that a broken file would stay there for ever.
  ports.log(`Downloading again, past Maven's local repository, because ${describe(broken)}`)
  const localRepository = await mkdtemp(join(request.work, 'repository-'))
  const coordinates = broken.map(({ jar }) => jar.coordinates)
  await fetchByMaven({ ...request, coordinates, localRepository }, ports)
  await checkJars(request.what, request.to, request.list)
}

/** Throws unless a folder has every jar of the list, with the bytes that it names. */
export async function checkJars(what: string, folder: string, list: JarList): Promise<void> {
  const broken = await findBroken(folder, list.jars.map(readJar))
  if (broken.length === 0) return
  throw new ToolError(
    `${what} was not installed, because Maven's repository or mirror serves something else than the release: check the mirrors in Maven's settings, and what they answer for ${broken[0]?.jar.repositoryFolder ?? ''} (${describe(broken)})`
  )
}

async function findBroken(folder: string, jars: readonly Jar[]): Promise<BrokenJar[]> {
  const found: BrokenJar[] = []
  for (const jar of jars) {
    const sha256 = await hashFile(join(folder, jar.fileName))
    if (sha256 !== jar.sha256) found.push({ jar, sha256 })
  }
  return found
}

async function hashFile(file: string): Promise<string | undefined> {
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(file), hash)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  }
  return hash.digest('hex')
}

/** One example: a mirror that answers garbage answers it for all. */
function describe([first, ...others]: readonly BrokenJar[]): string {
  if (first === undefined) return 'nothing is wrong'
  const { jar, sha256 } = first
  const example =
    sha256 === undefined
      ? `${jar.fileName} is missing`
      : `${jar.fileName} has the SHA-256 ${shorten(sha256)} instead of ${shorten(jar.sha256)}`
  return others.length === 0 ? example : `${example}, and ${others.length} more are missing or wrong`
}

function shorten(sha256: string): string {
  return `${sha256.slice(0, SHOWN_DIGITS)}…`
}
