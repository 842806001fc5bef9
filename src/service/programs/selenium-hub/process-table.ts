import { execFileSync } from 'node:child_process'
import { readAllProcStats } from '../../proc-stat.js'

/** A process, distinguishable from a later one with the same id. */
export interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly start: string
}

/** A process and everything below it, at this moment. */
export function readTree(root: number): ProcessEntry[] {
  const table = readProcessTable()
  return withChildren(
    table.filter(({ pid }) => pid === root),
    table
  )
}

/** Ends processes of this process's own group, as far as they still run, and everything below them, at once. */
export function killTrees(known: readonly ProcessEntry[]): void {
  const table = readProcessTable()
  const group = table.find(({ pid }) => pid === process.pid)?.group
  const alive = table.filter((entry) =>
    known.some(({ pid, start }) => pid === entry.pid && start === entry.start)
  )
  for (const entry of withChildren(alive, table)) if (entry.group === group) kill(entry.pid)
}

function withChildren(roots: readonly ProcessEntry[], table: readonly ProcessEntry[]): ProcessEntry[] {
  const pids = new Set(roots.map(({ pid }) => pid))
  // Each round adds one level.
  for (let size = -1; size !== pids.size;) {
    size = pids.size
    for (const { pid, parent } of table) if (pids.has(parent)) pids.add(pid)
  }
  return table.filter(({ pid }) => pids.has(pid))
}

/** Ends every other process of the group that this process leads; a shell's group is not ours to end. */
export function killRestOfGroup(): void {
  for (const { pid, group } of readProcessTable()) if (group === process.pid && pid !== process.pid) kill(pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function readProcessTable(): ProcessEntry[] {
  // Small containers have no ps, macOS has no /proc.
  if (process.platform !== 'linux') return readPs()
  return readAllProcStats()
    .filter(({ state }) => state !== 'Z')
    .map(({ pid, parent, groupId: group, startTicks }) => ({ pid, parent, group, start: `${startTicks}` }))
}

function readPs(): ProcessEntry[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,lstart='], { encoding: 'utf8' })
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, group, ...start]) => ({
      ...{ pid: Number(pid), parent: Number(parent), group: Number(group), start: start.join(' ') }
    }))
}
