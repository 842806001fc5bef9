import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The limits of the container, service or job that this process runs in, and how much of them is used. */
export interface CgroupReading {
  readonly cpu?: {
    /** How many cores' worth of time it may use. */
    readonly cores: number
    /** Of these periods, in so many it had used up its time and had to wait; both count up. */
    readonly periods: number
    readonly throttledPeriods: number
  }
  readonly memory?: { readonly limitBytes: number; readonly availableBytes: number }
  /** Processes that the kernel killed for want of memory; counts up. */
  readonly oomKills?: number
}

/** More than any machine has; version 1 writes "no limit" as a number of this size. */
const UNLIMITED = 2 ** 60
const ROOT = 'sys/fs/cgroup'

/** Reads both versions of Linux's control groups; empty where there are none. */
export function readCgroup(fileSystem = '/'): CgroupReading {
  const levels = findLevels(fileSystem)
  const cpus = levels.cpu.flatMap((folder) => readCpu(folder) ?? [])
  const memories = levels.memory.flatMap((folder) => readMemory(folder) ?? [])
  const cpu = least(cpus, ({ cores }) => cores)
  const memory = least(memories, ({ availableBytes }) => availableBytes)
  const oomKills = levels.memory.slice(0, 1).flatMap((folder) => readOomKills(folder) ?? [])[0]
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(oomKills !== undefined && { oomKills }) }
}

/** The process's own group first, then those around it: each may have a limit. */
function findLevels(fileSystem: string): { cpu: string[]; memory: string[] } {
  const lines = read(join(fileSystem, 'proc/self/cgroup')).split('\n')
  const pathOf = (controller: string): string | undefined =>
    lines
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((match) => match?.[1]?.split(',').includes(controller))?.[2]
  const unified = pathOf('')
  const levelsOf = (controller: string): string[] => {
    const path = pathOf(controller)
    if (path !== undefined) return foldersOf(join(fileSystem, ROOT, controller), path)
    return unified === undefined ? [] : foldersOf(join(fileSystem, ROOT), unified)
  }
  return { cpu: levelsOf('cpu'), memory: levelsOf('memory') }
}

/** Inside a container the path may be that of the host, which does not exist here; the root is the container's then. */
function foldersOf(mount: string, path: string): string[] {
  const folders: string[] = []
  for (let rest = posix.normalize(path); ; rest = posix.dirname(rest)) {
    folders.push(join(mount, rest))
    if (rest === '/' || rest === '.' || rest.startsWith('/..'))
      return folders.filter((folder) => existsSync(join(folder, 'cgroup.procs')))
  }
}

function readCpu(folder: string): CgroupReading['cpu'] {
  // Version 2 has both numbers in one file.
  const text = read(join(folder, 'cpu.max')) || readPair(folder, ['cpu.cfs_quota_us', 'cpu.cfs_period_us'])
  const [quota, period] = text.trim().split(/\s+/).map(Number)
  const cores = (quota ?? NaN) / (period ?? NaN)
  if (!(cores > 0)) return undefined
  const stat = readCounts(join(folder, 'cpu.stat'))
  return { cores, periods: stat.get('nr_periods') ?? 0, throttledPeriods: stat.get('nr_throttled') ?? 0 }
}

function readPair(folder: string, names: readonly string[]): string {
  return names.map((name) => read(join(folder, name))).join(' ')
}

function readMemory(folder: string): CgroupReading['memory'] {
  const first = (...names: string[]): number =>
    Number(names.map((name) => read(join(folder, name)).trim()).find((text) => text !== '') ?? NaN)
  const limitBytes = first('memory.max', 'memory.limit_in_bytes')
  const usedBytes = first('memory.current', 'memory.usage_in_bytes')
  if (!(limitBytes < UNLIMITED) || Number.isNaN(usedBytes)) return undefined
  const stat = readCounts(join(folder, 'memory.stat'))
  // The kernel drops its cache of files when it needs the memory.
  const cacheBytes = stat.get('total_inactive_file') ?? stat.get('inactive_file') ?? 0
  return { limitBytes, availableBytes: Math.max(0, limitBytes - usedBytes + cacheBytes) }
}

function readOomKills(folder: string): number | undefined {
  return (
    readCounts(join(folder, 'memory.events')).get('oom_kill') ??
    readCounts(join(folder, 'memory.oom_control')).get('oom_kill')
  )
}

/** Lines of a name and a number. */
export function readCounts(file: string): Map<string, number> {
  const lines = read(file).split('\n')
  return new Map(
    lines
      .map((line) => line.split(/[\s:]+/))
      .map(([name = '', count]): [string, number] => [name, Number(count)])
  )
}

/** Empty if there is no such file. */
export function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

function least<T>(items: readonly T[], size: (item: T) => number): T | undefined {
  return items.reduce<T | undefined>(
    (found, item) => (found === undefined || size(item) < size(found) ? item : found),
    undefined
  )
}
