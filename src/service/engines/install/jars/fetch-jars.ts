import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdtemp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'
import { ToolError } from '../../../errors.js'
import type { InstallPorts } from '../run-to-end.js'
import { cacheFolder, installOnce } from '../install-once.js'
import { type Jar, type JarList, readJar, fingerprint, jarHashes } from './jar-list.js'
import { fetchByMaven, type MavenRequest, requireMaven } from './maven.js'

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

/** The folder with all installed lists and packages. */
export const TOOLS_CACHE = 'loadgate-tools'

/** Returns a folder with exactly the jars of a list, which are downloaded if they are not there yet. */
export function installJars(list: JarList, ports: InstallPorts): Promise<string> {
  const what = list.name
  return installOnce(
    {
      what,
      cache: cacheFolder(TOOLS_CACHE, ports.env),
      name: `${list.name}-${fingerprint(list.jars)}`,
      jars: jarHashes(list),
      install: async ({ home, work }) => {
        const maven = await requireMaven(ports, what)
        ports.log(`Installing ${what} with Maven, once`)
        await fetchJars({ what, list, to: home, work, maven }, ports)
      }
    },
    ports
  )
}

const END_OF_DIRECTORY = 0x06054b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const DEFLATED = 8

interface Entry {
  readonly name: string
  readonly method: number
  readonly size: number
  readonly offset: number
}

/**
 * Unpacks the files of a jar whose paths start with a prefix, as a JRE has no command for it. Only for jars whose hash was
 * checked: it trusts what they say about themselves.
 */
export async function unpackJar(file: string, prefix: string, to: string): Promise<void> {
  const jar = await readFile(file)
  const files = readDirectory(jar).filter(({ name }) => name.startsWith(prefix) && !name.endsWith('/'))
  for (const entry of files) {
    const target = join(to, entry.name)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, await readEntry(jar, entry))
  }
}

function readDirectory(jar: Buffer): Entry[] {
  const end = jar.subarray(-END_BYTES)
  if (end.length < END_BYTES || end.readUInt32LE(0) !== END_OF_DIRECTORY)
    throw new Error('this is not a jar, or one with a comment')
  const entries: Entry[] = []
  let at = end.readUInt32LE(16)
  for (let left = end.readUInt16LE(10); left > 0; left--) {
    const nameBytes = jar.readUInt16LE(at + 28)
    entries.push({
      name: jar.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method: jar.readUInt16LE(at + 10),
      size: jar.readUInt32LE(at + 20),
      offset: jar.readUInt32LE(at + 42)
    })
    at += ENTRY_BYTES + nameBytes + jar.readUInt16LE(at + 30) + jar.readUInt16LE(at + 32)
  }
  return entries
}

async function readEntry(jar: Buffer, { method, size, offset }: Entry): Promise<Buffer> {
  // The local header has extra fields of its own.
  const start = offset + LOCAL_BYTES + jar.readUInt16LE(offset + 26) + jar.readUInt16LE(offset + 28)
  const bytes = jar.subarray(start, start + size)
  return method === DEFLATED ? promisify(inflateRaw)(bytes) : bytes
}
