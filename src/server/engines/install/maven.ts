import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import { mavenEnvironment } from '../tool-environment.js'
import type { InstallPorts } from './install-ports.js'
import { findOnPath } from './on-path.js'
import { packageFile } from './package-file.js'
import { reportProgress } from './progress.js'
import { runToEnd } from './run-to-end.js'

/** The extension did not do its work, for a reason that has nothing to do with the jars: another way may succeed. */
export class ExtensionError extends ToolError {
  override name = 'ExtensionError'
}

export interface MavenRequest {
  /** For people, such as `Gatling 3.15.1`. */
  readonly what: string
  /** Maven's start script. */
  readonly maven: string
  readonly coordinates: readonly string[]
  /** Where the files go; exists. */
  readonly to: string
  /** For files that are needed meanwhile; exists. */
  readonly work: string
  /** A local repository to use instead of the user's. */
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
const DOWNLOADS_AT_ONCE = 16
const SHOWN_LINES = 5

/** Finds Maven for installing `what`. */
export async function requireMaven(ports: Pick<InstallPorts, 'env'>, what: string): Promise<string> {
  const maven = await findOnPath('mvn', ports.env)
  if (maven !== undefined) return maven
  throw new ToolError(
    `${what} is not installed, and installing it needs Maven, but there is no mvn on the PATH: install it (\`apt-get install maven\` on Debian and Ubuntu, \`brew install maven\` on macOS)`
  )
}

/** Lets Maven download files by their coordinates, with the extension in java/fetch: no plugin and no POM is needed for it. */
export async function fetchByMaven(request: MavenRequest, ports: InstallPorts): Promise<void> {
  const { what, coordinates, to, localRepository } = request
  const project = await mkdtemp(join(request.work, 'maven-'))
  const list = join(project, 'coordinates')
  const outcome = join(project, 'outcome')
  await writeFile(join(project, 'pom.xml'), POM)
  await writeFile(list, coordinates.map((each) => `${each}\n`).join(''))
  let downloaded = 0
  const stopProgress = reportProgress(
    ports,
    (seconds) => `Installing ${what}: ${downloaded} of ${coordinates.length} files downloaded in ${seconds} s`
  )
  const { code, lines } = await runToEnd(
    {
      file: request.maven,
      args: [
        // -U: what Maven once did not find, it would not look for again until tomorrow.
        ...['-B', '-U', `-Dmaven.ext.class.path=${packageFile('java/jars/fetch.jar')}`],
        // The first is read by Maven 3.9 and later, the second by those before.
        ...['aether.connector.basic.threads', 'maven.artifact.threads'].map(
          (name) => `-D${name}=${DOWNLOADS_AT_ONCE}`
        ),
        ...[
          `-Dloadgate.fetch.list=${list}`,
          `-Dloadgate.fetch.to=${to}`,
          `-Dloadgate.fetch.outcome=${outcome}`
        ],
        ...(localRepository === undefined ? [] : [`-Dmaven.repo.local=${localRepository}`]),
        'validate'
      ],
      cwd: project,
      env: mavenEnvironment(ports.env),
      onLine: (line) => {
        if (line.includes('Downloaded from')) downloaded += 1
      }
    },
    ports
  ).finally(stopProgress)
  ports.signal.throwIfAborted()
  await judge({ code, lines, outcome, what })
}

interface MavenEnd {
  readonly code: number | null
  readonly lines: readonly string[]
  readonly outcome: string
  readonly what: string
}

async function judge({ code, lines, outcome, what }: MavenEnd): Promise<void> {
  const [kind, ...details] = await readLines(outcome)
  if (kind === 'fetched' && code === 0) return
  if (kind === 'missing') {
    const more = details.length > SHOWN_LINES ? ` and ${details.length - SHOWN_LINES} more` : ''
    throw new ToolError(
      `Maven could not download ${what}: ${details.slice(0, SHOWN_LINES).join('; ')}${more}. Check the network and the proxies and mirrors in Maven's settings`
    )
  }
  if (kind === 'failed')
    throw new ToolError(
      `Maven could not store ${what}: ${details.join('; ')}; free up space, and see that this user may write there`
    )
  const errors = lines.filter((line) => line.startsWith('[ERROR]')).slice(0, SHOWN_LINES)
  const why = errors.join('\n') || lines.slice(-SHOWN_LINES).join('\n')
  throw new ExtensionError(`Maven could not download ${what}: it exited with ${code}: ${why}`)
}

async function readLines(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}
