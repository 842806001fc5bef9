import {
  type ChildProcess,
  type ChildProcessByStdio,
  execFileSync,
  spawn,
  type StdioOptions
} from 'node:child_process'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessGroup } from '../../../contract/records.js'
import type { NodeCommand, NodeExit } from '../load-node.js'
import { attempt } from '../../errors.js'
import { splitLines } from '../../lines.js'
import { findGroupMembers, readProcStat } from '../../proc-stat.js'
import { createMarker, endBelongings, MARKER_VARIABLE } from './leftovers.js'
import { startWatchdog } from './watchdog.js'

export type { ProcessGroup }

export interface ToolCommand extends Pick<
  NodeCommand,
  'file' | 'args' | 'cwd' | 'env' | 'onLine' | 'tempDir' | 'onStart' | 'whenReady'
> {
  /** Another user, and nobody else's at the same time; by default the one of this process. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
}

const TERM_GRACE_MS = 3000
const KILL_GRACE_MS = 2000
const LAST_WORDS_MS = 1000
const LOOK_EVERY_MS = 25
/** Reading all processes takes long where there are thousands. */
const READ_EVERY_MS = 250

interface ProcessEvents {
  /** Before the tool does anything. */
  readonly onStart: (group: ProcessGroup, tempDir?: string) => void
  /** Nothing of it is left. */
  readonly onEnd: (pid: number) => void
  /** Called with a sentence if something of it could not be ended. */
  readonly onLeft?: (words: string) => void
}

/** Starts tools in their own process groups, with a marker in their environment, and tracks those still running. */
export class Processes {
  private readonly running = new Map<number, Promise<NodeExit>>()

  constructor(
    private readonly tell: ProcessEvents,
    private readonly limits: { readonly giveUpAfterMs?: number } = {}
  ) {}

  /** Runs a command without a shell. At its end, or on abort, everything that it has started is ended, wherever it went. */
  async run(command: ToolCommand, signal: AbortSignal): Promise<NodeExit> {
    await command.whenReady?.()
    signal.throwIfAborted()
    const watchdog = startWatchdog(command.tempDir)
    try {
      const marker = createMarker()
      const child = startTool({ ...command, env: { ...command.env, [MARKER_VARIABLE]: marker } })
      for (const stream of [child.stdout, child.stderr]) splitLines(stream, command.onLine)
      const go = child.stdio[3] as Writable
      // It has exited already.
      go.on('error', () => undefined)
      const exit = awaitEvent(child, 'exit')
      if (child.pid === undefined) return await exit
      const { pid } = child
      const uid = command.user && { uid: command.user.uid }
      const group = { pid, startTime: readStartTime(pid) ?? '', marker, ...uid }
      watchdog.watch(group)
      command.onStart?.(pid)
      const done = this.follow(child, group, { exit, signal, tempDir: command.tempDir })
      this.running.set(pid, done)
      go.end('go\n')
      return await done
    } finally {
      watchdog.dismiss()
    }
  }

  async endAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map(endGroup))
    await Promise.allSettled([...this.running.values()])
  }

  private async follow(
    child: ChildProcess,
    group: ProcessGroup,
    ending: { exit: Promise<NodeExit>; signal: AbortSignal; tempDir: string | undefined }
  ): Promise<NodeExit> {
    const { pid } = group
    const end = (): void => void endGroup(pid)
    ending.signal.addEventListener('abort', end, { once: true })
    const close = awaitEvent(child, 'close')
    try {
      this.tell.onStart(group, ending.tempDir)
      return await ending.exit
    } finally {
      // The tool has exited; anything left in its group must not keep running.
      await endGroup(pid)
      const { left } = await endBelongings(group, this.limits.giveUpAfterMs)
      // Wait for the last output in the pipes, but not forever: a descendant that could not be found may hold them open.
      await Promise.race([close, sleep(LAST_WORDS_MS, undefined, { ref: false })])
      child.stdout?.destroy()
      child.stderr?.destroy()
      ending.signal.removeEventListener('abort', end)
      this.running.delete(pid)
      // What is left stays on record for the next start.
      if (left === 0) this.tell.onEnd(pid)
      else this.tell.onLeft?.(describeLeft(child.spawnargs[4] ?? '', group, left))
    }
  }
}

function describeLeft(file: string, { pid }: ProcessGroup, left: number): string {
  return `${left} processes that ${file} (process group ${pid}) has started could not be ended: they start new ones faster than they are killed. The next start tries again; restart the machine if that does not help`
}

/** A file of a tool cannot grow beyond this, in blocks of 512 bytes: 64 GiB. A file with holes would be read for days. */
const MOST_BLOCKS = 64 * 2 ** 21

/** Becomes the tool, with the same pid, when told to: if this process is killed before anybody watches, the pipe ends: no tool starts. */
const WAIT_FOR_GO = `read -r go <&3 || exit 1; exec 3<&-; ulimit -f ${MOST_BLOCKS} 2>/dev/null; unset go PWD OLDPWD SHLVL; exec "$@"`

