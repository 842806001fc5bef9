import { describe, expect, test } from '@jest/globals'
import { judgeGeneratorLoad } from '../../../../src/service/nodes/machine/load-recorder.js'
import type { LoadSample } from '../../../../src/service/nodes/machine/load-sample.js'

const GB = 1024 ** 3
const STEP_MS = 2000

/** A machine over two seconds; shares from 0 to 1. */
interface Moment {
  readonly cores?: number
  /** Of the cores that the generator may use. */
  readonly generator?: number
  /** Of all cores of the machine, in which the generator is included. */
  readonly busy?: number
  readonly stolen?: number
  /** Of a thread for a CPU, each time. */
  readonly waitMs?: number
  readonly runs?: number
  readonly throttled?: number
  readonly available?: number
  readonly swappedPages?: number
  readonly kills?: number
}

/** Samples of a machine with two cores and 8 GB. */
function record(...moments: readonly Moment[]): LoadSample[] {
  let last: LoadSample = {
    atMs: 5000,
    cores: 2,
    generatorTicks: 700,
    generatorBytes: 3 * GB,
    generatorWaits: undefined,
    machine: { totalTicks: 90_000, busyTicks: 40_000, stolenTicks: 10 },
    throttling: undefined,
    memory: { totalBytes: 8 * GB, availableBytes: 4 * GB },
    swappedPages: 33,
    oomKills: 4
  }
  const samples = [last]
  for (const moment of moments) {
    last = after(last, moment)
    samples.push(last)
  }
  return samples
}

function after(last: LoadSample, moment: Moment): LoadSample {
  const cores = moment.cores ?? 2
  const { generator = 0.1, busy = generator, stolen = 0, throttled = 0 } = moment
  const ticks = (2 * STEP_MS) / 10
  return {
    ...last,
    atMs: last.atMs + STEP_MS,
    cores,
    generatorTicks: last.generatorTicks + (generator * cores * STEP_MS) / 10,
    generatorWaits:
      moment.waitMs === undefined ? undefined : waitMore(last, moment.waitMs, moment.runs ?? 500),
    machine: {
      totalTicks: last.machine.totalTicks + ticks,
      busyTicks: last.machine.busyTicks + busy * ticks,
      stolenTicks: last.machine.stolenTicks + stolen * ticks
    },
    throttling: {
      cores,
      periods: (last.throttling?.periods ?? 0) + 20,
      throttledPeriods: (last.throttling?.throttledPeriods ?? 0) + throttled * 20
    },
    memory: { totalBytes: 8 * GB, availableBytes: (moment.available ?? 0.5) * 8 * GB },
    swappedPages: last.swappedPages + (moment.swappedPages ?? 0),
    oomKills: last.oomKills + (moment.kills ?? 0)
  }
}

function waitMore(
  { generatorWaits }: LoadSample,
  waitMs: number,
  runs: number
): LoadSample['generatorWaits'] {
  const { waitedMs, runs: before } = generatorWaits ?? { waitedMs: 0, runs: 0 }
  return { waitedMs: waitedMs + waitMs * runs, runs: before + runs }
}

const times = (count: number, moment: Moment): Moment[] => Array.from({ length: count }, () => moment)
const IDLE = { generator: 0.2, busy: 0.4 }

