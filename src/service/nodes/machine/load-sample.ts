import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, posix } from 'node:path'
import { attempt } from '../../errors.js'
import { type ProcStat, readAllProcStats, withDescendants } from '../../proc-stat.js'

/** Linux counts CPU time in hundredths of a second, whatever its own clock does. */
export const TICK_MS = 10
const PAGE_BYTES = 4096
/** A browser has dozens of threads; this many are enough, and measuring must not cost what it measures. */
const MAX_THREADS = 400

/** How busy a machine is at one moment; counters may start anywhere. */
export interface LoadSample {
  readonly atMs: number
  /** Cores that processes started here may use. */
  readonly cores: number
  /** CPU time of the load generator; a counter. */
  readonly generatorTicks: number
  readonly generatorBytes: number
  /** How often its threads were given a CPU and how long they waited for it, counting up; undefined where the kernel does not say. */
  readonly generatorWaits: ThreadWaits | undefined
  /** CPU time of all cores of the machine; counters. Busy includes stolen. */
  readonly machine: { readonly totalTicks: number; readonly busyTicks: number; readonly stolenTicks: number }
  readonly throttling: CgroupReading['cpu']
  readonly memory: Memory
  /** Pages moved to and from the disk, counting up. */
  readonly swappedPages: number
  /** Processes killed because memory ran out; a counter. */
  readonly oomKills: number
}

/** The machine, and each tool's processes by the id of their group. */
export type LoadReading = Omit<LoadSample, 'generatorTicks' | 'generatorBytes' | 'generatorWaits'> & {
  readonly groups: ReadonlyMap<number, GroupUsage>
}

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

/** Undefined where the system has no `/proc`. */
export function readLoad(groupIds: readonly number[], fileSystem = '/'): LoadReading | undefined {
  const cgroup = readCgroup(fileSystem)
  const memory = readMemory(fileSystem, cgroup)
  const machine = readMachine(fileSystem)
  if (memory === undefined || machine === undefined) return undefined
  const counts = readCounts(join(fileSystem, 'proc/vmstat'))
  return {
    atMs: performance.now(),
    cores: Math.min(availableParallelism(), cgroup.cpu?.cores ?? Infinity),
    machine,
    throttling: cgroup.cpu,
    memory,
    swappedPages: (counts.get('pswpin') ?? 0) + (counts.get('pswpout') ?? 0),
    // The machine's own number is about every container on it.
    oomKills: cgroup.oomKills ?? 0,
    groups: readGroupUsage(groupIds, fileSystem)
  }
}

function readMachine(fileSystem: string): LoadSample['machine'] | undefined {
  const line = /^cpu +(.*)$/m.exec(read(join(fileSystem, 'proc/stat')))?.[1]
  if (line === undefined) return undefined
  // The two after these are guests' time, which is part of the first two.
  const ticks = line.split(' ').map(Number).slice(0, 8)
  const totalTicks = ticks.reduce((sum, count) => sum + count, 0)
  const [, , , idle = 0, waitingForDisk = 0, , , stolenTicks = 0] = ticks
  return { totalTicks, busyTicks: totalTicks - idle - waitingForDisk, stolenTicks }
}

/** The memory that processes can use here: the machine's, or that of the container around them if it has less left. */
export interface Memory {
  readonly totalBytes: number
  readonly availableBytes: number
}

/** Undefined where the system does not say, as on macOS. */
export function readMemory(fileSystem = '/', cgroup = readCgroup(fileSystem)): Memory | undefined {
  const facts = readCounts(join(fileSystem, 'proc/meminfo'))
  const [total, available] = [facts.get('MemTotal'), facts.get('MemAvailable')]
  if (total === undefined || available === undefined) return undefined
  const machine = { totalBytes: total * 1024, availableBytes: available * 1024 }
  const { memory } = cgroup
  if (memory === undefined || memory.totalBytes >= machine.totalBytes) return machine
  return { ...memory, availableBytes: Math.min(memory.availableBytes, machine.availableBytes) }
}

/** The usage of each group: its processes, those in its session, and what they have started; a browser leaves the group of its driver. */
function readGroupUsage(groupIds: readonly number[], fileSystem: string): Map<number, GroupUsage> {
  const all = readAllProcStats(fileSystem)
  const usageOf = (groupId: number): GroupUsage => {
    const own = all.filter((stat) => stat.groupId === groupId || stat.session === groupId)
    const members = withDescendants(own, all)
    return {
      cpuTicks: members.reduce((sum, { cpuTicks }) => sum + cpuTicks, 0),
      memoryBytes: members.reduce((sum, { pid }) => sum + ownBytes(pid, fileSystem), 0),
      threads: readThreads(members, fileSystem)
    }
  }
  return new Map(groupIds.map((groupId) => [groupId, usageOf(groupId)]))
}

