import { describe, expect, test } from '@jest/globals'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { StartGate } from '../../../src/service/runs/run-on-grids.js'

interface Caller {
  state: string
  readonly controller: AbortController
}

function come(gate: StartGate): Caller {
  const caller: Caller = { state: 'waiting', controller: new AbortController() }
  gate.pass(caller.controller.signal).then(
    () => (caller.state = 'started'),
    (thrown: unknown) => (caller.state = (thrown as Error).message)
  )
  return caller
}

function createGate(count: number): { gate: StartGate; openings: () => number } {
  let openings = 0
  return { gate: new StartGate(count, () => (openings += 1)), openings: () => openings }
}

describe('the start of all nodes', () => {
  test('nobody starts before the last one is ready, and then all do', async () => {
    const { gate, openings } = createGate(3)
    const [one, two] = [come(gate), come(gate)]
    await nextTurn()
    expect([one.state, two.state, openings()]).toEqual(['waiting', 'waiting', 0])
    const three = come(gate)
    await nextTurn()
    expect([one.state, two.state, three.state, openings()]).toEqual(['started', 'started', 'started', 1])
    // A second command of a node.
    const again = come(gate)
    await nextTurn()
    expect([again.state, openings()]).toEqual(['started', 1])
  })

  test('if one fails before, nothing starts, whoever comes later', async () => {
    const { gate, openings } = createGate(3)
    const one = come(gate)
    gate.fail('node 2 of 3 failed')
    const three = come(gate)
    await nextTurn()
    const words = 'no node was started, because node 2 of 3 failed'
    expect([one.state, three.state, openings()]).toEqual([words, words, 0])
  })

  test('a failure after the start is too late to stop the others', async () => {
    const { gate } = createGate(1)
    const one = come(gate)
    gate.fail('late')
    const again = come(gate)
    await nextTurn()
    expect([one.state, again.state]).toEqual(['started', 'started'])
  })

  test('nobody waits for a node that was called off, before or after it came', async () => {
    const { gate } = createGate(3)
    const [one, two] = [come(gate), come(gate)]
    two.controller.abort(new Error('its grid was deleted'))
    gate.leave()
    await nextTurn()
    expect([one.state, two.state]).toEqual(['waiting', 'its grid was deleted'])
    gate.leave()
    await nextTurn()
    expect([one.state, two.state]).toEqual(['started', 'its grid was deleted'])
  })

  test('where all have left, nothing was started', () => {
    const { gate, openings } = createGate(2)
    gate.leave()
    gate.leave()
    expect(openings()).toBe(0)
  })

  test('one that was opened before lets everybody through', async () => {
    const late = come(StartGate.opened())
    await nextTurn()
    expect(late.state).toBe('started')
  })
})
