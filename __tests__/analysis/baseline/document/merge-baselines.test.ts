import { describe, expect, test } from '@jest/globals'
import {
  BaselineDocumentError,
  addRun,
  mergeBaselines
} from '../../../../src/analysis/baseline/document/baseline-document.js'
import { makeDocument, makeRun, makeRuns, makeScope } from '../../../support/baseline/make-recorded.js'

const HISTOGRAM = { valuesMs: [5], counts: [1000] }

describe('documents of recorders that raced', () => {
  const runs = makeRuns(6)
  const pick = (...places: number[]) => makeDocument(places.map((i) => runs[i]!))

  test('lose no run, have none twice, and are in the order of time, whichever comes first', () => {
    const documents = [pick(0, 1, 2, 5), pick(0, 1, 2, 3), pick(1, 2, 4)]
    expect(mergeBaselines(documents)).toEqual(makeDocument(runs))
    expect(mergeBaselines([...documents].reverse())).toEqual(makeDocument(runs))
  })

  test('that know different things of a run: the one that knows more, or speaks against it', () => {
    const bare = makeRun()
    const full = makeRun({ scopes: [makeScope({ histogram: HISTOGRAM })] })
    const labelled = makeRun({ scopes: [makeScope(), makeScope({ label: 'pay' })] })
    const unusable = makeRun({ unusable: 'it was cancelled' })
    const other = makeRun({ scopes: [makeScope({ meanMs: 121 })] })
    const unite = (...all: (typeof bare)[]) => mergeBaselines(all.map((run) => makeDocument([run]))).runs
    expect(unite(bare, full)).toEqual([full])
    expect(unite(full, labelled, bare)).toEqual([labelled])
    expect(unite(labelled, unusable)).toEqual([unusable])
    expect(unite(bare, other)).toEqual(unite(other, bare))
  })

  test('keep runs of equal time in one order', () => {
    const [a, b] = [makeRun({ runId: 'a' }), makeRun({ runId: 'b' })]
    expect(mergeBaselines([makeDocument([b]), makeDocument([a])]).runs).toEqual([a, b])
  })

  test('of different branches do not belong together', () => {
    const unite = () => mergeBaselines([makeDocument(), makeDocument([], 'next')])
    expect(unite).toThrow(BaselineDocumentError)
    expect(unite).toThrow('different branches, main and next')
    expect(() => mergeBaselines([])).toThrow(BaselineDocumentError)
  })
})

describe('adding a run', () => {
  test('makes a document, and later adds to it', () => {
    const [a, b] = makeRuns(2)
    expect(addRun(addRun(undefined, b!, 'main'), a!, 'main')).toEqual(makeDocument([a!, b!]))
  })

  test('that was recorded before replaces it', () => {
    const again = makeRun({ unusable: 'it was repeated' })
    expect(addRun(makeDocument(), again, 'main').runs).toEqual([again])
  })

  test('keeps the newest fifty, and histograms of the newest ten', () => {
    const scopes = [makeScope({ histogram: HISTOGRAM })]
    const document = makeRuns(60, () => ({ scopes })).reduce(
      (sum, run) => addRun(sum, run, 'main'),
      makeDocument([])
    )
    expect(document.runs.map(({ runId }) => runId)).toEqual(
      Array.from({ length: 50 }, (_, i) => `run${i + 10}`)
    )
    expect(document.runs.map(({ scopes: [scope] }) => scope!.histogram !== undefined)).toEqual(
      Array.from({ length: 50 }, (_, i) => i >= 40)
    )
  })

  test('to the document of another branch is refused', () => {
    expect(() => addRun(makeDocument(), makeRun(), 'next')).toThrow('different branches, main and next')
  })

  test.each([
    ['not a number', makeRun({ scopes: [makeScope({ meanMs: NaN })] })],
    ['a commit that is none', makeRun({ commit: 'a b' })]
  ])('with %s is refused: nobody could read the document again', (_, run) => {
    expect(() => addRun(undefined, run, 'main')).toThrow(BaselineDocumentError)
  })
})
