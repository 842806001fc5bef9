import type { Clock } from '../../../contract/clock.js'
import { type LoadNode, withRun } from '../load-node.js'
import { type GroupUsage, type LoadSample, type readLoad, type ThreadWaits, TICK_MS } from './load-sample.js'

const EVERY_MS = 2000
const UNUSED: GroupUsage = { cpuTicks: 0, memoryBytes: 0, threads: new Map() }

/** Watches, over a run, whether this machine has enough CPU and memory for the tools of all its nodes. */
export class LoadRecorder {
  private readonly samples: LoadSample[] = []
  /** The running tools, with what they had used at the last reading. */
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
      // A process may end between two readings, and a container may hide anything.
    }
  }

  /** The CPU time of a process that has just ended is gone: it counts as idle since the last reading. */
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

/** A shorter run is mostly the tool's start, which is always busy. */
const LEAST_MS = 10_000
/** A shortage of CPU counts if it lasted for most of the run; one of memory does harm sooner. */
const MOST_OF_THE_RUN = 0.5
const PART_OF_THE_RUN = 0.2
/** From here on, nothing is left for a thread that becomes ready. */
const FULL = 0.95
const BUSY = 0.8
/** A response is noticed this much later, on average, and a request is sent this much later. */
const LONG_WAIT_MS = 20
/** Fewer waits are not enough for an average. */
const LEAST_RUNS = 20
/** If the kernel does not say how long a process waits: processes that use less of a busy machine are hardly held up. */
const LEAST_SHARE = 0.25
const MUCH_STOLEN = 0.1
const THROTTLED = 0.5
const LITTLE_MEMORY = 0.03
const SOME_MEMORY = 0.15
/** A megabyte per second. */
const SWAPPED_PAGES_PER_SECOND = 256
const GB = 1024 ** 3

type Stretch = ReturnType<typeof compare>

/** What the machine lacked for the load generator in a run, one sentence each; empty if its response times are about the target. */
export function judgeGeneratorLoad(samples: readonly LoadSample[]): string[] {
  const stretches = samples.slice(1).map((sample, index) => compare(samples[index] ?? sample, sample))
  const isLongEnough = timeOf(stretches) >= LEAST_MS
  return [
    ...(isLongEnough ? [...judgeCpu(stretches), ...judgeMemory(stretches)] : []),
    ...judgeKills(samples)
  ]
}

/** What happened between two samples. */
function compare(from: LoadSample, to: LoadSample) {
  const ms = Math.max(1, to.atMs - from.atMs)
  const grown = (count: (sample: LoadSample) => number | undefined): number =>
    Math.max(0, (count(to) ?? 0) - (count(from) ?? 0))
  const machineTicks = Math.max(
    1,
    grown(({ machine }) => machine.totalTicks)
  )
  const runs = grown(({ generatorWaits }) => generatorWaits?.runs)
  const periods = grown(({ throttling }) => throttling?.periods)
  return {
    ms,
    cores: to.cores,
    /** The share of the cores that the generator used, from 0 to 1. */
    share: Math.min(1, (grown((sample) => sample.generatorTicks) * TICK_MS) / (ms * to.cores)),
    busy: grown(({ machine }) => machine.busyTicks) / machineTicks,
    stolen: grown(({ machine }) => machine.stolenTicks) / machineTicks,
    /** How long a thread of the generator waited for a CPU each time, on average; undefined where the kernel does not say. */
    waitMs: runs < LEAST_RUNS ? undefined : grown(({ generatorWaits }) => generatorWaits?.waitedMs) / runs,
    throttled: periods === 0 ? 0 : grown(({ throttling }) => throttling?.throttledPeriods) / periods,
    available: to.memory.availableBytes / to.memory.totalBytes,
    totalBytes: to.memory.totalBytes,
    generatorBytes: to.generatorBytes,
    swappedPagesPerSecond: (grown(({ swappedPages }) => swappedPages) * 1000) / ms
  }
}

function judgeCpu(all: readonly Stretch[]): string[] {
  const short = all.flatMap((stretch) => shortageIn(stretch) ?? [])
  const part = timeOf(short.map(({ stretch }) => stretch)) / timeOf(all)
  if (part < MOST_OF_THE_RUN) return []
  const kinds = [tellOwn, tellShared, tellThrottled].map((tell) => ({
    tell,
    stretches: short.filter((shortage) => shortage.tell === tell).map(({ stretch }) => stretch)
  }))
  // One sentence, about what it was for the longest time.
  const [longest] = kinds.sort((one, other) => timeOf(other.stretches) - timeOf(one.stretches))
  const words = longest?.tell(longest.stretches, `${percent(part)} of the run`) ?? ''
  return [`The load generator was short of CPU: ${words}`]
}

