import { describe, expect, jest, test } from '@jest/globals'
import type { EventStream } from '../../../src/service/pages/send-page.js'
import { type Sight, Watch } from '../../../src/service/pages/watch.js'
import { ManualClock } from '../../support/manual-clock.js'

/** A browser that records what it receives. */
function makeStream(): { heard: string[]; stream: EventStream; leave: () => void } {
  const heard: string[] = []
  let leave = (): void => undefined
  const stream = {
    send: (data: string) => heard.push(data),
    beat: () => heard.push(':'),
    end: (data?: string) => heard.push(`${data ?? ''}.`),
    onClose: (act: () => void) => (leave = act)
  }
  return { heard, stream: stream as unknown as EventStream, leave: () => leave() }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function makeWatch(look: (count: number) => Sight | Error) {
  const clock = new ManualClock()
  const ends: unknown[] = []
  const looks = { count: 0 }
  const watch = new Watch({
    clock,
    look: async () => {
      const sight = look(++looks.count)
      if (sight instanceof Error) throw sight
      return sight
    },
    onEnd: (thrown) => ends.push(thrown),
    countWatched: () => 1
  })
  const pass = async (ms: number): Promise<void> => {
    await clock.advance(ms)
    await settle()
  }
  return { watch, looks, ends, pass }
}

describe('a watch', () => {
  test('polls once per second for all watchers together, and not without any', async () => {
    const { watch, looks, pass } = makeWatch((count) => ({ data: String(count), isLast: false }))
    await pass(10_000)
    expect(looks.count).toBe(0)
    const one = makeStream()
    watch.add(one.stream)
    await settle()
    await pass(1000)
    const two = makeStream()
    watch.add(two.stream)
    await settle()
    await pass(1000)
    expect(one.heard).toEqual(['1', '2', '3'])
    // A later watcher immediately gets what the others know.
    expect(two.heard).toEqual(['2', '3'])
    one.leave()
    two.leave()
    await pass(60_000)
    expect(looks.count).toBe(3)
    const three = makeStream()
    watch.add(three.stream)
    await settle()
    expect(three.heard).toEqual(['4'])
  })

  test('sends nothing if nothing changed, except a keep-alive', async () => {
    const { watch, pass } = makeWatch(() => ({ data: 'same', isLast: false }))
    const { heard, stream } = makeStream()
    watch.add(stream)
    await settle()
    for (let second = 0; second < 14; second++) await pass(1000)
    expect(heard).toEqual(['same'])
    await pass(1000)
    expect(heard).toEqual(['same', ':'])
  })

  test('ends with the last state', async () => {
    const { watch, ends, looks, pass } = makeWatch((count) => ({ data: String(count), isLast: count === 2 }))
    const { heard, stream } = makeStream()
    watch.add(stream)
    await settle()
    await pass(1000)
    await pass(60_000)
    expect(heard).toEqual(['1', '2.'])
    expect(looks.count).toBe(2)
    expect(ends).toEqual([undefined])
  })

  test('ends when polling fails, and the browser reconnects by itself', async () => {
    const broken = new Error('no disk')
    const { watch, ends, pass } = makeWatch((count) => (count === 2 ? broken : { data: 'x', isLast: false }))
    const { heard, stream } = makeStream()
    watch.add(stream)
    await settle()
    await pass(1000)
    expect(heard).toEqual(['x', '.'])
    expect(ends).toEqual([broken])
  })

  test.each([
    ['cheap looks at one thing', 1, 1, 1000],
    ['looks that take longer', 1, 90, 3000],
    ['cheap looks at many things', 200, 3, 20_000],
    ['many things that take long', 30, 30, 30_000]
  ])('%s: everything that is watched has one budget', async (_name, count, lookMs, paceMs) => {
    const clock = new ManualClock()
    const spent = jest.spyOn(performance, 'now')
    let nowMs = 0
    spent.mockImplementation(() => nowMs)
    const times: number[] = []
    const streams = Array.from({ length: count }, (_, index) => {
      const watch = new Watch({
        clock,
        look: () => {
          nowMs += lookMs
          if (index === 0) times.push(clock.elapsedMs)
          return Promise.resolve({ data: 'same', isLast: false })
        },
        onEnd: () => undefined,
        countWatched: () => count
      })
      const made = makeStream()
      watch.add(made.stream)
      return made
    })
    await settle()
    nowMs = 0
    for (let waited = 0; waited < 10 * paceMs; waited += 1000) await clock.advance(1000)
    // The first look may have much to read: it does not count.
    const paces = times.slice(1).map((atMs, i) => times[i + 2]! - atMs)
    expect(paces.slice(0, -1).every((ms) => Math.abs(ms - paceMs) < 5)).toBe(true)
    expect(nowMs / (10 * paceMs)).toBeLessThan(0.035)
    // Nothing looks dead meanwhile.
    const beats = streams[0]!.heard.filter((heard) => heard === ':').length
    expect(beats).toBeGreaterThanOrEqual(Math.floor((10 * paceMs) / 15_000) - 10)
    spent.mockRestore()
  })

  test('one look that takes long slows nothing down', async () => {
    const spent = jest.spyOn(performance, 'now')
    let nowMs = 0
    spent.mockImplementation(() => nowMs)
    const { watch, looks, pass } = makeWatch((count) => {
      nowMs += count % 5 === 1 ? 10_000 : 1
      return { data: String(count), isLast: false }
    })
    watch.add(makeStream().stream)
    await settle()
    for (let second = 0; second < 30; second++) await pass(1000)
    expect(looks.count).toBe(31)
    spent.mockRestore()
  })
})
