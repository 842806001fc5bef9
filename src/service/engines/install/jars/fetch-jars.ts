import { mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { makeFolder } from '../../../../contract/files.js'
import { ToolError } from '../../../errors.js'
import type { InstallPorts } from '../run-to-end.js'
import { cacheFolder, type Draft, hashFile, installOnce } from '../install-once.js'
import { type Jar, type JarList, readJar, fingerprint } from './jar-list.js'
import { fetchByMaven, type MavenRequest, requireMaven } from './maven.js'

interface JarRequest extends Omit<MavenRequest, 'coordinates' | 'localRepository'> {
  readonly list: JarList
}

interface BrokenJar {
  readonly jar: Jar
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
  const stillBroken = await findBroken(request.to, jars)
  if (stillBroken.length === 0) return
  throw new ToolError(
    `${request.what} was not installed, because Maven's repository or mirror serves something else than the release: check the mirrors in Maven's settings, and what they answer for ${stillBroken[0]?.jar.repositoryFolder ?? ''} (${describe(stillBroken)})`
  )
}

async function findBroken(folder: string, jars: readonly Jar[]): Promise<BrokenJar[]> {
  const found: BrokenJar[] = []
  for (const jar of jars) {
    const sha256 = await hashFile(join(folder, jar.fileName)).catch(() => undefined)
    if (sha256 !== jar.sha256) found.push({ jar, sha256 })
  }
  return found
}

/** One example: a mirror that answers garbage answers it for all. */
function describe([first, ...others]: readonly BrokenJar[]): string {
  if (first === undefined) return 'nothing is wrong'
  const { jar, sha256 } = first
  const shorten = (hash: string): string => `${hash.slice(0, SHOWN_DIGITS)}…`
  const wrong = sha256 && `has the SHA-256 ${shorten(sha256)} instead of ${shorten(jar.sha256)}`
  const example = `${jar.fileName} ${wrong ?? 'is missing'}`
  return others.length === 0 ? example : `${example}, and ${others.length} more are missing or wrong`
}

/** The folder with all installed lists and packages. */
export const TOOLS_CACHE = 'loadgate-tools'

/** How a tool's jars become its installation, where they do not just lie side by side. */
interface Layout {
  readonly what: string
  readonly cache: string
  readonly name: string
  /** The path of a jar in the installation. */
  readonly placeOf: (fileName: string) => string
  /** A jar that is unpacked, and not kept; and the folder of it that is needed. */
  readonly unpacked: { readonly jar: string; readonly folder: string }
  /** Throws unless the copy in this folder runs. */
  readonly tryOut: (home: string) => Promise<unknown>
}

/** Returns a folder with exactly the jars of a list, which are downloaded if they are not there yet. */
export function installJars(list: JarList, ports: InstallPorts, layout?: Layout): Promise<string> {
  const what = layout?.what ?? list.name
  const name = layout?.name ?? `${list.name}-${fingerprint(list.jars)}`
  const cache = cacheFolder(layout?.cache ?? TOOLS_CACHE, ports.env)
  const placeOf = layout?.placeOf ?? String
  const kept = list.jars.map(readJar).filter(({ fileName }) => fileName !== layout?.unpacked.jar)
  const jars = new Map(kept.map(({ fileName, sha256 }) => [placeOf(fileName), sha256]))
  const install = async ({ home, work }: Draft): Promise<void> => {
    const maven = await requireMaven(ports, what)
    ports.log(`Installing ${what} with Maven${layout ? ` into ${join(cache, name)}` : ''}, once`)
    const to = layout ? await mkdtemp(join(work, 'jars-')) : home
    await fetchJars({ what, list, to, work, maven }, ports)
    if (layout === undefined) return
    await unpackJar(join(to, layout.unpacked.jar), layout.unpacked.folder, home)
    for (const { fileName } of kept) {
      makeFolder(join(home, dirname(placeOf(fileName))))
      await rename(join(to, fileName), join(home, placeOf(fileName)))
    }
    await layout.tryOut(home)
  }
  return installOnce({ what, cache, name, jars, install }, ports)
}

const END_OF_DIRECTORY = 0x06054b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const DEFLATED = 8

/** Unpacks the files below a folder of a jar whose hash was checked: it trusts the jar. By hand, for images install tools where no package of npm is. */
async function unpackJar(file: string, prefix: string, to: string): Promise<void> {
  const jar = await readFile(file)
  const end = jar.subarray(-END_BYTES)
  if (end.length < END_BYTES || end.readUInt32LE(0) !== END_OF_DIRECTORY)
    throw new Error('this is not a jar, or one with a comment')
  let at = end.readUInt32LE(16)
  for (let left = end.readUInt16LE(10); left > 0; left--) {
    const nameBytes = jar.readUInt16LE(at + 28)
    const name = jar.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes)
    if (name.startsWith(prefix) && !name.endsWith('/')) {
      makeFolder(join(to, dirname(name)))
      await writeFile(join(to, name), readEntry(jar, at))
    }
    at += ENTRY_BYTES + nameBytes + jar.readUInt16LE(at + 30) + jar.readUInt16LE(at + 32)
  }
}

function readEntry(jar: Buffer, at: number): Buffer {
  const offset = jar.readUInt32LE(at + 42)
  // The local header has extra fields of its own.
  const start = offset + LOCAL_BYTES + jar.readUInt16LE(offset + 26) + jar.readUInt16LE(offset + 28)
  const bytes = jar.subarray(start, start + jar.readUInt32LE(at + 20))
  return jar.readUInt16LE(at + 10) === DEFLATED ? inflateRawSync(bytes) : bytes
}