function shortageIn(stretch: Stretch): { stretch: Stretch; tell: typeof tellOwn } | undefined {
  if (stretch.throttled >= THROTTLED) return { stretch, tell: tellThrottled }
  if (stretch.share >= FULL) return { stretch, tell: tellOwn }
  return isCrowded(stretch) ? { stretch, tell: tellShared } : undefined
}

function isCrowded({ busy, share, waitMs }: Stretch): boolean {
  if (waitMs !== undefined) return busy >= BUSY && waitMs >= LONG_WAIT_MS
  return busy >= FULL && share >= LEAST_SHARE
}

function tellOwn(stretches: readonly Stretch[], time: string): string {
  const used = `it used ${percent(mean(stretches, ({ share }) => share))} of ${coresOf(stretches)} for ${time}.`
  return `${used} Its response times include waiting for the generator's own CPU; reduce threads, or spread the load over more machines.`
}

function tellShared(stretches: readonly Stretch[], time: string): string {
  const busy = percent(mean(stretches, (stretch) => stretch.busy))
  const share = percent(mean(stretches, (stretch) => stretch.share))
  const stolen = mean(stretches, (stretch) => stretch.stolen)
  const others =
    stolen >= MUCH_STOLEN
      ? `${percent(stolen)} with other virtual machines`
      : 'the rest with other programs, such as a target on the same machine'
  const waitMs = Math.round(mean(stretches, (stretch) => stretch.waitMs ?? 0))
  const waited = waitMs === 0 ? '' : `; its threads waited ${waitMs} ms for a CPU each time, on average`
  return `its machine was ${busy} busy for ${time}, ${share} of ${coresOf(stretches)} with the load generator itself and ${others}${waited}. Its response times include that waiting; reduce threads, or run the load generator on a machine of its own.`
}

function tellThrottled(stretches: readonly Stretch[], time: string): string {
  return `its container may use ${coresOf(stretches)} and was held back at that limit for ${time}. Its response times include waiting for the generator's own CPU; reduce threads, or raise the limit.`
}

function judgeMemory(all: readonly Stretch[]): string[] {
  const isSwapping = (stretch: Stretch): boolean =>
    stretch.swappedPagesPerSecond >= SWAPPED_PAGES_PER_SECOND && stretch.available < SOME_MEMORY
  const short = all.filter((stretch) => stretch.available < LITTLE_MEMORY || isSwapping(stretch))
  const part = timeOf(short) / timeOf(all)
  if (part < PART_OF_THE_RUN) return []
  const swapping = short.some(isSwapping) ? ', with swapping' : ''
  const total = gigabytes(Math.max(...short.map(({ totalBytes }) => totalBytes)))
  const own = gigabytes(Math.max(...short.map(({ generatorBytes }) => generatorBytes)))
  return [
    `The load generator was short of memory: ${percent(mean(short, ({ available }) => available))} of ${total} was available for ${percent(part)} of the run${swapping}; it used up to ${own} itself. Its response times include waiting for memory; reduce threads, or use a machine with more.`
  ]
}

function judgeKills(samples: readonly LoadSample[]): string[] {
  const kills = (samples.at(-1)?.oomKills ?? 0) - (samples[0]?.oomKills ?? 0)
  if (!(kills > 0)) return []
  const processes = kills === 1 ? 'a process' : `${kills} processes`
  return [
    `The load generator's machine was out of memory: the kernel killed ${processes} during the run. Reduce threads, or use a machine with more memory.`
  ]
}

function timeOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { ms }) => sum + ms, 0)
}

/** Weighted by time. */
function mean(stretches: readonly Stretch[], value: (stretch: Stretch) => number): number {
  return stretches.reduce((sum, stretch) => sum + value(stretch) * stretch.ms, 0) / timeOf(stretches)
}

function coresOf(stretches: readonly Stretch[]): string {
  const cores = Math.max(...stretches.map((stretch) => stretch.cores))
  return cores === 1 ? '1 core' : `${Number(cores.toFixed(1))} cores`
}

function percent(part: number): string {
  return `${Math.round(part * 100)} %`
}

function gigabytes(bytes: number): string {
  return `${(bytes / GB).toFixed(1)} GB`
}
