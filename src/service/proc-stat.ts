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

export function readAllProcStats(fileSystem = '/'): ProcStat[] {
  return readdirSync(join(fileSystem, 'proc'))
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcStat(Number(name), fileSystem))
    .filter((stat) => stat !== undefined)
}