function readThreads(members: readonly ProcStat[], fileSystem: string): Map<number, ThreadWaits> {
  const threads = new Map<number, ThreadWaits>()
  for (const { pid } of members) {
    // It may have just ended.
    for (const id of attempt(() => readdirSync(join(fileSystem, `proc/${pid}/task`))) ?? []) {
      if (threads.size >= MAX_THREADS) return threads
      const text = read(join(fileSystem, `proc/${pid}/task/${id}/schedstat`))
      const [, waitedNs, runs] = text.split(' ').map(Number)
      if (waitedNs !== undefined && runs !== undefined)
        threads.set(Number(id), { waitedMs: waitedNs / 1e6, runs })
    }
  }
  return threads
}

function ownBytes(pid: number, fileSystem: string): number {
  const pages = read(join(fileSystem, `proc/${pid}/statm`)).split(' ')
  const [, resident = 0, shared = 0] = pages.map(Number)
  return Math.max(0, resident - shared) * PAGE_BYTES
}

/** The limits of the container, service or job that this process runs in, and how much of them is used. */
export interface CgroupReading {
  readonly cpu?: {
    /** How many cores' worth of time it may use. */
    readonly cores: number
    /** `throttled` is the number of periods in which it had used up its time and had to wait; both are counters. */
    readonly periods: number
    readonly throttledPeriods: number
  }
  readonly memory?: Memory
  /** Processes that the kernel killed because memory ran out; a counter. */
  readonly oomKills?: number
}

/** Reads Linux's control groups, version 2; empty where there are none. Each level may have a limit: the tightest counts. */
export function readCgroup(fileSystem = '/'): CgroupReading {
  const folders = findFolders(fileSystem)
  const [cpu] = folders.flatMap((folder) => readCpu(folder) ?? []).sort((a, b) => a.cores - b.cores)
  const [memory] = folders
    .flatMap((folder) => readLimit(folder) ?? [])
    .sort((a, b) => a.availableBytes - b.availableBytes)
  const oomKills = readCounts(join(folders[0] ?? '', 'memory.events')).get('oom_kill')
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(oomKills !== undefined && { oomKills }) }
}

/** The process's own group, then those around it. In a container the path may be the host's and not exist: the root is the container's. */
function findFolders(fileSystem: string): string[] {
  const path = /^0::(.*)$/m.exec(read(join(fileSystem, 'proc/self/cgroup')))?.[1]
  const folders: string[] = []
  for (let rest = posix.normalize(path ?? '/'); path !== undefined; rest = posix.dirname(rest)) {
    folders.push(join(fileSystem, 'sys/fs/cgroup', rest))
    if (rest === '/' || rest === '.' || rest.startsWith('/..')) break
  }
  return folders.filter((folder) => existsSync(join(folder, 'cgroup.procs')))
}

function readCpu(folder: string): CgroupReading['cpu'] {
  const [quota = NaN, period = NaN] = read(join(folder, 'cpu.max')).trim().split(/\s+/).map(Number)
  const cores = quota / period
  if (!(cores > 0)) return undefined
  const stat = readCounts(join(folder, 'cpu.stat'))
  return { cores, periods: stat.get('nr_periods') ?? 0, throttledPeriods: stat.get('nr_throttled') ?? 0 }
}

function readLimit(folder: string): Memory | undefined {
  const totalBytes = Number.parseInt(read(join(folder, 'memory.max')), 10)
  const usedBytes = Number.parseInt(read(join(folder, 'memory.current')), 10)
  if (Number.isNaN(totalBytes) || Number.isNaN(usedBytes)) return undefined
  // The kernel drops its cache of files when it needs the memory.
  const cacheBytes = readCounts(join(folder, 'memory.stat')).get('inactive_file') ?? 0
  return { totalBytes, availableBytes: Math.max(0, totalBytes - usedBytes + cacheBytes) }
}

function readCounts(file: string): Map<string, number> {
  const lines = read(file).split('\n')
  return new Map(
    lines.map((line): [string, number] => {
      const [name = '', count] = line.split(/[\s:]+/)
      return [name, Number(count)]
    })
  )
}

function read(file: string): string {
  return attempt(() => readFileSync(file, 'latin1')) ?? ''
}
