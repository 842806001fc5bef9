import { expect, test } from '@jest/globals'
import type { RunRecord } from '../../../src/contract/records.js'
import { buildProjectTrend, findRelated, listChoices } from '../../../src/service/pages/related-runs.js'
import { Store } from '../../../src/service/store/store.js'
import { makeRun } from '../store/records.js'

/** A store that is never written to disk, and counts how often it is asked for the runs of a project. */
class CountingStore extends Store {
  questions = 0

  override runsLike(...request: Parameters<Store['runsLike']>): readonly RunRecord[] {
    this.questions++
    return super.runsLike(...request)
  }
}

function fill(count: number): { store: CountingStore; runs: RunRecord[] } {
  const store = new CountingStore('nowhere')
  const runs = Array.from({ length: count }, (_, i) =>
    makeRun({ sequence: i + 1, status: 'finished', samples: 10, request: { project: 'shop' } })
  )
  for (const run of runs) store.create({ run, grids: [] })
  return { store, runs }
}

test('the runs of a project are loaded once, for the trend and for the choices', () => {
  const { store, runs } = fill(300)
  const run = runs.at(-1)!
  const related = findRelated(run, store)
  expect(buildProjectTrend(run, related)?.points).toHaveLength(31)
  expect(listChoices(run, related)[0]?.id).toBe(runs.at(-2)!.id)
  expect(store.questions).toBe(1)
})

test.each([130, 350])('a run with %i later ones still has those before it', (later) => {
  const { store, runs } = fill(500)
  const index = 499 - later
  const run = runs[index]!
  const related = findRelated(run, store)
  expect(new Set(related).size).toBe(related.length)
  const ids = buildProjectTrend(run, related)?.points.map(({ runId }) => runId)
  expect(ids).toEqual(runs.slice(index - 30, index + 1).map(({ id }) => id))
  expect(listChoices(run, related)[0]?.id).toBe(runs[index - 1]!.id)
})
