import { describe, expect, test } from '@jest/globals'
import { Ledger } from '../../src/gate/saved-state.js'
import type { StepState } from '../../src/gate/step-state.js'
import { makeState } from '../support/gate/gate-bench.js'

test('the first state and every change are saved at once, whole', () => {
  const saved: StepState[] = []
  const ledger = new Ledger(makeState(), (state) => saved.push(state))
  expect(saved).toEqual([makeState()])
  ledger.note({ marker: 'm', cleanupDue: true })
  expect(saved.at(-1)).toEqual(makeState({ marker: 'm', cleanupDue: true }))
  ledger.note({ runId: 'r' })
  expect(saved.at(-1)).toEqual(makeState({ marker: 'm', cleanupDue: true, runId: 'r' }))
  expect(ledger.state).toBe(saved.at(-1))
  expect(saved).toHaveLength(3)
})

describe('a disk that is full', () => {
  const FULL = new Error('ENOSPC: no space left on device, write')

  function makeLedger(): { ledger: Ledger; warnings: string[]; fill: () => void } {
    const warnings: string[] = []
    let isFull = false
    const save = (): void => {
      if (isFull) throw FULL
    }
    const ledger = new Ledger(makeState(), save, (message) => warnings.push(message))
    return { ledger, warnings, fill: () => void (isFull = true) }
  }

  test('stops what is about to be done', () => {
    const { ledger, fill } = makeLedger()
    fill()
    expect(() => ledger.note({ marker: 'm' })).toThrow(
      /^The state of the step could not be saved: ENOSPC: .* would not know what to stop, so the gate does not go on\./
    )
    expect(ledger.state).toEqual(makeState())
  })

  test('does not undo what has happened: it is known here, and there is a warning', () => {
    const { ledger, warnings, fill } = makeLedger()
    fill()
    ledger.noteDone({ runId: 'r' })
    expect(ledger.state.runId).toBe('r')
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The state of the step could not be saved: ENOSPC: .* If this step is killed now/
      )
    ])
  })

  test('stops the step before its first deed', () => {
    const save = (): void => {
      throw FULL
    }
    expect(() => new Ledger(makeState(), save)).toThrow('could not be saved: ENOSPC')
  })
})
