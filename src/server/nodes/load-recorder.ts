import type { Clock } from '../clock.js'
import { judgeGeneratorLoad } from './generator-load.js'
import type { LoadNode } from './load-node.js'
import type { LoadSample, readLoad } from './load-sample.js'

const EVERY_MS = 2000

/** Watches, over a run, whether this machine has enough CPU and memory for the tools of all its nodes. */
export class LoadRecorder {
  private readonly samples: LoadSample[] = []
  /** The tools that are running, with the CPU time they had used at the last look. */
  private readonly running = new Map<number, number>()
  private generatorTicks = 0
  private cancelNext: (() => void) | undefined

  constructor(private readonly ports: { readonly clock: Clock; readonly readLoad: typeof readLoad }) {}

  /** The same node, with its tools watched while they run. */
  watch(node: LoadNode): LoadNode {
    return {
      run: async (command, signal) => {
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
      }
    }
  }

  /** What the machine lacked, one sentence each. */
  judge(): string[] {
    return judgeGeneratorLoad(this.samples)
  }

  private add(groupId: number): void {
    this.running.set(groupId, 0)
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
      let generatorBytes = 0
      for (const [groupId, { cpuTicks, memoryBytes }] of groups) {
        // The time of a tool that has just ended is gone: it counts as idle since the last look.
        this.generatorTicks += Math.max(0, cpuTicks - (this.running.get(groupId) ?? 0))
        this.running.set(groupId, cpuTicks)
        generatorBytes += memoryBytes
      }
      this.samples.push({ ...rest, generatorTicks: this.generatorTicks, generatorBytes })
    } catch {
      // A process may end between two looks, and a container may hide what it likes.
    }
  }
}
