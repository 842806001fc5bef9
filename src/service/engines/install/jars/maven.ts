import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../../errors.js'
import { mavenEnvironment } from '../../tool-environment.js'
import { type InstallPorts, runToEnd, findOnPath, packageFile } from '../run-to-end.js'
import { reportProgress, asSentence, redactWords, wordsOf } from '../tool-words.js'

export interface MavenRequest {
  readonly what: string
  readonly maven: string
  readonly coordinates: readonly string[]
  /** Where the files go; exists. */
  readonly to: string
  /** For files that are needed meanwhile; exists. */
  readonly work: string
  readonly localRepository?: string
}

/** The extension runs in a project and needs nothing of it. */
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
  // -U: what Maven once did not find, it would not look for again until tomorrow.
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
