import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { resolve } from 'node:path'
import { NODE_COMPILE_CACHE } from '../support/compile-cache.js'

export const CLI = resolve('dist/cli/index.js')
/** Node 24 unless another one is to be tried. */
export const NODE = process.env.LOADGATE_BUNDLE_NODE ?? process.execPath

const hasJava = spawnSync('java', ['-version']).status === 0
/** Where JMeter is required, a test that lacks it fails instead. */
export const lacksJMeter = !hasJava && process.env.LOADGATE_REQUIRE_JMETER === undefined
export const jmeterNote = lacksJMeter ? ' (skipped: there is no java on the path)' : ''
/** A machine without JMeter installs it first. */
export const INSTALL_MS = 15 * 60_000

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface Command {
  readonly child: ChildProcess
  readonly ended: Promise<Ended>
  /** Standard output and error so far, as they came. */
  text(): string
  /** Resolves with the match once the text holds it. */
  shows(pattern: RegExp): Promise<RegExpExecArray>
}

export interface Around {
  readonly cwd: string
  readonly env?: Record<string, string>
  readonly node?: string
  readonly cli?: string
}

/** `serve` needs a Node that has SQLite, as the one of these tests; its gates run on the one that is tried. */
function nodeFor([name]: readonly string[]): string {
  return name === 'serve' ? process.execPath : NODE
}

/** Starts the bundle of the command line as a process, with hardly anything of this one's environment. */
export function startCommand(
  args: readonly string[],
  { cwd, env = {}, node = nodeFor(args), cli = CLI }: Around
): Command {
  return follow(
    spawn(node, [cli, ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE,
        HOME: process.env.HOME,
        TMPDIR: process.env.TMPDIR,
        XDG_STATE_HOME: process.env.XDG_STATE_HOME,
        ...env
      }
    })
  )
}

export function runCommand(args: readonly string[], around: Around): Promise<Ended> {
  return startCommand(args, around).ended
}

/** Collects what a process says until its end. */
export function follow(child: ChildProcess): Command {
  let out = ''
  let err = ''
  let all = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString()
    all += chunk.toString()
  })
  child.stderr?.on('data', (chunk: Buffer) => {
    err += chunk.toString()
    all += chunk.toString()
  })
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, out, err })))
  const shows = async (pattern: RegExp): Promise<RegExpExecArray> => {
    for (;;) {
      const found = pattern.exec(all)
      if (found) return found
      if (child.exitCode !== null) throw new Error(`it ended without showing ${String(pattern)}:\n${all}`)
      await pause()
    }
  }
  return { child, ended, text: () => all, shows }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // The dead that nobody has reaped yet are still in the list.
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)])
    .stdout.toString()
    .trim()
  return state !== '' && !state.startsWith('Z')
}

/** Ends what a test that failed has left. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
}

export async function until(holds: () => boolean): Promise<void> {
  const deadlineMs = Date.now() + 60_000
  while (!holds()) {
    if (Date.now() > deadlineMs) throw new Error('it never came to pass')
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
