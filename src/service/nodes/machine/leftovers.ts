import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import type { ProcessGroup } from '../../../contract/records.js'
import { attempt } from '../../errors.js'

/** Every process of a tool inherits it, also one in a session of its own, with another name or parent. It is not a secret. */
export const MARKER_VARIABLE = 'LOADGATE_NODE'

/** Another one for every command: what has it belongs to that command, whoever else runs tools on this machine. */
export function createMarker(): string {
  return randomBytes(12).toString('hex')
}

/** By what the processes of a command are found outside of its group. */
type Belonging = Pick<ProcessGroup, 'marker' | 'uid'>

const TERM_GRACE_MS = 1000
/** Processes that start others faster than they can be ended: the next start tries again. */
const GIVE_UP_AFTER_MS = 15_000
const LOOK_EVERY_MS = 25

/** Ends every process that belongs to a command: TERM, a grace period, then KILL until none is left. Returns how many were found and are left. */
export async function endBelongings(
  belonging: Belonging,
  giveUpAfterMs = GIVE_UP_AFTER_MS
): Promise<{ found: number; left: number }> {
  const all = new Set<number>()
  const look = async (): Promise<number[]> => {
    const found = await findBelongings(belonging)
    for (const pid of found) all.add(pid)
    return found
  }
  let found = await look()
  for (const pid of found) send(pid, 'SIGTERM')
  for (const untilMs = performance.now() + TERM_GRACE_MS; found.length > 0 && performance.now() < untilMs;) {
    await sleep(LOOK_EVERY_MS)
    found = await look()
  }
  // All are stopped before the first is killed: a stopped process starts no other.
  const stopped = new Set<number>()
  let isOver = !hasOwnUser(belonging)
  for (const untilMs = performance.now() + giveUpAfterMs; found.length > 0 || !isOver; found = await look()) {
    if (performance.now() > untilMs) break
    if (found.length === 0) {
      isOver = await endUser(belonging.uid)
      continue
    }
    const fresh = found.filter((pid) => !stopped.has(pid))
    for (const pid of fresh) send(pid, 'SIGSTOP')
    for (const pid of fresh) stopped.add(pid)
    if (fresh.length > 0) continue
    for (const pid of found) send(pid, 'SIGKILL')
    stopped.clear()
    await sleep(LOOK_EVERY_MS)
  }
  return { found: all.size, left: isOver ? found.length : Math.max(1, found.length) }
}

/** At one moment, so that whatever is just being started ends, too. Returns false if a process of that user was quicker, and ended this one. */
function endUser(uid: number | undefined): Promise<boolean> {
  const child = spawn('/bin/sh', ['-c', 'kill -KILL -1'], {
    ...{ uid, gid: uid, cwd: '/', env: {}, stdio: 'ignore' }
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code !== null))
  })
}

/** It may have ended, or its id may belong to a process of another user by now. */
function send(pid: number, signal: NodeJS.Signals): void {
  attempt(() => process.kill(pid, signal))
}

/** A user of nobody else: see `isolation.ts`. */
const LEAST_OWN_UID = 30_000

function hasOwnUser({ uid }: Belonging): boolean {
  return process.platform === 'linux' && uid !== undefined && uid >= LEAST_OWN_UID
}

/** How many processes are looked at before others have their turn. */
const AT_ONCE = 100

/** The processes with this marker, or of this user; Linux only, and none that has ended. */
async function findBelongings({ marker, uid }: Belonging): Promise<number[]> {
  if (process.platform !== 'linux') return []
  const mark = marker === undefined || marker === '' ? undefined : `${MARKER_VARIABLE}=${marker}`
  const user = hasOwnUser({ uid }) ? new RegExp(`^Uid:\\s+${uid}\\s`, 'm') : undefined
  const names = attempt(() => readdirSync('/proc')) ?? []
  const found: number[] = []
  let looked = 0
  for (const pid of names.filter((name) => /^\d+$/.test(name)).map(Number)) {
    if (++looked % AT_ONCE === 0) await turn()
    if (pid <= 1 || pid === process.pid) continue
    if ((mark !== undefined && readStart(pid, 'environ').includes(mark)) || isOf(pid, user)) found.push(pid)
  }
  return found
}

function isOf(pid: number, user: RegExp | undefined): boolean {
  if (user === undefined) return false
  const status = readStart(pid, 'status').toString('latin1')
  // One whose first thread has ended has the state of a zombie while its others work.
  const hasEnded = /^State:\s+[ZX]/m.test(status) && /^Threads:\s+[01]$/m.test(status)
  return user.test(status) && !hasEnded
}

const MOST_BYTES = 256 * 1024
const buffer = Buffer.alloc(MOST_BYTES)

/** The start of a file of `/proc/<pid>`; empty for a process that has ended, or that this user may not look at. It is good until the next call. */
function readStart(pid: number, name: 'environ' | 'status'): Buffer {
  const file = attempt(() => openSync(`/proc/${pid}/${name}`, 'r'))
  if (file === undefined) return buffer.subarray(0, 0)
  try {
    let length = 0
    for (let read = -1; read !== 0 && length < MOST_BYTES; length += read)
      read = readSync(file, buffer, length, MOST_BYTES - length, null)
    return buffer.subarray(0, length)
  } catch {
    return buffer.subarray(0, 0)
  } finally {
    closeSync(file)
  }
}
