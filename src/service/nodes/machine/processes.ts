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
import type { Socket } from 'node:net'
import type { ProcessGroup } from '../../../contract/records.js'
import type { NodeCommand, NodeExit } from '../load-node.js'
import { attempt } from '../../errors.js'
import { splitLines } from '../../lines.js'
import { type ProcStat, readAllProcStats, readProcStat } from '../../proc-stat.js'

export type { ProcessGroup }

export type ToolCommand = Pick<
  NodeCommand,
  'file' | 'args' | 'cwd' | 'env' | 'onLine' | 'tempDir' | 'onStart' | 'whenReady'
>

const TERM_GRACE_MS = 3000
const KILL_GRACE_MS = 2000
const LAST_WORDS_MS = 1000
const LOOK_EVERY_MS = 25

/** Starts tools in their own process groups and tracks those still running. */
export class Processes {
  private readonly running = new Map<number, Promise<NodeExit>>()

  constructor(
    private readonly tell: { onStart: (group: ProcessGroup) => void; onEnd: (pid: number) => void }
  ) {}

  /** Runs a command without a shell; on abort its whole group is ended, including grandchildren. */
  async run(command: ToolCommand, signal: AbortSignal): Promise<NodeExit> {
    await command.whenReady?.()
    signal.throwIfAborted()
    const watchdog = startWatchdog(command.tempDir)
    try {
      const child = startTool(command)
      for (const stream of [child.stdout, child.stderr]) splitLines(stream, command.onLine)
      const go = child.stdio[3] as Writable
      // It has exited already.
      go.on('error', () => undefined)
      const exit = awaitEvent(child, 'exit')
      if (child.pid === undefined) return await exit
      watchdog.watch(child.pid)
      command.onStart?.(child.pid)
      const done = this.follow(child, child.pid, { exit, signal })
      this.running.set(child.pid, done)
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
    pid: number,
    ending: { exit: Promise<NodeExit>; signal: AbortSignal }
  ): Promise<NodeExit> {
    const end = (): void => void endGroup(pid)
    ending.signal.addEventListener('abort', end, { once: true })
    const close = awaitEvent(child, 'close')
    try {
      this.tell.onStart({ pid, startTime: readStartTime(pid) ?? '' })
      return await ending.exit
    } finally {
      // The tool has exited; anything left in its group must not keep running.
      await endGroup(pid)
      // Wait for the last output in the pipes, but not forever: a descendant that left the group may hold them open.
      await Promise.race([close, sleep(LAST_WORDS_MS, undefined, { ref: false })])
      child.stdout?.destroy()
      child.stderr?.destroy()
      ending.signal.removeEventListener('abort', end)
      this.running.delete(pid)
      this.tell.onEnd(pid)
    }
  }
}

/** Becomes the tool, with the same pid, when told to: if this process is killed before anybody watches, the pipe ends: no tool starts. */
const WAIT_FOR_GO = 'read -r go <&3 || exit 1; exec 3<&-; unset go PWD OLDPWD SHLVL; exec "$@"'

function startTool({ file, args, cwd, env }: ToolCommand): ChildProcessByStdio<null, Readable, Readable> {
  requireExecutable(file)
  return spawn('/bin/sh', ['-c', WAIT_FOR_GO, 'sh', file, ...args], {
    cwd,
    env,
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
  if (!isGroupAlive(pid)) return
  // It may exit in the meantime.
  attempt(() => process.kill(-pid, 'SIGTERM'))
  if (await isGoneWithin(pid, TERM_GRACE_MS)) return
  attempt(() => process.kill(-pid, 'SIGKILL'))
  await isGoneWithin(pid, KILL_GRACE_MS)
}

/** Ends a group left behind by an earlier process, once it is certain to be the same. Returns whether it was. */
export async function endLeftoverGroup(group: ProcessGroup): Promise<boolean> {
  if (!isSameGroup(group)) return false
  await endGroup(group.pid)
  return true
}

/** True if the process with this id is the one started at that time. */
export function isSameProcess(group: ProcessGroup): boolean {
  return group.startTime !== '' && readStartTime(group.pid) === group.startTime
}

/** An id is not reused while its group lives: after the leader (a shell script) exits, members still in its session are its children. */
function isSameGroup(group: ProcessGroup): boolean {
  if (group.pid <= 1 || group.startTime === '') return false
  const leaderStart = readStartTime(group.pid)
  if (leaderStart !== undefined) return leaderStart === group.startTime
  const [boot, ticks] = group.startTime.split('/')
  const children = groupMembers(group.pid).filter((member) => member.session === group.pid)
  return children.some((child) => child.startTicks >= Number(ticks)) && boot === bootId()
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
  if (attempt(() => process.kill(-pid, 0)) === undefined) return false
  // Where nobody reaps orphans (many containers), zombies stay in the list: they do not count.
  return process.platform === 'linux' ? groupMembers(pid).length > 0 : true
}

function groupMembers(groupId: number): ProcStat[] {
  if (process.platform !== 'linux') return []
  return readAllProcStats().filter((stat) => stat.groupId === groupId && !'ZX'.includes(stat.state))
}

/** Changes with every boot; Linux only. */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
}

/** A process's start time, for comparison only; undefined if there is no such process. */
export function readStartTime(pid: number): string | undefined {
  if (process.platform === 'linux') {
    const stat = readProcStat(pid)
    return stat && stat.state !== 'Z' ? `${bootId()}/${stat.startTicks}` : undefined
  }
  // Another process may compare it, so it must not depend on this one's language or time zone.
  const env = { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' }
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore']
  const args = ['-o', 'lstart=', '-p', String(pid)]
  const started = attempt(() => execFileSync('ps', args, { encoding: 'utf8', env, stdio }).trim())
  return started === '' ? undefined : started
}

/**
 * Ends a tool's process group, and removes its temporary files (the argument), if this process dies without doing so itself. It reads
 * from a pipe held open by this process: first the group's id, then a word that dismisses it. If the pipe ends without that word: TERM to
 * the group, 3 s, KILL. A leader that has exited is fine; one with another start time is not: then the id belongs to someone else.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM PIPE
readStart() {
  if [ -r "/proc/$group/stat" ]; then
    stat=$(cat "/proc/$group/stat" 2>/dev/null)
    set -- \${stat##*) }
    echo "\${20}"
  else
    ps -o lstart= -p "$group" 2>/dev/null
  fi
}
send() {
  now=$(readStart)
  if [ -n "$now" ] && [ "$now" != "$start" ]; then return 1; fi
  kill -s "$1" -- "-$group" 2>/dev/null
}
finish() {
  for look in 1 2 3 4 5; do
    [ -n "$folder" ] && [ -e "$folder" ] || exit 0
    rm -rf -- "$folder" 2>/dev/null || sleep 0.2 || sleep 1
  done
  exit 0
}
folder=$1
read -r group || finish
case $group in *[!0-9]* | '') exit 0 ;; esac
start=$(readStart)
read -r word && exit 0
send TERM || finish
for look in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
  sleep 0.2 || sleep 1
  send 0 || finish
done
send KILL
finish
`

/** Started before the tool, so that there is no gap; in its own session, which no terminal signal reaches. */
export function startWatchdog(tempDir = '') {
  const child = spawn('/bin/sh', ['-c', SCRIPT, 'watchdog', tempDir], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore']
  })
  // Without it the tool still runs, and is still registered for the next command to find.
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  // It must not keep this process alive: it waits for this process to end.
  child.unref()
  const pipe = child.stdin as Socket
  pipe.unref()
  return {
    watch: (groupId: number) => pipe.write(`${groupId}\n`),
    /** The group has ended. */
    dismiss: () => pipe.end('done\n')
  }
}
