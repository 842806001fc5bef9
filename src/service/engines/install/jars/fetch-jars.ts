import { mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { makeFolder } from '../../../../contract/files.js'
import { ToolError } from '../../../errors.js'
import { mavenEnvironment } from '../../tool-environment.js'
import { type InstallPorts, runToEnd, findOnPath, packageFile } from '../run-to-end.js'
import { cacheFolder, type Draft, hashFile, installOnce } from '../install-once.js'
import { type Jar, type JarList, readJar, fingerprint } from './jar-list.js'
import { reportProgress, asSentence, redactWords, wordsOf } from '../tool-words.js'

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
  // Maven does not check what its local repository has, so a broken file would stay there forever.
  ports.log(`Downloading again, past Maven's local repository, because ${describe(broken)}`)
  const localRepository = await mkdtemp(join(request.work, 'repository-'))
  const coordinates = broken.map(({ jar }) => jar.coordinates)
  await fetchByMaven({ ...request, coordinates, localRepository }, ports)
  const stillBroken = await findBroken(request.to, jars)
  if (stillBroken.length === 0) return
  throw new ToolError(
    `${request.what} was not installed, because Maven's repository or mirror serves something other than the release: check the mirrors in Maven's settings, and what they answer for ${stillBroken[0]?.jar.repositoryFolder ?? ''} (${describe(stillBroken)})`
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

export const TOOLS_CACHE = 'loadgate-tools'

/** How a tool's jars become its installation, if they are not just side by side in one folder. */
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

/** Unpacks a folder of a jar, which it trusts: its hash was checked. By hand, as images install tools where there is no npm package. */
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

interface MavenRequest {
  readonly what: string
  readonly maven: string
  readonly coordinates: readonly string[]
  /** Where the files go; exists. */
  readonly to: string
  /** For files that are needed meanwhile; exists. */
  readonly work: string
  readonly localRepository?: string
}

/** The extension needs a project to run in, and nothing from it. */
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>loadgate</groupId>
  <artifactId>fetch</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
</project>
`
/** Files of the project: what to fetch, and what the extension says. */
const LIST = 'coordinates'
const OUTCOME = 'outcome'
const DOWNLOADS_AT_ONCE = 16
const SHOWN_LINES = 5
/** The place in a broken file is in a fatal line, after general ones. */
const MAVEN_ERRORS = [/^\[FATAL\]/, /^\[ERROR\]/]
/** Wrong for any way of downloading. */
const BROKEN_SETTINGS = /effective settings|Non-(?:parseable|readable) settings/i

export async function requireMaven(ports: Pick<InstallPorts, 'env'>, what: string): Promise<string> {
  const maven = await findOnPath('mvn', ports.env)
  if (maven !== undefined) return maven
  throw new ToolError(
    `${what} is not installed, and installing it needs Maven, but there is no mvn on the PATH: install it (\`apt-get install maven\` on Debian and Ubuntu, \`brew install maven\` on macOS)`
  )
}

/** Lets Maven download files by their coordinates, with the extension in java/fetch: no plugin and no POM is needed for it. */
export async function fetchByMaven(request: MavenRequest, ports: InstallPorts): Promise<void> {
  const { what, maven, work, coordinates } = request
  const cwd = await mkdtemp(join(work, 'maven-'))
  // Maven takes options from the next `.mvn` above the project, and the cache may lie in somebody's project.
  await mkdir(join(cwd, '.mvn'))
  await writeFile(join(cwd, 'pom.xml'), POM)
  await writeFile(join(cwd, LIST), coordinates.map((each) => `${each}\n`).join(''))
  let downloaded = 0
  const stopProgress = reportProgress(
    ports,
    (seconds) => `Installing ${what}: ${downloaded} of ${coordinates.length} files downloaded in ${seconds} s`
  )
  const onLine = (line: string): void => {
    if (line.includes('Downloaded from')) downloaded += 1
  }
  const env = mavenEnvironment(ports.env)
  const args = mavenArguments(request, cwd)
  const exit = await runToEnd({ file: maven, args, cwd, env, onLine }, ports).finally(stopProgress)
  ports.signal.throwIfAborted()
  const outcome = await readFile(join(cwd, OUTCOME), 'utf8').catch(() => '')
  judge(what, { ...exit, outcome: outcome.split('\n').filter(Boolean) }, env)
}

function mavenArguments({ to, localRepository }: MavenRequest, project: string): string[] {
  const properties = {
    'maven.ext.class.path': packageFile('java/jars/fetch.jar'),
    'loadgate.fetch.list': join(project, LIST),
    'loadgate.fetch.to': to,
    'loadgate.fetch.outcome': join(project, OUTCOME),
    // The name before Maven 3.9, and the one since.
    'maven.artifact.threads': String(DOWNLOADS_AT_ONCE),
    'aether.connector.basic.threads': String(DOWNLOADS_AT_ONCE),
    ...(localRepository === undefined ? {} : { 'maven.repo.local': localRepository })
  }
  const options = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`)
  // -U: otherwise Maven would not look again before tomorrow for what it once did not find.
  return ['-B', '-U', ...options, 'validate']
}

function judge(
  what: string,
  { code, lines, outcome }: { code: number | null; lines: readonly string[]; outcome: readonly string[] },
  env: NodeJS.ProcessEnv
): void {
  // The extension wrote one word, then one line for each artifact.
  const [kind, ...details] = outcome.map((line) => redactWords(line, env))
  if (kind === 'fetched' && code === 0) return
  if (kind === 'missing' || kind === 'failed') {
    const more = details.length > SHOWN_LINES ? ` and ${details.length - SHOWN_LINES} more` : ''
    const words = `${details.slice(0, SHOWN_LINES).join('; ')}${more}`
    const happened =
      kind === 'missing'
        ? `Maven could not download ${what}`
        : `Maven downloaded ${what}, but its files could not be copied`
    throw new ToolError(`${happened}: ${asSentence(words)} ${adviceFor(kind, words)}`)
  }
  const words = wordsOf(lines, MAVEN_ERRORS, env)
  const why = words.length > 0 ? `: ${words.join('\n')}` : ''
  const message = `Maven could not download ${what}: it exited with ${code}${why}`
  throw new ToolError(BROKEN_SETTINGS.test(why) ? `${asSentence(message)} Correct Maven's settings` : message)
}

function adviceFor(kind: 'missing' | 'failed', words: string): string {
  if (words.includes('No space left on device')) return 'The disk is full: free up space'
  if (kind === 'failed') return 'Check the disk, and that this user may write there'
  if (words.includes('offline mode'))
    return "Maven's settings or options say that it is offline: allow it to download"
  return "Check the network, and the proxies and mirrors in Maven's settings"
}
