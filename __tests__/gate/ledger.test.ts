import { expect, test } from '@jest/globals'
import { Ledger } from '../../src/gate/ledger.js'
import type { StepState } from '../../src/gate/step-state.js'
import { makeState } from '../support/gate-bench.js'

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
