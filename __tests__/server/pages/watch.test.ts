import { describe, expect, test } from '@jest/globals'
import type { EventStream } from '../../../src/server/pages/event-stream.js'
import { type Sight, Watch } from '../../../src/server/pages/watch.js'
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
    onEnd: (thrown) => ends.push(thrown)
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
})
