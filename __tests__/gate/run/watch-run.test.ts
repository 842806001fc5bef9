import { beforeEach, describe, expect, test } from '@jest/globals'
import { CancelledError, DeadlineError } from '../../../src/gate/errors.js'
import { QueueTime, watchRun, type WatchOptions, type Watched } from '../../../src/gate/run/watch-run.js'
import type { Run } from '../../../src/contract/api.js'
import { MalformedReplyError, RefusedError, UnreachableError } from '../../../src/client/errors.js'
import { LogBook, makeRun } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'

let clock: ManualClock
let log: LogBook
let looks: number[]

beforeEach(() => {
  clock = new ManualClock()
  log = new LogBook()
  looks = []
})

/** Watches a run that is what the function says at each moment; a thrown error is a failed look. */
function watch(
  runAt: (elapsedMs: number) => Partial<Run>,
  changes: Partial<WatchOptions> = {}
): Promise<Watched> {
  const show = async (): Promise<Run> => {
    looks.push(clock.elapsedMs)
    return makeRun(runAt(clock.elapsedMs))
  }
  const options = {
    show,
    log,
    clock,
    signal: new AbortController().signal,
    longestMs: 15_000,
    durationSeconds: undefined,
    ...changes
  }
  return clock.run(watchRun(options))
}

/** Queued, running, finished, at these moments. */
function course(runningMs: number, endedMs: number) {
  return (elapsedMs: number) => ({
    status: elapsedMs < runningMs ? 'queued' : elapsedMs < endedMs ? 'running' : 'finished'
  })
}

function refused(status: number, retryAfterMs?: number): RefusedError {
  return new RefusedError('reading run run1', { status, detail: 'so', requestId: undefined, retryAfterMs })
}

const unreachable = () => new UnreachableError('reading run run1', 'reset', { neverSent: false })

describe('the end', () => {
  test.each(['finished', 'stopped', 'problem'])(
    '%s ends the watch, and nobody looks again',
    async (status) => {
      const startMs = clock.now()
      const watched = await watch((elapsedMs) => ({ status: elapsedMs < 5000 ? 'running' : status }))
      expect(watched.run.status).toBe(status)
      expect(watched.sinceMs).toBe(startMs)
      expect(watched.seenEndedMs - startMs).toBe(looks.at(-1))
      expect(looks.filter((atMs) => atMs >= 5000)).toHaveLength(1)
    }
  )

  test('one that has ended already is seen with one look and no wait', async () => {
    await watch(() => ({ status: 'finished' }))
    expect(looks).toEqual([0])
    expect(clock.sleeps).toEqual([])
  })

  test.each([
    ['as asked for', { durationSeconds: 600 }, undefined],
    ['as the run says', {}, 600]
  ])(
    'of ten minutes, %s: within 3 s, with at most a third of the calls of a loop of 3 s',
    async (_, changes, told) => {
      const endMs = 47_000 + 600_000
      await watch((elapsedMs) => ({ ...course(47_000, endMs)(elapsedMs), durationSeconds: told }), changes)
      expect(clock.elapsedMs - endMs).toBeLessThanOrEqual(3_000)
      expect(looks.length).toBeLessThanOrEqual(endMs / 3_000 / 3)
    }
  )

  test.each([
    ['the service tells when it started', 0],
    ["the service's clock is 10 minutes behind", -600_000],
    ["the service's clock is 10 minutes ahead", 600_000]
  ])('%s: still within 3 s and a third of the calls', async (_, skewMs) => {
    const endMs = 100_000 + 600_000
    const startedMs = clock.now() + 100_000 + skewMs
    await watch((elapsedMs) => ({ ...course(100_000, endMs)(elapsedMs), startedMs }), {
      durationSeconds: 600
    })
    expect(clock.elapsedMs - endMs).toBeLessThanOrEqual(3_000)
    expect(looks.length).toBeLessThanOrEqual(endMs / 3_000 / 3)
  })

  test('of a run that was going before the watch: by its own start', async () => {
    const startedMs = clock.now() - 300_000
    const endMs = 300_000
    await watch((elapsedMs) => ({ ...course(0, endMs)(elapsedMs), startedMs, durationSeconds: 600 }))
    expect(clock.elapsedMs - endMs).toBeLessThanOrEqual(3_000)
  })

  test.each([1_000, 5_000])('poll-interval of %d ms is never exceeded', async (longestMs) => {
    await watch(course(10_000, 200_000), { longestMs, durationSeconds: 100 })
    const waits = looks.slice(1).map((atMs, index) => atMs - looks[index]!)
    expect(Math.max(...waits)).toBeLessThanOrEqual(longestMs)
  })
})

