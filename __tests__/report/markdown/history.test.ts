import { describe, expect, test } from '@jest/globals'
import {
  extendHistory,
  readHistory,
  renderHistory,
  writeHistory
} from '../../../src/report/markdown/history.js'
import type { HistoryEntry } from '../../../src/report/markdown/history.js'
import { makeOutcome } from '../../support/data/make-outcome.js'
import { makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'

const commit = (digit: number): string => String(digit).repeat(40)

function makeEntry(changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return { commit: commit(1), verdict: 'passed', apdex: 0.93, p95Ms: 640, rehearsal: false, ...changes }
}

const raw = (json: string): string => `before\n<!-- loadgate history ${json} -->\nafter`

describe('extending it', () => {
  const outcome = makeOutcome({ verdict: 'failed', measurements: makeMeasurements(makeSamples([100, 900])) })

  test('puts the outcome in front', () => {
    expect(extendHistory([makeEntry()], commit(2), outcome)).toEqual([
      { commit: commit(2), verdict: 'failed', apdex: 0.93, p95Ms: 900, rehearsal: false },
      makeEntry()
    ])
  })

  test('keeps one entry for a commit that was judged again', () => {
    const history = [makeEntry({ commit: commit(3) }), makeEntry({ commit: commit(2) })]
    const commits = extendHistory(history, commit(2), outcome).map((entry) => [entry.commit, entry.verdict])
    expect(commits).toEqual([
      [commit(2), 'failed'],
      [commit(3), 'passed']
    ])
  })

  test('keeps the last six', () => {
    let history: HistoryEntry[] = []
    for (let digit = 1; digit <= 9; digit++) history = extendHistory(history, commit(digit), outcome)
    expect(history.map((entry) => entry.commit)).toEqual([9, 8, 7, 6, 5, 4].map(commit))
  })

  test('leaves out what is unknown', () => {
    const [entry] = extendHistory([], commit(1), makeOutcome({ apdex: undefined }))
    expect(entry).toMatchObject({ apdex: null, p95Ms: null })
  })

  test.each(['', 'main', '--> <img>'])('takes no commit such as "%s"', (odd) => {
    expect(extendHistory([makeEntry()], odd, outcome)).toEqual([makeEntry()])
  })
})

describe('reading it back', () => {
  test('gives what was written', () => {
    const history = [makeEntry(), makeEntry({ commit: commit(2), apdex: null, p95Ms: null, rehearsal: true })]
    expect(readHistory(`text\n${writeHistory(history)}\n`)).toEqual(history)
  })

  test.each([
    ['nothing', ''],
    ['no end', '<!-- loadgate history [{"commit":'],
    ['an end that comes first', '--> <!-- loadgate history ['],
    ['no JSON', raw('oops')],
    ['no list', raw('{"length":3}')],
    ['null', raw('null')],
    ['a list of odd things', raw('[null,1,"x",[],{}]')],
    ['a commit with markup', raw(JSON.stringify([makeEntry({ commit: '"><img src=x>' })]))],
    ['a verdict that is none', raw(JSON.stringify([{ ...makeEntry(), verdict: 'toString' }]))],
    ['deep nesting', raw('['.repeat(60_000))]
  ])('gives nothing of %s', (_name, body) => {
    expect(readHistory(body)).toEqual([])
  })

  test('drops invalid numbers, and everything that does not belong to an entry', () => {
    const found = { ...makeEntry(), apdex: '<b>', p95Ms: -1, rehearsal: 'yes', more: '<script>' }
    expect(readHistory(raw(JSON.stringify([found])))).toEqual([makeEntry({ apdex: null, p95Ms: null })])
  })

  test('takes six at most', () => {
    const many = Array.from({ length: 1000 }, () => makeEntry())
    expect(readHistory(raw(JSON.stringify(many)))).toHaveLength(6)
  })
})

describe('showing it', () => {
  test('the newest first, each commit with a link', () => {
    const history = [
      makeEntry({ commit: commit(2), verdict: 'failed', p95Ms: 1240, apdex: null }),
      makeEntry({ rehearsal: true })
    ]
    expect(renderHistory(history, 'https://github.com/octo/shop').split('\n').slice(2)).toEqual([
      `| [<code>2222222</code>](https://github.com/octo/shop/commit/${commit(2)}) | ❌ failed | – | 1,240 ms |`,
      `| [<code>1111111</code>](https://github.com/octo/shop/commit/${commit(1)}) | ✅ passed (rehearsal) | 0.93 | 640 ms |`
    ])
  })

  test('no link where the server has no https', () => {
    const text = renderHistory([makeEntry(), makeEntry({ commit: commit(2) })], 'http://git.local/octo/shop')
    expect(text).not.toContain('](')
  })

  test('one commit is no history', () => {
    expect(renderHistory([makeEntry()], undefined)).toBe('')
  })
})
