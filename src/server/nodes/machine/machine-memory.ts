import { join } from 'node:path'
import { type CgroupReading, readCgroup, readCounts } from './cgroup.js'

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
