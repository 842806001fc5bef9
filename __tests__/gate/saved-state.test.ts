import { describe, expect, test } from '@jest/globals'
import { SavedState, type StepState } from '../../src/gate/saved-state.js'
import { makeState } from '../support/gate/gate-ports.js'

test('the first state and every change are saved at once, whole', () => {
  const written: StepState[] = []
  const saved = new SavedState(makeState(), (state) => written.push(state))
  expect(written).toEqual([makeState()])
  saved.note({ marker: 'm', cleanupDue: true })
  expect(written.at(-1)).toEqual(makeState({ marker: 'm', cleanupDue: true }))
  saved.note({ runId: 'r' })
  expect(written.at(-1)).toEqual(makeState({ marker: 'm', cleanupDue: true, runId: 'r' }))
  expect(saved.state).toBe(written.at(-1))
  expect(written).toHaveLength(3)
})

describe('another run of the step', () => {
  function begin(changes: Partial<StepState>): StepState {
    const saved = new SavedState(makeState(changes), () => undefined)
    saved.beginAnotherRun({ leaveIfKilled: true })
    return saved.state
  }

  test('leaves the marker of the one before to be checked', () => {
    const earlier = [{ marker: 'm1', runId: 'r1' }]
    expect(begin({ marker: 'm2', runId: 'r2', earlier, leaveIfKilled: false })).toEqual(
      makeState({
        earlier: [...earlier, { marker: 'm2', runId: 'r2' }],
        repeat: undefined,
        leaveIfKilled: true
      })
    )
  })

  test('forgets grids only if they were terminated', () => {
    expect(begin({ madeGrids: ['g'], cleanupDue: true }).madeGrids).toEqual(['g'])
    expect(begin({ madeGrids: ['g'], cleanupDue: false }).madeGrids).toEqual([])
  })

  test('does not let the state grow without end', () => {
    const saved = new SavedState(makeState(), () => undefined)
    for (let run = 1; run <= 80; run++) {
      saved.note({ marker: `m${run}`, runId: `r${run}` })
      saved.beginAnotherRun({ leaveIfKilled: false })
    }
    expect(saved.state.earlier).toHaveLength(50)
    expect(saved.state.earlier?.at(-1)).toEqual({ marker: 'm80', runId: 'r80' })
  })
})

describe('a disk that is full', () => {
  const FULL = new Error('ENOSPC: no space left on device, write')

  function makeLedger(): { saved: SavedState; warnings: string[]; fill: () => void } {
    const warnings: string[] = []
    let isFull = false
    const save = (): void => {
      if (isFull) throw FULL
    }
    const saved = new SavedState(makeState(), save, (message) => warnings.push(message))
    return { saved, warnings, fill: () => void (isFull = true) }
  }

  test('stops what is about to be done', () => {
    const { saved, fill } = makeLedger()
    fill()
    expect(() => saved.note({ marker: 'm' })).toThrow(
      /^The state of the step could not be saved: ENOSPC: .* would not know what to stop, so the gate stops here\./
    )
    expect(saved.state).toEqual(makeState())
  })

  test('does not undo what has happened: it is known here, and there is a warning', () => {
    const { saved, warnings, fill } = makeLedger()
    fill()
    saved.noteDone({ runId: 'r' })
    expect(saved.state.runId).toBe('r')
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
    expect(() => new SavedState(makeState(), save)).toThrow('could not be saved: ENOSPC')
  })
})
