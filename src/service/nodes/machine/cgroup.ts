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

const ROOT = 'sys/fs/cgroup'

/** Reads Linux's control groups, version 2; empty where there are none. Each level may have a limit: the tightest counts. */
export function readCgroup(fileSystem = '/'): CgroupReading {
  const folders = findFolders(fileSystem)
  const [cpu] = folders.flatMap((folder) => readCpu(folder) ?? []).sort((a, b) => a.cores - b.cores)
  const [memory] = folders
    .flatMap((folder) => readMemory(folder) ?? [])
    .sort((a, b) => a.availableBytes - b.availableBytes)
  const oomKills = readCounts(join(folders[0] ?? '', 'memory.events')).get('oom_kill')
  return { ...(cpu && { cpu }), ...(memory && { memory }), ...(oomKills !== undefined && { oomKills }) }
}

/**
 * The process's own group first, then those around it. Inside a container the path may be that of the host, which does not exist here;
 * the root is the container's then.
 */
function findFolders(fileSystem: string): string[] {
  const path = /^0::(.*)$/m.exec(read(join(fileSystem, 'proc/self/cgroup')))?.[1]
  const folders: string[] = []
  for (let rest = posix.normalize(path ?? '/'); path !== undefined; rest = posix.dirname(rest)) {
    folders.push(join(fileSystem, ROOT, rest))
    if (rest === '/' || rest === '.' || rest.startsWith('/..')) break
  }
  return folders.filter((folder) => existsSync(join(folder, 'cgroup.procs')))
}

function readCpu(folder: string): CgroupReading['cpu'] {
  const [quota, period] = read(join(folder, 'cpu.max')).trim().split(/\s+/).map(Number)
  const cores = (quota ?? NaN) / (period ?? NaN)
  if (!(cores > 0)) return undefined
  const stat = readCounts(join(folder, 'cpu.stat'))
  return { cores, periods: stat.get('nr_periods') ?? 0, throttledPeriods: stat.get('nr_throttled') ?? 0 }
}

function readMemory(folder: string): CgroupReading['memory'] {
  const limitBytes = Number.parseInt(read(join(folder, 'memory.max')), 10)
  const usedBytes = Number.parseInt(read(join(folder, 'memory.current')), 10)
  if (Number.isNaN(limitBytes) || Number.isNaN(usedBytes)) return undefined
  // The kernel drops its cache of files when it needs the memory.
  const cacheBytes = readCounts(join(folder, 'memory.stat')).get('inactive_file') ?? 0
  return { limitBytes, availableBytes: Math.max(0, limitBytes - usedBytes + cacheBytes) }
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
