import { describe, expect, test } from '@jest/globals'
import type { RecordedRun } from '../../../../src/contract/baseline.js'
import { type BaseQuery, selectBase } from '../../../../src/analysis/baseline/document/select-base.js'
import { FINGERPRINT, makeCommit, makeDocument, makeRuns } from '../../../support/baseline/make-recorded.js'

const commitOf = (i: number): string => makeCommit(`c${i}e`)

/** The ids of the chosen runs, the commit and the notes; or why there are none. */
function select(runs: readonly RecordedRun[], changes: Partial<BaseQuery> = {}): unknown {
  const query = {
    fingerprint: FINGERPRINT,
    ancestors: runs.map(({ commit }) => commit).reverse(),
    baseCommit: undefined
  }
  const found = selectBase(makeDocument(runs), { ...query, ...changes })
  return 'outcome' in found ? found : { ...found, runs: found.runs.map(({ runId }) => runId) }
}

test.each([
  ['a parameter', 'parameter users', true],
  ['a data file that is named like one', 'data file the parameter `users`', false]
])('if %s is new, ignore-parameters may help or not', (_, part, mayHelp) => {
  const found = select(makeRuns(2), { fingerprint: { ...FINGERPRINT, [part]: 'a' } })
  expect(found).toMatchObject({
    outcome: 'not comparable',
    reason: expect.stringContaining('`users` is new')
  })
  expect(JSON.stringify(found).includes('can be listed in ignore-parameters')).toBe(mayHelp)
})

describe('the runs to compare with', () => {
  test('are those of the base commit and of its ancestors, oldest first', () => {
    expect(select(makeRuns(5), { ancestors: [commitOf(1), commitOf(0)], baseCommit: commitOf(3) })).toEqual({
      runs: ['run0', 'run1', 'run3'],
      commit: commitOf(3),
      notes: []
    })
  })

  test('are the newest twenty', () => {
    const runs = Array.from({ length: 20 }, (_, i) => `run${i + 10}`)
    expect(select(makeRuns(30))).toEqual({ runs, commit: commitOf(29), notes: [] })
  })

  test('always have the base commit among them, however often older ones ran again', () => {
    const found = select(
      makeRuns(30, (i) => (i > 3 ? { commit: commitOf(1) } : {})),
      { baseCommit: commitOf(3) }
    )
    expect(found).toMatchObject({ commit: commitOf(3), notes: [] })
    expect((found as { runs: string[] }).runs).toHaveLength(20)
    expect((found as { runs: string[] }).runs.at(-1)).toBe('run3')
  })

  test('are in the order of their commits, also if an old one ran again or pushes ended out of order', () => {
    const again = makeRuns(6, (i) => (i === 5 ? { commit: commitOf(1) } : {}))
    const ancestors = [3, 4, 2, 1, 0].map(commitOf)
    expect(select(again, { ancestors })).toEqual({
      runs: ['run0', 'run1', 'run5', 'run2', 'run4', 'run3'],
      commit: commitOf(3),
      notes: []
    })
  })

  test('do not let reruns of old commits drop newer ones', () => {
    const runs = makeRuns(40, (i) => (i > 20 ? { commit: commitOf(0) } : {}))
    const ancestors = Array.from({ length: 21 }, (_, i) => commitOf(20 - i))
    const newest = Array.from({ length: 20 }, (_, i) => `run${i + 1}`)
    expect(select(runs, { ancestors })).toMatchObject({ runs: newest, commit: commitOf(20) })
  })

  test('are all runs of a commit', () => {
    const runs = makeRuns(3, () => ({ commit: commitOf(0) }))
    expect(select(runs, { ancestors: [], baseCommit: commitOf(0) })).toMatchObject({
      runs: ['run0', 'run1', 'run2']
    })
  })

  test('are neither unusable nor of another plan, nor the run itself', () => {
    const runs = makeRuns(4, (i) => ({
      unusable: i === 1 ? 'it was cancelled' : null,
      fingerprint: i === 2 ? { plan: 'other' } : FINGERPRINT
    }))
    expect(select(runs, { excludeRunId: 'run3' })).toMatchObject({ runs: ['run0'] })
  })

  test('are found by the full id of a commit', () => {
    const runs = makeRuns(2)
    expect(
      select(runs, { ancestors: [commitOf(0).slice(0, 7)], baseCommit: commitOf(1).toUpperCase() })
    ).toEqual({
      runs: ['run1'],
      commit: commitOf(1),
      notes: []
    })
  })
})

