import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { type CgroupReading, read, readCgroup, readCounts } from './cgroup.js'
import { type GroupUsage, readGroupUsage, type ThreadWaits } from './group-usage.js'

/** Linux counts CPU time in hundredths of a second, whatever its own clock does. */
export const TICK_MS = 10

/** How busy a machine is at one moment; what counts up starts anywhere. */
export interface LoadSample {
  readonly atMs: number
  /** Cores that processes started here may use. */
  readonly cores: number
  /** Of the load generator, counting up. */
  readonly generatorTicks: number
  readonly generatorBytes: number
  /** How often its threads were given a CPU and how long they waited for it, counting up; undefined where the kernel does not say. */
  readonly generatorWaits: ThreadWaits | undefined
  /** Of all cores of the machine, counting up; busy includes stolen. */
  readonly machine: { readonly totalTicks: number; readonly busyTicks: number; readonly stolenTicks: number }
  readonly throttling: CgroupReading['cpu']
  readonly memory: Memory
  /** Pages moved to and from the disk, counting up. */
  readonly swappedPages: number
  /** Processes killed for want of memory, counting up. */
  readonly oomKills: number
}

/** The machine, and each tool's processes by the id of their group. */
export type LoadReading = Omit<LoadSample, 'generatorTicks' | 'generatorBytes' | 'generatorWaits'> & {
  readonly groups: ReadonlyMap<number, GroupUsage>
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
export function readMemory(
  fileSystem = '/',
  cgroup: CgroupReading = readCgroup(fileSystem)
): Memory | undefined {
  const facts = readCounts(join(fileSystem, 'proc/meminfo'))
  const [total, available] = [facts.get('MemTotal'), facts.get('MemAvailable')]
  if (total === undefined || available === undefined) return undefined
  const machine = { totalBytes: total * 1024, availableBytes: available * 1024 }
  const { memory } = cgroup
  if (memory === undefined || memory.limitBytes >= machine.totalBytes) return machine
  if (memory.availableBytes >= machine.availableBytes) return { ...machine, totalBytes: memory.limitBytes }
  return { totalBytes: memory.limitBytes, availableBytes: memory.availableBytes }
}
