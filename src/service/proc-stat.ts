import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

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
      startTicks: Number(fields[19])
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
  return readdirSync(join(fileSystem, 'proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcStat(Number(name), fileSystem))
    .filter((stat) => stat !== undefined)
}
