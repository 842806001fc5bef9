import { describe, expect, test } from '@jest/globals'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkInvariants } from '../support/faults/fault-check.js'
import type { Operation } from '../support/faults/fault-proxy.js'
import { FaultTestbed } from '../support/faults/fault-testbed.js'
import type { StepResult } from '../support/step/step.js'

/** A run that would take a minute, and main, once it was started. */
class Cancelled {
  main: ChildProcess | undefined

  constructor(readonly testbed: FaultTestbed) {}

  start(): Promise<StepResult> {
    this.main = this.testbed.step.start('main')
    return this.testbed.step.result(this.main)
  }

  /** Main, once it has sent this many requests of the operation. */
  async startUntil(operation: Operation, count: number): Promise<{ result: Promise<StepResult> }> {
    const result = this.start()
    for (let tries = 0; this.testbed.proxy.count(operation) < count; tries++) {
      if (tries > 2_000) throw new Error(`main never came to ${operation}`)
      await sleep(10)
    }
    return { result }
  }

  kill(signal: NodeJS.Signals): void {
    this.main?.kill(signal)
  }

  async statuses(): Promise<string[]> {
    return (await this.testbed.ownRuns()).map(({ status }) => status)
  }

  /** The first stop is answered after a while, if ever. */
  slowDownStop(ms: number): void {
    this.testbed.proxy.strikes.push({
      operation: 'stop',
      moment: ({ index }) => index === 0,
      fault: async (exchange) => {
        await sleep(ms)
        exchange.answer(await exchange.commit())
      }
    })
  }
}

/** The tests run at the same time, each on a testbed of its own: they wait more than they work. */
const onTestbed = (run: (gate: Cancelled) => Promise<void>) => async (): Promise<void> => {
  const testbed = await FaultTestbed.open('a-token-of-22-letters-')
  testbed.runInRealTime(60)
  const gate = new Cancelled(testbed)
  try {
    await run(gate)
  } finally {
    gate.kill('SIGKILL')
    await testbed.close()
  }
}
const testOnTestbed = (name: string, run: (gate: Cancelled) => Promise<void>): void =>
  test.concurrent(name, onTestbed(run))

describe('a signal', () => {
  test.concurrent.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    '%s while the run goes on: it is stopped at once, its end is seen, and the step fails as cancelled',
    (signal) =>
      onTestbed(async (gate) => {
        const { testbed } = gate
        const { result } = await gate.startUntil('show run', 2)
        const signalledMs = performance.now()
        gate.kill(signal)
        const ended = await result
        expect(ended).toMatchObject({ code: 1, signal: null })
        expect(ended.outputs.verdict).toBe('cancelled')
        expect(ended.log).toContain(`cancelled by ${signal}`)
        expect(ended.summary).toContain('cancelled')
        expect(await gate.statuses()).toEqual(['finished'])
        const stop = testbed.proxy.seen.find(({ operation }) => operation === 'stop')
        expect(stop!.atMs - signalledMs).toBeLessThan(5_000)
        const post = await testbed.step.post()
        expect(testbed.proxy.count('stop')).toBe(1)
        expect(await checkInvariants(testbed, { main: ended, post, leave: {} })).toEqual([])
      })()
  )

  testOnTestbed('a second one ends main at once; post stops the run', async (gate) => {
    const { testbed } = gate
    gate.slowDownStop(12_000)
    const { result } = await gate.startUntil('show run', 2)
    gate.kill('SIGINT')
    await sleep(300)
    const secondMs = performance.now()
    gate.kill('SIGTERM')
    const ended = await result
    expect(ended.code).toBe(130)
    expect(performance.now() - secondMs).toBeLessThan(8_000)
    expect(ended.outputs.verdict).toBeUndefined()
    const post = await testbed.step.post()
    expect(await gate.statuses()).toEqual(['finished'])
    expect(await checkInvariants(testbed, { main: ended, post, leave: {} })).toEqual([])
  })

  testOnTestbed('before anything was sent: nothing is', async (gate) => {
    const { testbed } = gate
    const result = gate.start()
    await new Promise((resolve) => gate.main?.stdout?.once('data', resolve))
    gate.kill('SIGINT')
    const ended = await result
    const post = await testbed.step.post()
    expect((await testbed.ownRuns()).length).toBeLessThanOrEqual(1)
    expect(await checkInvariants(testbed, { main: ended, post, leave: {} })).toEqual([])
  })
})

describe('what is not ours to stop', () => {
  testOnTestbed('stop-on-cancel: false leaves the run, in main and in post', async (gate) => {
    const { testbed } = gate
    testbed.step.inputs['stop-on-cancel'] = 'false'
    const { result } = await gate.startUntil('show run', 2)
    gate.kill('SIGINT')
    const ended = await result
    const post = await testbed.step.post()
    expect(ended.outputs.verdict).toBe('cancelled')
    expect(testbed.proxy.count('stop')).toBe(0)
    expect(await checkInvariants(testbed, { main: ended, post, leave: { mayRun: true } })).toEqual([])
  })

  testOnTestbed(
    'stop-on-cancel: false leaves the run after a kill of main too, and post says so',
    async (gate) => {
      const { testbed } = gate
      testbed.step.inputs['stop-on-cancel'] = 'false'
      const { result } = await gate.startUntil('show run', 2)
      gate.kill('SIGKILL')
      const ended = await result
      const post = await testbed.step.post()
      expect(ended.signal).toBe('SIGKILL')
      expect(testbed.proxy.count('stop')).toBe(0)
      expect(post.log).toContain('stop-on-cancel is false: the run is left running')
      expect(await checkInvariants(testbed, { main: ended, post, leave: { mayRun: true } })).toEqual([])
    }
  )

  testOnTestbed('a run given by run-id goes on', async (gate) => {
    const { testbed } = gate
    const theirs = await testbed.addOthersRun({
      duration: '600',
      override_parameters: '-Jrehearsal.realtime=true'
    })
    const { 'base-url': url = '', token = '' } = testbed.step.inputs
    testbed.step.inputs = { 'base-url': url, token, 'run-id': theirs, 'poll-interval': '1s' }
    const { result } = await gate.startUntil('show run', 2)
    gate.kill('SIGINT')
    const ended = await result
    const post = await testbed.step.post()
    expect(ended.outputs).toMatchObject({ verdict: 'cancelled', 'run-id': theirs })
    expect(testbed.proxy.count('stop')).toBe(0)
    expect(await checkInvariants(testbed, { main: ended, post, leave: {} })).toEqual([])
  })

  testOnTestbed('a detached run goes on, in post too', async (gate) => {
    const { testbed } = gate
    testbed.step.inputs.wait = 'false'
    const { result } = await gate.startUntil('create run', 1)
    const ended = await result
    const post = await testbed.step.post()
    expect(ended.outputs.verdict).toBe('detached')
    expect(testbed.proxy.count('stop')).toBe(0)
    expect(await checkInvariants(testbed, { main: ended, post, leave: { mayRun: true } })).toEqual([])
  })
})
