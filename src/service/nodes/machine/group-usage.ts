import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type ProcStat, readAllProcStats } from '../../proc-stat.js'
import { read } from './cgroup.js'

/** What a tool's processes use. */
export interface GroupUsage {
  /** Counts up, over those that have ended too. */
  readonly cpuTicks: number
  /** Without what they share with others, such as libraries. */
  readonly memoryBytes: number
  /** By the id of the thread; empty where the kernel does not say. */
  readonly threads: ReadonlyMap<number, ThreadWaits>
}

/** How often a thread was given a CPU, and how long it was ready and waited for that; both count up. */
export interface ThreadWaits {
  readonly waitedMs: number
  readonly runs: number
}

const PAGE_BYTES = 4096
/** A browser has dozens of threads; this many tell enough, and looking must not cost what it measures. */
const MAX_THREADS = 400

/**
 * The usage of each group: its processes, those in its session, and what they have started. A browser leaves the group
 * of its driver, and still belongs to the tool.
 */
export function readGroupUsage(groupIds: readonly number[], fileSystem = '/'): Map<number, GroupUsage> {
  const all = readAllProcStats(fileSystem)
  const childrenOf = new Map<number, ProcStat[]>()
  for (const stat of all) childrenOf.set(stat.parent, [...(childrenOf.get(stat.parent) ?? []), stat])
  return new Map(
    groupIds.map((groupId) => {
      const own = all.filter((stat) => stat.groupId === groupId || stat.session === groupId)
      const members = withDescendants(own, childrenOf)
      return [groupId, sumUp(members, fileSystem)]
    })
  )
}

function withDescendants(
  own: readonly ProcStat[],
  childrenOf: ReadonlyMap<number, readonly ProcStat[]>
): ProcStat[] {
  const found = new Map(own.map((stat) => [stat.pid, stat]))
  // The map grows while it is walked through, and each process is in it once.
  for (const pid of found.keys())
    for (const child of childrenOf.get(pid) ?? []) if (!found.has(child.pid)) found.set(child.pid, child)
  return [...found.values()]
}

function sumUp(members: readonly ProcStat[], fileSystem: string): GroupUsage {
  return {
    cpuTicks: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0),
    memoryBytes: members.reduce((sum, { pid }) => sum + ownBytes(pid, fileSystem), 0),
    threads: readThreads(members, fileSystem)
  }
}

function readThreads(members: readonly ProcStat[], fileSystem: string): Map<number, ThreadWaits> {
  const threads = new Map<number, ThreadWaits>()
  for (const { pid } of members) {
    for (const id of listThreads(pid, fileSystem)) {
      if (threads.size >= MAX_THREADS) return threads
      const text = read(join(fileSystem, `proc/${pid}/task/${id}/schedstat`))
      const [, waitedNs, runs] = text.split(' ').map(Number)
      if (waitedNs !== undefined && runs !== undefined)
        threads.set(Number(id), { waitedMs: waitedNs / 1e6, runs })
    }
  }
  return threads
}

function listThreads(pid: number, fileSystem: string): string[] {
  try {
    return readdirSync(join(fileSystem, `proc/${pid}/task`))
  } catch {
    // It has just ended.
    return []
  }
}

function ownBytes(pid: number, fileSystem: string): number {
  const [, resident, shared] = read(join(fileSystem, `proc/${pid}/statm`))
    .split(' ')
    .map(Number)
  return Math.max(0, (resident ?? 0) - (shared ?? 0)) * PAGE_BYTES
}