/**
 * What one user builds, another one reads; the folder around it is closed to strangers. No program makes it another user, where setpriv
 * (of util-linux) is there: by its user a process is found.
 */
const AS_USER = 'umask 022; [ ! -x /usr/bin/setpriv ] || set -- /usr/bin/setpriv --no-new-privs "$@"; '

function startTool({
  file,
  args,
  cwd,
  env,
  user
}: ToolCommand): ChildProcessByStdio<null, Readable, Readable> {
  requireExecutable(file)
  return spawn('/bin/sh', ['-c', user ? `${AS_USER}${WAIT_FOR_GO}` : WAIT_FOR_GO, 'sh', file, ...args], {
    cwd,
    env,
    ...user,
    detached: true,
    shell: false,
    // Piped, never inherited: a tool's output is untrusted, and the runner reads commands from ours.
    stdio: ['ignore', 'pipe', 'pipe', 'pipe']
  }) as ChildProcessByStdio<null, Readable, Readable>
}

/** A shell would only exit with 127 or 126, and in its own words. */
function requireExecutable(file: string): void {
  try {
    accessSync(file, constants.X_OK)
    if (!statSync(file).isFile()) throw Object.assign(new Error(), { code: 'EACCES' })
  } catch (thrown) {
    const { code = 'EACCES' } = thrown as NodeJS.ErrnoException
    throw Object.assign(new Error(`spawn ${file} ${code}`, { cause: thrown }), { code })
  }
}

function awaitEvent(child: ChildProcess, event: 'exit' | 'close'): Promise<NodeExit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once(event, (code: number | null, signal: string | null) => resolve({ code, signal }))
  })
}

/** TERM, a grace period, then KILL, to the whole group. */
async function endGroup(pid: number): Promise<void> {
  if (!isKnown(pid)) return
  // It may exit in the meantime.
  attempt(() => process.kill(-pid, 'SIGTERM'))
  if (await isGoneWithin(pid, TERM_GRACE_MS)) return
  attempt(() => process.kill(-pid, 'SIGKILL'))
  await isGoneWithin(pid, KILL_GRACE_MS)
}

/** Ends a group left behind by an earlier process, once it is certain to be the same, and what has left it. Returns whether there was anything. */
export async function endLeftoverGroup(group: ProcessGroup): Promise<boolean> {
  const isSame = await isSameGroup(group)
  if (isSame) await endGroup(group.pid)
  const { found, left } = await endBelongings(group)
  if (left > 0) throw new Error(`${left} of its processes could not be ended`)
  return isSame || found > 0
}

/** True if the process with this id is the one started at that time. */
export function isSameProcess(group: ProcessGroup): boolean {
  return group.startTime !== '' && readStartTime(group.pid) === group.startTime
}

/** An id is not reused while its group lives: after the leader (a shell script) exits, members still in its session are its children. */
async function isSameGroup(group: ProcessGroup): Promise<boolean> {
  if (group.pid <= 1 || group.startTime === '') return false
  const leaderStart = readStartTime(group.pid)
  if (leaderStart !== undefined) return leaderStart === group.startTime
  const [boot, ticks] = group.startTime.split('/')
  const members = process.platform === 'linux' ? await findGroupMembers(group.pid) : []
  const children = members.filter((member) => member.session === group.pid)
  return children.some((child) => child.startTicks >= Number(ticks)) && boot === bootId()
}

async function isGoneWithin(pid: number, patienceMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs
  let readAtMs = -Infinity
  while (isKnown(pid)) {
    if (performance.now() >= readAtMs) {
      if (!(await hasMembers(pid))) return true
      readAtMs = performance.now() + READ_EVERY_MS
    }
    if (performance.now() > deadlineMs) return false
    await sleep(LOOK_EVERY_MS)
  }
  return true
}

/** Whether the system knows a group of this id, which may be zombies only: where nobody reaps orphans (many containers), they stay. */
function isKnown(groupId: number): boolean {
  return attempt(() => process.kill(-groupId, 0)) !== undefined
}

async function hasMembers(groupId: number): Promise<boolean> {
  return process.platform !== 'linux' || (await findGroupMembers(groupId)).length > 0
}

/** Changes with every boot; Linux only. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}

/** A process's start time, for comparison only; undefined if there is no such process. */
export function readStartTime(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readProcStat(pid)
    return stat && !stat.hasEnded ? `${bootId()}/${stat.startTicks}` : undefined
  }
  // Another process may compare it, so it must not depend on this one's language or time zone.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
  const args = ['-o', 'lstart=', '-p', String(pid)]
  const started = attempt(() => execFileSync('ps', args, { encoding: 'utf8', env, stdio }).trim())
  return started === '' ? undefined : started
}
