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
  const instructions = instructionsOf(FILE)
  const user = wordsAfter(instructions, 'USER')
  const env = wordsAfter(instructions, 'ENV').split(/\s+/)
  copyContext(at('context'))
  const environment = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  execFileSync(join(at('context'), 'images/service/build.sh'), [at('root')], {
    env: environment,
    stdio: ['ignore', 'ignore', 'inherit']
  })
  // The base image has it.
  copyFileSync(process.execPath, at('root/usr/local/bin/node'))
  for (const name of ['config', 'data']) mkdirSync(at(name))
  const [uid = 0, gid = 0] = user.split(':').map(Number)
  chownSync(at('data'), uid, gid)
  let containers = 0
  return {
    configDir: at('config'),
    dataDir: at('data'),
    entrypoint: withoutMissing(JSON.parse(wordsAfter(instructions, 'ENTRYPOINT')) as string[]),
    healthcheck: JSON.parse(wordsAfter(instructions, 'HEALTHCHECK').replace(/^.*? CMD /, '')) as string[],
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

function wordsAfter(instructions: readonly string[], name: string): string {
  return instructions.findLast((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? ''
}

/** The files that Docker would see, and no others. */
function copyContext(to: string): void {
  const lines = readFileSync(`${FILE}.dockerignore`, 'utf8').split('\n')
  for (const path of lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1)))
    cpSync(path, join(to, path), { recursive: true, verbatimSymlinks: true })
}

/** Debian's tini may not be on this machine, where process 1 of a container has no orphans to reap. */
function withoutMissing(entrypoint: readonly string[]): readonly string[] {
  const hasTini = spawnSync('tini', ['--version']).error === undefined
  return hasTini ? entrypoint : entrypoint.slice(entrypoint.indexOf('--') + 1)
}
