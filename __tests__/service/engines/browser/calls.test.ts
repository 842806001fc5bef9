import { beforeEach, describe, expect, test } from '@jest/globals'
import { Calls, currentCalls } from '../../../../src/service/programs/element/api/calls.js'
import { forScript } from '../../../../src/service/programs/element/api/for-script.js'
import { Mouse } from '../../../../src/service/programs/element/api/element-handle.js'
import {
  explainMissing,
  noticeMissing,
  UnsupportedError,
  watchMissing
} from '../../../../src/service/programs/element/api/constants.js'

let nowMs: number
let calls: Calls
beforeEach(() => {
  nowMs = 0
  calls = new Calls(() => nowMs)
})

/** A promise that ends when it is told to. */
function open(): { promise: Promise<void>; end: () => void } {
  let end: () => void = () => undefined
  const promise = new Promise<void>((resolve) => (end = resolve))
  return { promise, end }
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const think = (rest: Promise<void>): unknown => calls.track(() => calls.think(() => rest))

describe('think time', () => {
  test('of calls at the same time counts once', async () => {
    const rest = open()
    think(rest.promise)
    think(rest.promise)
    nowMs = 2000
    rest.end()
    await settle()
    nowMs = 3000
    expect(calls.idleMs).toBe(2000)
  })

  test('does not count while another call waits for the target', async () => {
    const rest = open()
    const work = open()
    think(rest.promise)
    nowMs = 100
    calls.track(() => work.promise)
    nowMs = 3600
    work.end()
    await settle()
    nowMs = 4000
    rest.end()
    await settle()
    expect(calls.idleMs).toBe(500)
  })

  test('ends with the step, and belongs to the step that began it', async () => {
    const rest = open()
    calls.run(() => void think(rest.promise))
    nowMs = 300
    calls.close()
    const next = new Calls(() => nowMs)
    const work = open()
    next.run(() => void next.track(() => work.promise))
    nowMs = 4000
    rest.end()
    work.end()
    await settle()
    expect([calls.idleMs, next.idleMs]).toEqual([300, 0])
  })
})

describe('calls that nobody waits for', () => {
  test('are pending when the step ends', async () => {
    calls.track(() => new Promise(() => undefined))
    expect(await calls.abandon()).toBe(true)
  })

  test('are not if they had nothing to wait for', async () => {
    calls.track(async () => Promise.resolve().then(() => undefined))
    expect(calls.track(() => 'no promise')).toBe('no promise')
    expect(await calls.abandon()).toBe(false)
  })

  test('fail as any promise does', async () => {
    await expect(calls.track(() => Promise.reject(new Error('no such element')))).rejects.toThrow('no such')
    expect(() =>
      calls.track(() => {
        throw new Error('at once')
      })
    ).toThrow('at once')
    expect(await calls.abandon()).toBe(false)
  })

  test('are known by their step, however late they are made', async () => {
    const gate = open()
    const made = calls.run(async () => {
      await gate.promise
      return currentCalls()
    })
    new Calls().run(gate.end)
    expect(await made).toBe(calls)
    expect(currentCalls()).toBeUndefined()
  })
})

describe('what a script gets', () => {
  const moved: unknown[] = []
  const page = { mouse: { move: (...at: unknown[]) => Promise.resolve(void moved.push(at)) } }

  test('counts its calls', async () => {
    const mouse = forScript(new Mouse(page as never))
    expect(mouse).toBeInstanceOf(Mouse)
    const moving = calls.run(() => mouse.move(1, 2))
    const stuck = new Mouse({ mouse: { down: () => new Promise(() => undefined) } } as never)
    await moving
    expect(await calls.abandon()).toBe(false)
    void calls.run(() => forScript(stuck).down())
    expect(await calls.abandon()).toBe(true)
    expect(moved).toEqual([[1, 2]])
  })
})

describe('a member that does not exist', () => {
  type Any = Record<string, () => unknown>
  const call = (act: () => unknown): Error => {
    try {
      act()
    } catch (thrown) {
      return thrown as Error
    }
    throw new Error('it was not refused')
  }

  test('is refused by name once it is called', () => {
    const said: string[] = []
    watchMissing((words) => said.push(words))
    const mouse = forScript(new Mouse({} as never)) as unknown as Any
    const explained = explainMissing(call(() => mouse.wiggle!()))
    expect(explained).toBeInstanceOf(UnsupportedError)
    expect(explained!.message).toBe('browser.mouse.wiggle is not supported')
    const Until = noticeMissing<Any>({ known: () => 1 }, 'Until')
    expect(explainMissing(call(() => Until.elementIsGreen!()))!.message).toContain('Until.elementIsGreen is')
    expect(Until.known!()).toBe(1)
    expect(said).toEqual(['browser.mouse.wiggle is not supported', 'Until.elementIsGreen is not supported'])
  })

  test('can be asked for', async () => {
    const By = noticeMissing<Record<string, unknown>>({ known: 1 }, 'By')
    expect(['other' in By, typeof By.other, By.other ?? 'else']).toEqual([false, 'undefined', 'else'])
    expect(await Promise.resolve(By)).toBe(By)
  })

  test('of something else is an error like any other', () => {
    const own = {} as Any
    expect(explainMissing(call(() => own.ownMethod!()))).toBeUndefined()
    expect(explainMissing(new Error('wiggle is not a function'))).toBeUndefined()
  })
})
