import {
  type ChildProcess,
  type ChildProcessByStdio,
  execFileSync,
  spawn,
  type StdioOptions
} from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { splitLines } from './lines.js'
import { startWatchdog } from './watchdog.js'

/** A process group that can be told from a later one with the same number. */
export interface ProcessGroup {
  readonly pid: number
  readonly startTime: string
}

export interface ToolCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly onLine: (line: string) => void
}

export interface ToolExit {
  readonly code: number | null
  readonly signal: string | null
}

const TERM_GRACE_MS = 3000
const KILL_GRACE_MS = 2000
const LAST_WORDS_MS = 1000
const LOOK_EVERY_MS = 25

/** Starts tools in process groups of their own, and knows those that are still there. */
export class Processes {
  private readonly running = new Map<number, Promise<ToolExit>>()

  constructor(
    private readonly tell: { onStart: (group: ProcessGroup) => void; onEnd: (pid: number) => void }
  ) {}

  /** Runs a command without a shell to its end; on abort its whole group is ended, children of children too. */
  async run(command: ToolCommand, signal: AbortSignal): Promise<ToolExit> {
    signal.throwIfAborted()
    const watchdog = startWatchdog()
    try {
      const child = startTool(command)
      for (const stream of [child.stdout, child.stderr]) splitLines(stream, command.onLine)
      const exit = awaitEvent(child, 'exit')
      if (child.pid === undefined) return await exit
      watchdog.watch(child.pid)
      const done = this.follow(child, child.pid, { exit, signal })
      this.running.set(child.pid, done)
      return await done
    } finally {
      watchdog.dismiss()
    }
  }

  /** Ends everything that is still running. */
  async endAll(): Promise<void> {
    await Promise.all([...this.running.keys()].map(endGroup))
    await Promise.allSettled([...this.running.values()])
  }

  private async follow(
    child: ChildProcess,
    pid: number,
    ending: { exit: Promise<ToolExit>; signal: AbortSignal }
  ): Promise<ToolExit> {
    const end = (): void => void endGroup(pid)
    ending.signal.addEventListener('abort', end, { once: true })
    const close = awaitEvent(child, 'close')
    try {
      this.tell.onStart({ pid, startTime: readStartTime(pid) ?? '' })
      return await ending.exit
    } finally {
      // The tool itself is gone; what it left behind in its group must not go on.
      await endGroup(pid)
      // The last words are in the pipes. A descendant that left the group may hold them open for ever: not waited for.
      await Promise.race([close, sleep(LAST_WORDS_MS, undefined, { ref: false })])
      child.stdout?.destroy()
      child.stderr?.destroy()
      ending.signal.removeEventListener('abort', end)
      this.running.delete(pid)
      this.tell.onEnd(pid)
    }
  }
}

function startTool({ file, args, cwd, env }: ToolCommand): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(file, args, {
    cwd,
    env,
    detached: true,
    shell: false,
    // Piped, never inherited: a tool's output is foreign text, and the runner reads commands from ours.
    stdio: ['ignore', 'pipe', 'pipe']
  })
}

function awaitEvent(child: ChildProcess, event: 'exit' | 'close'): Promise<ToolExit> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once(event, (code: number | null, signal: string | null) => resolve({ code, signal }))
  })
}

/** TERM, a little patience, then KILL, to the whole group. */
export async function endGroup(pid: number): Promise<void> {
  if (!isGroupAlive(pid)) return
  signalGroup(pid, 'SIGTERM')
  if (await isGoneWithin(pid, TERM_GRACE_MS)) return
  signalGroup(pid, 'SIGKILL')
  await isGoneWithin(pid, KILL_GRACE_MS)
}

/** Ends a group that an earlier process left behind, once it is sure that it is the same. Answers whether it was. */
export async function endLeftoverGroup(group: ProcessGroup): Promise<boolean> {
  if (!isSameGroup(group)) return false
  await endGroup(group.pid)
  return true
}

/** True when the process with this number is the one that was started at that time. */
export function isSameProcess(group: ProcessGroup): boolean {
  return group.startTime !== '' && readStartTime(group.pid) === group.startTime
}

/**
 * A number is not given out again while a group carries it. So when the leader has gone, members whose session is
 * still the leader's are its own children: a tool's shell script may die before the java that it started.
 */
function isSameGroup(group: ProcessGroup): boolean {
  if (group.pid <= 1 || group.startTime === '') return false
  const leaderStart = readStartTime(group.pid)
  if (leaderStart !== undefined) return leaderStart === group.startTime
  const [boot, ticks] = group.startTime.split('/')
  const children = groupMembers(group.pid).filter((member) => member.session === group.pid)
  return children.some((child) => child.startTicks >= Number(ticks)) && boot === bootId()
}

function signalGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It ended by itself in the meantime.
  }
}

async function isGoneWithin(pid: number, patienceMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + patienceMs
  while (isGroupAlive(pid)) {
    if (performance.now() > deadlineMs) return false
    await sleep(LOOK_EVERY_MS)
  }
  return true
}

function isGroupAlive(pid: number): boolean {
  try {
    process.kill(-pid, 0)
  } catch {
    return false
  }
  // Where nobody reaps orphans (many containers), the dead stay in the list: they do not count.
  return process.platform === 'linux' ? groupMembers(pid).length > 0 : true
}

interface Member {
  readonly session: number
  readonly startTicks: number
}

function groupMembers(groupId: number): Member[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcStat(Number(name)))
    .filter((stat) => stat?.groupId === groupId && !'ZX'.includes(stat.state))
    .filter((stat) => stat !== undefined)
}

function readProcStat(pid: number): (Member & { state: string; groupId: number }) | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1')
    // The second field is the program's name in brackets and may hold spaces and brackets itself.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      state: fields[0] ?? '',
      groupId: Number(fields[2]),
      session: Number(fields[3]),
      startTicks: Number(fields[19])
    }
  } catch {
    return undefined
  }
}

/** Differs after every start of the machine; Linux only. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}

/** When a process was started, in a form to be compared only; undefined when there is no such process. */
export function readStartTime(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readProcStat(pid)
    return stat && stat.state !== 'Z' ? `${bootId()}/${stat.startTicks}` : undefined
  }
  try {
    // Another process may compare it, so it must not depend on the language or the time zone of this one.
    const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
    const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
    const args = ['-o', 'lstart=', '-p', String(pid)]
    return execFileSync('ps', args, { encoding: 'utf8', env, stdio }).trim() || undefined
  } catch {
    return undefined
  }
}