describe('if the base commit has no run', () => {
  const baseCommit = makeCommit('a514cef')

  test('an ancestor is used, and a note says so', () => {
    expect(select(makeRuns(2), { baseCommit })).toMatchObject({
      commit: commitOf(1),
      notes: ['no run on main for a514cef, so c1e0000 was used']
    })
  })

  test.each<[string, Partial<RecordedRun>, string]>([
    ['usable', { unusable: 'it was cancelled' }, 'cannot be used (it was cancelled)'],
    ['comparable', { fingerprint: { plan: 'x' } }, 'cannot be used (it is not comparable)']
  ])('that is %s, the note says why', (_, changes, words) => {
    const runs = makeRuns(3, (i) => (i === 2 ? { commit: baseCommit, ...changes } : {}))
    expect(select(runs, { baseCommit })).toMatchObject({
      runs: ['run0', 'run1'],
      notes: [`the run on main for a514cef ${words}, so c1e0000 was used`]
    })
  })

  test('nor an ancestor: the newest comparable commit, and that other changes may be in between', () => {
    const runs = makeRuns(4, (i) =>
      i === 3 ? { fingerprint: { plan: 'x' } } : i === 1 ? { commit: commitOf(2) } : {}
    )
    expect(select(runs, { ancestors: [makeCommit('ff')], baseCommit })).toEqual({
      runs: ['run1', 'run2'],
      commit: commitOf(2),
      notes: [
        'no run on main is of a514cef or an ancestor of it (was main force-pushed?), so c2e0000 was used; other changes may be in between'
      ]
    })
  })

  test('nor one of those before it that are known: nobody is said to have forced a push', () => {
    const ancestors = Array.from({ length: 500 }, (_, i) => makeCommit(`b${i}e`))
    expect(select(makeRuns(3), { ancestors, baseCommit, isHistoryCut: true })).toMatchObject({
      runs: ['run2'],
      notes: [
        'no run on main is of a514cef or one of the last 500 commits before it, so c2e0000 was used; other changes may be in between'
      ]
    })
  })

  test('and the history is not known: all comparable runs, and a note', () => {
    expect(select(makeRuns(3), { ancestors: undefined, baseCommit })).toEqual({
      runs: ['run0', 'run1', 'run2'],
      commit: commitOf(2),
      notes: [
        'the history of main is unknown here (no git clone, or one without the commits of its runs), so its newest comparable runs were used; other changes may be in between'
      ]
    })
  })
})

describe('nothing to compare with', () => {
  test('when nothing was recorded', () => {
    expect(select([])).toEqual({
      outcome: 'no baseline',
      reason: 'no run on main was recorded yet; the next one there is the first'
    })
  })

  test('when no run is usable', () => {
    expect(select(makeRuns(2, (i) => ({ unusable: `reason\n${i}` })))).toEqual({
      outcome: 'no baseline',
      reason: 'none of the recorded runs on main (2) can be used; the newest, of c1e0000: reason 1'
    })
  })

  test('when none is comparable: what differs from the newest', () => {
    const runs = makeRuns(3, (i) => ({ fingerprint: { ...FINGERPRINT, threads: `${i}` } }))
    expect(select(runs)).toEqual({
      outcome: 'not comparable',
      reason:
        'threads: 5, was 2, compared with the newest run on main (c2e0000); the next run on main with these settings starts a new baseline'
    })
  })
})
