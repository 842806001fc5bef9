import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Command, follow } from '../../e2e/cli-command.js'

const FILE = 'images/service/Dockerfile'
const SCRIPT = resolve('__tests__/support/tools/in-image.sh')
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Whether this machine can stand in for a container. */
export const canRunImages =
  process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0

/** The image of the service, made by the steps of its Dockerfile, but in a folder. */
export interface ServiceImage {
  /** /etc/loadgate of its containers; read-only there. */
  readonly configDir: string
  /** /var/lib/loadgate of its containers. */
  readonly dataDir: string
  readonly entrypoint: readonly string[]
  /** The command of its health check. */
  readonly healthcheck: readonly string[]
  /** Starts a command in a container of its own; they share the data folder and the network. */
  start(command: readonly string[]): Command
  remove(): void
}

export function buildServiceImage(): ServiceImage {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-image-'))
  const at = (name: string): string => join(folder, name)
  const { user, env, entrypoint, healthcheck } = SERVICE_DOCKERFILE
  buildServiceTree(at('context'), at('root'))
  for (const name of ['config', 'data']) mkdirSync(at(name))
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  chownSync(at('data'), uid, gid)
  let containers = 0
  return {
    configDir: at('config'),
    dataDir: at('data'),
    entrypoint: withoutMissing(entrypoint),
    healthcheck,
    start: (command) => {
      const place = at(`container-${++containers}`)
      mkdirSync(place)
      const container = [SCRIPT, place, at('root'), at('data'), at('config'), user]
      return follow(
        spawn(
          'unshare',
          [
            ...['--mount', '--pid', '--fork', '--kill-child', ...container],
            ...['env', '-i', '-C', '/var/lib/loadgate', `PATH=${PATH}`, ...env, ...command]
          ],
          { stdio: ['ignore', 'pipe', 'pipe'] }
        )
      )
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}

/** What the image has beyond its base, and Node, which the base has. The context is what Docker would see. */
export function buildServiceTree(context: string, root: string): void {
  for (const path of serviceContext())
    cpSync(path, join(context, path), { recursive: true, verbatimSymlinks: true })
  execFileSync(join(context, 'images/service/build.sh'), [root], {
    env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
}

/** The files that Docker would see, and no others. */
export function serviceContext(): string[] {
  const lines = readFileSync(`${FILE}.dockerignore`, 'utf8').split('\n')
  return lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
}

/** Sends a signal to process 1 of a container, as Docker and Kubernetes do. */
export function signalContainer({ child }: Command, signal: NodeJS.Signals): void {
  const pid = String(child.pid)
  const first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]
  process.kill(Number(first), signal)
}

/** Instructions with their continuation lines, without comments. */
export function instructionsOf(file: string): string[] {
  const lines = readFileSync(file, 'utf8').replace(/^#.*\n/gm, '')
  return lines
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
}

export const SERVICE_DOCKERFILE = readDockerfile(instructionsOf(FILE))

function readDockerfile(instructions: readonly string[]): {
  readonly user: string
  readonly env: readonly string[]
  readonly entrypoint: readonly string[]
  readonly healthcheck: readonly string[]
  /** Of Debian, in the stage that the image starts from. */
  readonly packages: readonly string[]
  /** The last command that makes the image. */
  readonly run: string
} {
  const wordsAfter = (name: string): string =>
    instructions.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
  const install = instructions.find((line) => line.includes('apt-get install')) ?? ''
  return {
    user: wordsAfter('USER'),
    env: wordsAfter('ENV').split(/\s+/),
    entrypoint: JSON.parse(wordsAfter('ENTRYPOINT')) as string[],
    healthcheck: JSON.parse(wordsAfter('HEALTHCHECK').replace(/^.*? CMD /, '')) as string[],
    packages: /--no-install-recommends\s+([^&]*)/.exec(install)?.[1]?.trim().split(/\s+/) ?? [],
    run: wordsAfter('RUN')
  }
}

/** Debian's tini may not be on this machine, where process 1 of a container has no orphans to reap. */
function withoutMissing(entrypoint: readonly string[]): readonly string[] {
  const hasTini = spawnSync('tini', ['--version']).error === undefined
  return hasTini ? entrypoint : entrypoint.slice(entrypoint.indexOf('--') + 1)
}