describe('a load generator that was short of CPU', () => {
  test('with its own work', () => {
    const samples = record(...times(2, IDLE), ...times(8, { generator: 0.97, busy: 0.99 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      "The load generator was short of CPU: it used 97 % of 2 cores for 80 % of the run. Its response times include waiting for the generator's own CPU; reduce threads, or spread the load over more machines."
    ])
  })

  test('on a machine that it shares with the target', () => {
    const samples = record(...times(10, { generator: 0.55, busy: 0.99 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      'The load generator was short of CPU: its machine was 99 % busy for 100 % of the run, 55 % of 2 cores with the load generator itself and the rest with other programs, such as a target on the same machine. Its response times include that waiting; reduce threads, or run the load generator on a machine of its own.'
    ])
  })

  test('with little of a crowded machine, where its threads wait long', () => {
    const samples = record(
      ...times(3, { ...IDLE, waitMs: 1 }),
      ...times(7, { generator: 0.12, busy: 1, waitMs: 52 })
    )
    expect(judgeGeneratorLoad(samples)).toEqual([
      'The load generator was short of CPU: its machine was 100 % busy for 70 % of the run, 12 % of 2 cores with the load generator itself and the rest with other programs, such as a target on the same machine; its threads waited 52 ms for a CPU each time, on average. Its response times include that waiting; reduce threads, or run the load generator on a machine of its own.'
    ])
  })

  test('on a virtual machine that does not get its time', () => {
    const samples = record(...times(10, { generator: 0.6, busy: 0.98, stolen: 0.3 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      expect.stringContaining('with the load generator itself and 30 % with other virtual machines.')
    ])
  })

  test('in a container at its limit, on a machine with time to spare', () => {
    const samples = record(
      ...times(4, IDLE),
      ...times(6, { cores: 1.5, generator: 0.9, busy: 0.3, throttled: 0.8 })
    )
    expect(judgeGeneratorLoad(samples)).toEqual([
      "The load generator was short of CPU: its container may use 1.5 cores and was held back at that limit for 60 % of the run. Its response times include waiting for the generator's own CPU; reduce threads, or raise the limit."
    ])
  })

  test('on the cores that it may use of a large machine', () => {
    const samples = record(...times(10, { cores: 1, generator: 1, busy: 0.1 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      expect.stringContaining('it used 100 % of 1 core for 100 %')
    ])
  })

  test('where the kernel does not say how long processes wait', () => {
    const samples = record(...times(10, { generator: 0.5, busy: 1 }))
    expect(judgeGeneratorLoad(samples)).toHaveLength(1)
  })
})

describe('a load generator that had enough', () => {
  test.each<{ name: string; moments: Moment[] }>([
    { name: 'no samples', moments: [] },
    { name: 'an ordinary run', moments: times(30, { generator: 0.6, busy: 0.8 }) },
    { name: 'busy at its start only', moments: [...times(4, { generator: 1, busy: 1 }), ...times(6, IDLE)] },
    { name: 'a busy run of less than ten seconds', moments: times(4, { generator: 1, busy: 1 }) },
    { name: 'nearly all cores', moments: times(10, { generator: 0.9, busy: 0.93 }) },
    {
      name: 'a busy machine where nothing waits',
      moments: times(10, { generator: 0.6, busy: 1, waitMs: 0 })
    },
    { name: 'a small part of a busy machine', moments: times(10, { generator: 0.1, busy: 1 }) },
    {
      name: 'a busy machine on which its threads wait a little',
      moments: times(10, { generator: 0.6, busy: 1, waitMs: 12 })
    },
    { name: 'long waits on a machine that is not busy', moments: times(10, { busy: 0.5, waitMs: 50 }) },
    { name: 'a few long waits', moments: times(10, { busy: 1, waitMs: 50, runs: 5 }) },
    { name: 'throttled now and then', moments: times(10, { generator: 0.5, throttled: 0.3 }) },
    { name: 'little memory for a moment', moments: [...times(9, {}), { available: 0.01 }] },
    { name: 'swapping with memory to spare', moments: times(10, { available: 0.4, swappedPages: 9000 }) },
    { name: 'a little swapping', moments: times(10, { available: 0.1, swappedPages: 100 }) }
  ])('$name', ({ moments }) => {
    expect(judgeGeneratorLoad(record(...moments))).toEqual([])
  })
})

describe('a load generator that was short of memory', () => {
  test('nothing left', () => {
    const samples = record(...times(6, IDLE), ...times(4, { available: 0.02 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      'The load generator was short of memory: 2 % of 8.0 GB was available for 40 % of the run; it used up to 3.0 GB itself. Its response times include waiting for memory; reduce threads, or use a machine with more.'
    ])
  })

  test('swapping', () => {
    const samples = record(...times(10, { available: 0.1, swappedPages: 5000 }))
    expect(judgeGeneratorLoad(samples)).toEqual([
      expect.stringContaining('10 % of 8.0 GB was available for 100 % of the run, with swapping;')
    ])
  })

  test('a process was killed, even in a short run', () => {
    expect(judgeGeneratorLoad(record({}, { kills: 1 }))).toEqual([
      "The load generator's machine was out of memory: the kernel killed a process during the run. Reduce threads, or use a machine with more memory."
    ])
    expect(judgeGeneratorLoad(record({ kills: 2 }))).toEqual([expect.stringContaining('killed 2 processes')])
  })
})
