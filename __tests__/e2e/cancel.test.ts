import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkWorld } from '../support/faults/fault-check.js'
import type { Operation } from '../support/faults/fault-proxy.js'
import { FaultWorld } from '../support/faults/fault-world.js'
import type { StepResult } from '../support/step/step.js'

let world: FaultWorld
let main: ChildProcess

beforeEach(async () => {
  world = await FaultWorld.open('a-token-of-22-letters-')
  world.runInRealTime(60)
})

afterEach(async () => {
  main.kill('SIGKILL')
  await world.close()
})

/** Main, once it has sent this many requests of the operation. */
async function startUntil(operation: Operation, count: number): Promise<{ result: Promise<StepResult> }> {
  main = world.step.start('main')
  const result = world.step.result(main)
  for (let tries = 0; world.proxy.count(operation) < count; tries++) {
    if (tries > 2_000) throw new Error(`main never came to ${operation}`)
    await sleep(10)
  }
  return { result }
}

async function statuses(): Promise<string[]> {
  return (await world.ownRuns()).map(({ status }) => status)
}

/** A stop that is answered after a while, if ever. */
function slowDownStop(ms: number): void {
  world.proxy.strikes.push({
    operation: 'stop',
    moment: () => true,
    fault: async (exchange) => {
      await sleep(ms)
      exchange.answer(await exchange.commit())
    }
  })
}

describe('a signal', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    '%s while the run goes on: it is stopped at once, its end is seen, and the step fails as cancelled',
    async (signal) => {
      const { result } = await startUntil('show run', 2)
      const signalledMs = performance.now()
      main.kill(signal)
      const ended = await result
      expect(ended).toMatchObject({ code: 1, signal: null })
      expect(ended.outputs.verdict).toBe('cancelled')
      expect(ended.log).toContain(`cancelled by ${signal}`)
      expect(ended.summary).toContain('cancelled')
      expect(await statuses()).toEqual(['finished'])
      const stop = world.proxy.seen.find(({ operation }) => operation === 'stop')
      expect(stop!.atMs - signalledMs).toBeLessThan(5_000)
      const post = await world.step.post()
      expect(world.proxy.count('stop')).toBe(1)
      expect(await checkWorld(world, { main: ended, post, leave: {} })).toEqual([])
    }
  )

  test('a second one ends main at once; post stops the run', async () => {
    slowDownStop(3_000)
    const { result } = await startUntil('show run', 2)
    main.kill('SIGINT')
    await sleep(300)
    const secondMs = performance.now()
    main.kill('SIGTERM')
    const ended = await result
    expect(ended.code).toBe(130)
    expect(performance.now() - secondMs).toBeLessThan(2_000)
    expect(ended.outputs.verdict).toBeUndefined()
    const post = await world.step.post()
    expect(await statuses()).toEqual(['finished'])
    expect(await checkWorld(world, { main: ended, post, leave: {} })).toEqual([])
  })

  test('before anything was sent: nothing is', async () => {
    main = world.step.start('main')
    const result = world.step.result(main)
    await new Promise((resolve) => main.stdout?.once('data', resolve))
    main.kill('SIGINT')
    const ended = await result
    const post = await world.step.post()
    expect((await world.ownRuns()).length).toBeLessThanOrEqual(1)
    expect(await checkWorld(world, { main: ended, post, leave: {} })).toEqual([])
  })
})

describe('what is not ours to stop', () => {
  test('stop-on-cancel: false leaves the run, in main and in post', async () => {
    world.step.inputs['stop-on-cancel'] = 'false'
    const { result } = await startUntil('show run', 2)
    main.kill('SIGINT')
    const ended = await result
    const post = await world.step.post()
    expect(ended.outputs.verdict).toBe('cancelled')
    expect(world.proxy.count('stop')).toBe(0)
    expect(await checkWorld(world, { main: ended, post, leave: { mayRun: true } })).toEqual([])
  })

  test('stop-on-cancel: false leaves the run after a kill of main too, and post says so', async () => {
    world.step.inputs['stop-on-cancel'] = 'false'
    const { result } = await startUntil('show run', 2)
    main.kill('SIGKILL')
    const ended = await result
    const post = await world.step.post()
    expect(ended.signal).toBe('SIGKILL')
    expect(world.proxy.count('stop')).toBe(0)
    expect(post.log).toContain('stop-on-cancel is false: the run is left running')
    expect(await checkWorld(world, { main: ended, post, leave: { mayRun: true } })).toEqual([])
  })

  test('a run given by run-id goes on', async () => {
    const theirs = await world.addOthersRun({
      duration: '600',
      override_parameters: '-Jrehearsal.realtime=true'
    })
    const { 'base-url': url = '', token = '' } = world.step.inputs
    world.step.inputs = { 'base-url': url, token, 'run-id': theirs, 'poll-interval': '1s' }
    const { result } = await startUntil('show run', 2)
    main.kill('SIGINT')
    const ended = await result
    const post = await world.step.post()
    expect(ended.outputs).toMatchObject({ verdict: 'cancelled', 'run-id': theirs })
    expect(world.proxy.count('stop')).toBe(0)
    expect(await checkWorld(world, { main: ended, post, leave: {} })).toEqual([])
  })

  test('a detached run goes on, in post too', async () => {
    world.step.inputs.wait = 'false'
    const { result } = await startUntil('create run', 1)
    const ended = await result
    const post = await world.step.post()
    expect(ended.outputs.verdict).toBe('detached')
    expect(world.proxy.count('stop')).toBe(0)
    expect(await checkWorld(world, { main: ended, post, leave: { mayRun: true } })).toEqual([])
  })
})