describe('the lines', () => {
  test('one at each change, with the time', async () => {
    await watch(course(3_000, 20_000))
    expect(log.of('info').map((line) => line.replace(/\d+ s/, 'N s'))).toEqual([
      'Run run1 has been queued for N s',
      'Run run1 has been running for N s',
      'Run run1 finished after N s'
    ])
  })

  test('a run that has no samples yet is starting, and its duration counts from the first one', async () => {
    const beginMs = clock.now()
    const shown: { status: string; elapsedMs: number; durationMs: number | undefined }[] = []
    const runAt = (elapsedMs: number): Partial<Run> => ({
      ...course(3_000, 31_500)(elapsedMs),
      firstSampleMs: elapsedMs < 11_500 ? null : beginMs + 11_000
    })
    await watch(runAt, { durationSeconds: 20, longestMs: 1_000, onProgress: (each) => shown.push(each) })
    expect(log.of('info').map((line) => line.replace(/\d+ s( so far)?/, 'N s$1'))).toEqual([
      'Run run1 has been queued for N s',
      'Run run1 is starting (N s so far)',
      'Run run1 has been running for N s of 20 s',
      'Run run1 finished after N s'
    ])
    expect(shown.filter(({ status }) => status === 'starting').at(-1)).toMatchObject({
      durationMs: undefined
    })
    const running = shown.filter(({ status }) => status === 'running')
    expect(running[0]!.elapsedMs).toBeLessThan(2_000)
    expect(Math.max(...running.map(({ elapsedMs }) => elapsedMs))).toBeLessThanOrEqual(20_500)
  })

  test.each([
    ['ahead', 3_600_000],
    ['behind', -3_600_000]
  ])('a service whose clock is %s says no more than that there are samples', async (_, offsetMs) => {
    const beginMs = clock.now()
    const elapsed: number[] = []
    const runAt = (elapsedMs: number): Partial<Run> => ({
      ...course(0, 30_000)(elapsedMs),
      firstSampleMs: elapsedMs < 8_000 ? null : beginMs + 8_000 + offsetMs
    })
    const onProgress: WatchOptions['onProgress'] = ({ status, elapsedMs }) =>
      status === 'running' && elapsed.push(elapsedMs)
    await watch(runAt, { durationSeconds: 20, longestMs: 1_000, onProgress })
    expect(elapsed[0]).toBeLessThanOrEqual(1_000)
    expect(Math.max(...elapsed)).toBeLessThanOrEqual(23_000)
  })

  test('a run that is stopped before its first sample is stopping', async () => {
    await watch((elapsedMs) => ({
      status: elapsedMs < 5_000 ? 'running' : elapsedMs < 9_000 ? 'stopping' : 'finished',
      firstSampleMs: null
    }))
    expect(log.of('info').join('\n')).toMatch(/is starting .*\n.*has been stopping for .*\n.*finished after/)
  })

  test('none in between where progress is shown otherwise', async () => {
    const shown: string[] = []
    await watch(course(0, 600_000), { onProgress: ({ status }) => shown.push(status) })
    expect(log.of('info')).toHaveLength(2)
    expect(shown.length).toBeGreaterThan(30)
  })

  test('now and then in between, once a minute', async () => {
    await watch(course(0, 600_000), { durationSeconds: 600 })
    const running = log.of('info').filter((line) => line.includes('running'))
    expect(running.length).toBeGreaterThanOrEqual(8)
    expect(running.length).toBeLessThanOrEqual(10)
    expect(running.at(-1)).toMatch(/^Run run1 has been running for (8|9) min( \d+ s)? of 10 min$/)
  })

  test('an unknown status: still waiting, with one notice each', async () => {
    const { run } = await watch((elapsedMs) => ({
      status:
        elapsedMs < 60_000
          ? 'warming'
          : elapsedMs < 120_000
            ? 'cooling'
            : elapsedMs < 180_000
              ? 'warming'
              : 'finished'
    }))
    expect(run.status).toBe('finished')
    expect(log.of('notice')).toEqual([
      'Unknown status "warming"; still waiting.',
      'Unknown status "cooling"; still waiting.'
    ])
  })
})

