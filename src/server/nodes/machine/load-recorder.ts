import type { Clock } from '../../clock.js'
import { judgeGeneratorLoad } from './generator-load.js'
import type { GroupUsage, ThreadWaits } from './group-usage.js'
import { type LoadNode, withRun } from '../load-node.js'
import type { LoadSample, readLoad } from './load-sample.js'

const EVERY_MS = 2000
const UNUSED: GroupUsage = { cpuTicks: 0, memoryBytes: 0, threads: new Map() }

/** Watches, over a run, whether this machine has enough CPU and memory for the tools of all its nodes. */
export class LoadRecorder {
  private readonly samples: LoadSample[] = []
  /** The tools that are running, with what they had used at the last look. */
  private readonly running = new Map<number, GroupUsage>()
  private generatorTicks = 0
  private waits: ThreadWaits | undefined
  private cancelNext: (() => void) | undefined

  constructor(private readonly ports: { readonly clock: Clock; readonly readLoad: typeof readLoad }) {}

  /** The same node, with its tools watched while they run. */
  watch(node: LoadNode): LoadNode {
    return withRun(node, async (command, signal) => {
      let groupId: number | undefined
      const onStart = (pid: number): void => {
        groupId = pid
        this.add(pid)
        command.onStart?.(pid)
      }
      try {
        return await node.run({ ...command, onStart }, signal)
      } finally {
        if (groupId !== undefined) this.remove(groupId)
      }
    })
  }

  /** What the machine lacked, one sentence each. */
  judge(): string[] {
    return judgeGeneratorLoad(this.samples)
  }

  private add(groupId: number): void {
    this.running.set(groupId, UNUSED)
    if (this.running.size === 1) this.record()
  }

  private remove(groupId: number): void {
    if (this.running.size === 1) this.record()
    this.running.delete(groupId)
    if (this.running.size === 0) this.cancelNext?.()
  }

  /** Never stops a run: without samples there is nothing to judge. */
  private record(): void {
    this.cancelNext?.()
    this.cancelNext = this.ports.clock.after(EVERY_MS, () => this.record())
    try {
      const reading = this.ports.readLoad([...this.running.keys()])
      if (reading === undefined) return
      const { groups, ...rest } = reading
      for (const [groupId, usage] of groups) this.count(groupId, usage)
      const generatorBytes = [...groups.values()].reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)
      const { generatorTicks, waits: generatorWaits } = this
      this.samples.push({ ...rest, generatorTicks, generatorBytes, generatorWaits })
    } catch {
      // A process may end between two looks, and a container may hide what it likes.
    }
  }
  /** The time of what has just ended is gone: it counts as idle since the last look. */
  private count(groupId: number, usage: GroupUsage): void {
    const { cpuTicks, threads } = this.running.get(groupId) ?? UNUSED
    this.running.set(groupId, usage)
    this.generatorTicks += Math.max(0, usage.cpuTicks - cpuTicks)
    for (const [id, now] of usage.threads) {
      const before = threads.get(id) ?? { waitedMs: 0, runs: 0 }
      const { waitedMs = 0, runs = 0 } = this.waits ?? {}
      this.waits = {
        waitedMs: waitedMs + Math.max(0, now.waitedMs - before.waitedMs),
        runs: runs + Math.max(0, now.runs - before.runs)
      }
    }
  }
}
