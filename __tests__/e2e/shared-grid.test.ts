import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { get } from '../service/support.js'
import { FaultTestbed, SPEC } from '../support/faults/fault-testbed.js'
import type { Operation } from '../support/faults/fault-proxy.js'
import { Step } from '../support/step/step.js'

const TOKEN = 'a-token-of-22-letters-'

let testbed: FaultTestbed
let steps: Step[]

beforeEach(async () => {
  testbed = await FaultTestbed.open(TOKEN)
  steps = []
})

afterEach(async () => {
  for (const step of steps) step.remove()
  await testbed.close()
})

/** A step of another job, or a later one: with files of its own. */
function newStep(inputs: Record<string, string>): Step {
  const step = new Step()
  step.inputs = { 'base-url': testbed.proxy.url, token: TOKEN, ...inputs }
  steps.push(step)
  return step
}

async function statusOf(grid: string): Promise<string> {
  return (await get(testbed.service, `/grids/${grid}`)).json.status
}

function onlyGrid(grids = ''): string {
  const [first, ...others] = JSON.parse(grids) as { uuid: string }[]
  expect(others).toEqual([])
  return first?.uuid ?? ''
}

/** Waits until the process has sent the request. */
async function reached(child: ChildProcess, operation: Operation): Promise<void> {
  while (testbed.proxy.count(operation) === 0) {
    expect(child.exitCode).toBeNull()
    await sleep(10)
  }
}

test('one grid across jobs: started, used by two gates, which leave it running, and stopped', async () => {
  const start = newStep({ grids: SPEC, keep: 'true' })
  const started = await start.main('grid-start')
  expect(started).toMatchObject({ code: 0 })
  const grid = onlyGrid(started.outputs.grids)
  const { log: lastWords } = await start.post()
  expect(lastWords).toContain(`Grid ${grid} is left running, because keep is true`)

  const gate = testbed.step
  gate.inputs = { ...gate.inputs, grids: started.outputs.grids ?? '' }
  const judge = async (): Promise<string | undefined> => {
    const { outputs } = await gate.main()
    await gate.post()
    expect(outputs.verdict).toBe('passed')
    expect(await statusOf(grid)).toBe('started')
    return outputs['run-id']
  }
  expect(await judge()).not.toBe(await judge())
  expect(testbed.proxy.count('create grid')).toBe(1)

  const stopped = await newStep({ grids: started.outputs.grids ?? '' }).main('grid-stop')
  expect(stopped).toMatchObject({ code: 0 })
  expect(stopped.log).toContain(`Grid ${grid} has ended (stopped).`)
  expect(await statusOf(grid)).toBe('stopped')
  expect(testbed.liveGrids()).toEqual([])
})

describe('the end of the job', () => {
  test('without keep the post step terminates the grid and says so; no log has the token', async () => {
    const step = newStep({ grids: SPEC })
    const started = await step.main('grid-start')
    expect(started.code).toBe(0)
    const grid = onlyGrid(started.outputs.grids)
    expect(await statusOf(grid)).toBe('started')
    const { code, log } = await step.post()
    expect(code).toBe(0)
    expect(log).toContain(`Grid ${grid} was terminated.`)
    expect(await statusOf(grid)).toBe('stopped')
    const printed = (started.log + log).replaceAll(`::add-mask::${TOKEN}`, '')
    expect(printed + step.everythingWritten()).not.toContain(TOKEN)
  })

  test.each(['SIGTERM', 'SIGKILL'] as const)(
    '%s while the grid starts: it ends all the same',
    async (signal) => {
      testbed.proxy.strikes.push({ operation: 'show grid', moment: () => true, fault: () => undefined })
      const step = newStep({ grids: SPEC, keep: 'true' })
      const child = step.start('grid-start')
      const result = step.result(child)
      await reached(child, 'show grid')
      child.kill(signal)
      const { code, outputs } = await result
      expect(code).not.toBe(0)
      const grid = onlyGrid(outputs.grids)
      await step.post()
      expect(await statusOf(grid)).toBe('stopped')
      expect(testbed.liveGrids()).toEqual([])
    }
  )
})

test('bad inputs: all of them are named, and nothing is sent', async () => {
  const { code, log } = await newStep({ 'base-url': 'local', grids: '- a1', keep: 'maybe' }).main(
    'grid-start'
  )
  expect(code).toBe(1)
  expect(log).toMatch(
    /::error::3 invalid inputs, nothing was sent:.*base-url: local.*keep: "maybe".*grids: "a1"/
  )
  const stop = await newStep({ token: '' }).main('grid-stop')
  expect(stop).toMatchObject({ code: 0 })
  expect(stop.log).toContain('::notice::There are no grids to stop')
  expect(testbed.proxy.seen).toEqual([])
})
