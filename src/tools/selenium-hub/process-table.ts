import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
}

/** Ends processes and everything below them at once, as far as they belong to this process's own group. */
export function killTrees(roots: Iterable<number>): void {
  const table = readProcessTable()
  const group = table.find(({ pid }) => pid === process.pid)?.group
  const doomed = new Set(roots)
  // Each round adds one level.
  for (let size = -1; size !== doomed.size;) {
    size = doomed.size
    for (const { pid, parent } of table) if (doomed.has(parent)) doomed.add(pid)
  }
  for (const entry of table) if (doomed.has(entry.pid) && entry.group === group) kill(entry.pid)
}

/** The processes below this one. */
export function childrenOf(root: number): number[] {
  return readProcessTable().flatMap(({ pid, parent }) => (parent === root ? [pid] : []))
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
  return process.platform === 'linux' ? readProc() : readPs()
}

function readProc(): ProcessEntry[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const text = readFileSync(`/proc/${name}/stat`, 'latin1')
        // The program's name is in brackets and may contain anything.
        const [state, parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ')
        return state === 'Z' ? [] : [{ pid: Number(name), parent: Number(parent), group: Number(group) }]
      } catch {
        return []
      }
    })
}

function readPs(): ProcessEntry[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid='], { encoding: 'utf8' })
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0, group = 0]) => ({ pid, parent, group }))
}
