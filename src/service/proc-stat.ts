import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

/** What Linux says about a process in `/proc/<pid>/stat`. */
export interface ProcStat {
  readonly pid: number
  readonly state: string
  readonly parent: number
  readonly groupId: number
  readonly session: number
  /** CPU time of the process and of its children that have ended, in ticks. */
  readonly cpuTicks: number
  readonly startTicks: number
  /** Whether nothing of it runs any more. If only its first thread has ended, it has the state of a zombie, too. */
  readonly hasEnded: boolean
}

export function readProcStat(pid: number, fileSystem = '/'): ProcStat | undefined {
  try {
    const text = readFileSync(join(fileSystem, `proc/${pid}/stat`), 'latin1')
    // The second field is the program name in brackets and may itself contain spaces and brackets.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      pid,
      state: fields[0] ?? '',
      parent: Number(fields[1]),
      groupId: Number(fields[2]),
      session: Number(fields[3]),
      cpuTicks: [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0),
      startTicks: Number(fields[19]),
      hasEnded: 'ZX'.includes(fields[0] ?? '') && Number(fields[17]) <= 1
    }
  } catch {
    return undefined
  }
}

/** These processes and everything below them. */
export function withDescendants<T extends Pick<ProcStat, 'pid' | 'parent'>>(
  own: readonly T[],
  all: readonly T[]
) {
  const found = new Map(own.map((stat) => [stat.pid, stat]))
  // The map grows while it is walked through, and each process is in it once.
  for (const pid of found.keys())
    for (const child of all) if (child.parent === pid && !found.has(child.pid)) found.set(child.pid, child)
  return [...found.values()]
}

export function readAllProcStats(fileSystem = '/'): ProcStat[] {
  return listProcesses(fileSystem)
    .map((pid) => readProcStat(pid, fileSystem))
    .filter((stat) => stat !== undefined)
}

/** How many processes are looked at before others have their turn. */
const AT_ONCE = 100

/** Those of a group, without what has ended. Where thousands of processes run, reading all of them in one go would stop everyone. */
export async function findGroupMembers(groupId: number, fileSystem = '/'): Promise<ProcStat[]> {
  const members: ProcStat[] = []
  for (const [index, pid] of listProcesses(fileSystem).entries()) {
    if ((index + 1) % AT_ONCE === 0) await turn()
    const stat = readProcStat(pid, fileSystem)
    if (stat?.groupId === groupId && !stat.hasEnded) members.push(stat)
  }
  return members
}

function listProcesses(fileSystem: string): number[] {
  return readdirSync(join(fileSystem, 'proc'))
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}