describe('failed looks', () => {
  test.each([
    ['no connection', unreachable],
    ['503', () => refused(503)],
    ['429', () => refused(429)],
    ['a reply that makes no sense', () => new MalformedReplyError('reading run run1', 'html')]
  ])('%s for 2 minutes in the middle of a run is tolerated', async (_, error) => {
    const { run } = await watch((elapsedMs) => {
      if (elapsedMs > 60_000 && elapsedMs < 180_000) throw error()
      return course(0, 300_000)(elapsedMs)
    })
    expect(run.status).toBe('finished')
    expect(log.of('info').filter((line) => line.endsWith(' Retrying.'))).toHaveLength(1)
    expect(log.of('info')).toContain('The service is responding again.')
  })

  test('a service that stays away ends the watch with its last word, after more than 2 minutes and less than 10', async () => {
    const watching = watch((elapsedMs) => {
      if (elapsedMs > 60_000) throw refused(503)
      return { status: 'running' }
    })
    await expect(watching).rejects.toMatchObject({ status: 503 })
    expect(clock.elapsedMs).toBeGreaterThan(180_000)
    expect(clock.elapsedMs).toBeLessThan(600_000)
  })

  test('short outages do not add up', async () => {
    const { run } = await watch((elapsedMs) => {
      if (elapsedMs % 200_000 > 50_000) throw unreachable()
      return course(0, 2_000_000)(elapsedMs)
    })
    expect(run.status).toBe('finished')
  })

  test('401 is the end at once: it is about the token', async () => {
    const watching = watch((elapsedMs) => {
      if (elapsedMs > 0) throw refused(401)
      return { status: 'running' }
    })
    await expect(watching).rejects.toMatchObject({ status: 401 })
    expect(looks).toHaveLength(2)
  })

  test.each([403, 407])(
    "%d may be a firewall's or a proxy's: the token has worked before",
    async (status) => {
      const { run } = await watch((elapsedMs) => {
        if (elapsedMs > 10_000 && elapsedMs < 50_000) throw refused(status)
        return course(0, 120_000)(elapsedMs)
      })
      expect(run.status).toBe('finished')
    }
  )

  test.each([403, 407])('%d that stays is the end after a minute', async (status) => {
    const watching = watch((elapsedMs) => {
      if (elapsedMs > 0) throw refused(status)
      return { status: 'running' }
    })
    await expect(watching).rejects.toMatchObject({ status })
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(clock.elapsedMs).toBeLessThan(80_000)
  })

  test('an error of our own is not taken for an outage', async () => {
    const watching = watch(() => {
      throw new TypeError('a bug')
    })
    await expect(watching).rejects.toThrow('a bug')
    expect(looks).toHaveLength(1)
  })

  test('404 of a run that was made just now is tolerated', async () => {
    const { run } = await watch((elapsedMs) => {
      if (elapsedMs < 10_000) throw refused(404)
      return course(15_000, 20_000)(elapsedMs)
    })
    expect(run.status).toBe('finished')
  })

  test.each([404, 410, 302, 400, 422])(
    '%d for some seconds in the middle of a run, as an ingress answers during a deployment, is tolerated',
    async (status) => {
      const { run } = await watch((elapsedMs) => {
        if (elapsedMs > 60_000 && elapsedMs < 90_000) throw refused(status)
        return course(0, 300_000)(elapsedMs)
      })
      expect(run.status).toBe('finished')
      expect(log.of('info')).toContain('The service is responding again.')
    }
  )

  test.each([
    ['from the first look on', 0],
    ['after it was seen', 60_000]
  ])('404 for ever, %s: the run is gone, and that is said after a minute', async (_, sinceMs) => {
    let firstMs: number | undefined
    const watching = watch((elapsedMs) => {
      if (elapsedMs < sinceMs) return { status: 'running' }
      firstMs ??= elapsedMs
      throw refused(404)
    })
    await expect(watching).rejects.toMatchObject({ status: 404 })
    expect(clock.elapsedMs - firstMs!).toBeGreaterThanOrEqual(60_000)
    expect(clock.elapsedMs - firstMs!).toBeLessThan(75_000)
  })

  test('404 behind an outage has its own minute', async () => {
    const { run } = await watch((elapsedMs) => {
      if (elapsedMs > 60_000 && elapsedMs < 180_000) throw refused(503)
      if (elapsedMs >= 180_000 && elapsedMs < 220_000) throw refused(404)
      return course(0, 300_000)(elapsedMs)
    })
    expect(run.status).toBe('finished')
  })

  test('a look that fails once is not taken for a long silence, however seldom there is one', async () => {
    let failures = 0
    const { run } = await watch(
      (elapsedMs) => {
        if (elapsedMs > 4_000_000 && failures++ === 0) throw refused(404)
        return course(0, 5_000_000)(elapsedMs)
      },
      { longestMs: 900_000 }
    )
    expect(run.status).toBe('finished')
    expect(failures).toBeGreaterThan(1)
  })

  test('Retry-After is honoured', async () => {
    await watch((elapsedMs) => {
      if (elapsedMs === 0) throw refused(429, 40_000)
      return { status: 'finished' }
    })
    expect(looks).toEqual([0, 40_000])
  })
})

describe('what ends the watch from outside', () => {
  test.each([
    ['the deadline', new DeadlineError('late')],
    ['a cancelled job', new CancelledError('SIGTERM')]
  ])('%s while it waits', async (_, reason) => {
    const controller = new AbortController()
    const watching = watch(
      (elapsedMs) => {
        if (elapsedMs > 20_000) setImmediate(() => controller.abort(reason))
        return { status: 'running' }
      },
      { signal: controller.signal }
    )
    await expect(watching).rejects.toBe(reason)
    expect(clock.pendingCount).toBe(0)
  })

  test('while a look is under way: the reason counts, not the broken request', async () => {
    const controller = new AbortController()
    const reason = new CancelledError('SIGINT')
    const watching = watch(
      () => {
        controller.abort(reason)
        throw unreachable()
      },
      { signal: controller.signal }
    )
    await expect(watching).rejects.toBe(reason)
  })

  test('before the first look', async () => {
    const reason = new DeadlineError('late')
    await expect(watch(() => ({}), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    expect(looks).toEqual([])
  })
})

describe("a run in the service's queue", () => {
  /** Position 3, then 2, then running, then finished. */
  const queued = (elapsedMs: number): Partial<Run> => {
    if (elapsedMs < 60_000) return { status: 'queued', queuePosition: 3 }
    if (elapsedMs < 3_600_000) return { status: 'queued', queuePosition: 2 }
    return { status: elapsedMs < 3_660_000 ? 'running' : 'finished' }
  }

  test('has a line for each change of its position, and none in between but the usual ones', async () => {
    const queueTime = new QueueTime()
    await watch(queued, { queueTime, onProgress: () => undefined, durationSeconds: 60 })
    const lines = log.lines.filter((line) => line.includes('queue'))
    expect(lines).toHaveLength(2)
    expect(lines[0]).toContain("Run run1 is waiting in the service's queue, position 3 (0 s so far)")
    expect(lines[1]).toContain("waiting in the service's queue, position 2")
    expect(queueTime.totalMs(clock.now())).toBeGreaterThanOrEqual(3_600_000)
    expect(queueTime.totalMs(clock.now())).toBeLessThan(3_620_000)
  })

  test('says why it does not start, in the words of the service, whenever that changes', async () => {
    await watch((elapsedMs) => ({
      ...queued(elapsedMs),
      ...(elapsedMs < 1_800_000 && { waitingReason: 'the queue is held: restored' })
    }))
    const lines = log.lines.filter((line) => line.includes('position'))
    expect(lines[0]).toContain('position 3 (0 s so far): the queue is held: restored')
    expect(lines.filter((line) => line.includes('position 2')).map((line) => line.includes('held'))).toEqual(
      expect.arrayContaining([true, false])
    )
  })

  test('is seen to end within 3 s: its end is expected from its start, not from its creation', async () => {
    await watch(queued, { durationSeconds: 60 })
    expect(looks.at(-1)! - 3_660_000).toBeLessThan(3000)
  })

  test('goes on being watched over a restart of the service that takes two minutes', async () => {
    const watched = await watch((elapsedMs) => {
      if (elapsedMs > 30_000 && elapsedMs < 150_000) throw elapsedMs < 120_000 ? unreachable() : refused(503)
      return queued(elapsedMs)
    })
    expect(watched.run.status).toBe('finished')
  })
})

describe('the time in the queue', () => {
  test('is told with what to do about it, or not at all', () => {
    const time = new QueueTime()
    expect(time.describe(1000)).toBeUndefined()
    time.note(4, 1000)
    time.note(2, 31_000)
    expect(time.describe(61_000)).toBe(
      "60 s of it passed in the service's queue, last at position 2: raise timeout, start fewer runs at once, or let the service have more nodes at work (max-nodes)."
    )
    time.note(undefined, 71_000)
    expect(time.describe(500_000)).toMatch(/^70 s of it passed in the service's queue: /)
  })

  test('is told with the reason of the service, if it has one: more time or nodes would change nothing', () => {
    const time = new QueueTime()
    const held = 'the queue is held: restored. An admin lets it go with `loadgate queue resume`'
    time.note(1, 1000, held)
    expect(time.describe(61_000)).toBe(
      "60 s of it passed in the service's queue, last at position 1: the queue is held: restored. An admin lets it go with `loadgate queue resume`."
    )
    time.note(1, 61_000)
    expect(time.describe(61_000)).toContain('raise timeout')
  })

  test('is never negative, even if the wall clock is set back', () => {
    const time = new QueueTime()
    time.note(1, 3_600_000)
    expect(time.totalMs(0)).toBe(0)
  })
})
