import { expect, test } from '@jest/globals'
import type { Details } from '../../../src/analysis/outcome.js'
import { renderFailedSamples } from '../../../src/report/markdown/failed-samples.js'
import { renderSummary } from '../../../src/report/markdown/summary.js'
import { makeOutcome } from '../../support/data/make-outcome.js'

const START_MS = 1_700_000_000_000
type Failed = Details['failures'][number]

function makeFailed(changes: Partial<Failed> & { afterMs: number }): Failed {
  const { afterMs, ...rest } = changes
  return {
    ...{ label: 'home', code: '500', message: 'Server Error', thread: 'users 1-1', elapsedMs: 5 },
    atMs: START_MS + afterMs,
    ...rest
  }
}

function render(failures: readonly Failed[]): string {
  const outcome = makeOutcome()
  const measurements = { ...outcome.measurements!, startMs: START_MS }
  const series = { ...measurements.series!, codes: [] }
  return renderFailedSamples({ ...outcome, measurements, details: { overall: series, labels: [], failures } })
}

test('show one of each error before a second one of any, in order of time', () => {
  const many = [0, 1000, 2000, 3000].map((afterMs) => makeFailed({ afterMs }))
  const text = render([...many, makeFailed({ afterMs: 65_000, label: 'pay', code: '', message: '' })])
  expect(text.split('\n').slice(4)).toEqual([
    '| 0:00 | home | 500 | Server Error | users 1-1 |',
    '| 0:01 | home | 500 | Server Error | users 1-1 |',
    '| 0:02 | home | 500 | Server Error | users 1-1 |',
    '| 0:03 | home | 500 | Server Error | users 1-1 |',
    '| 1:05 | pay |  | no message | users 1-1 |'
  ])
  const others = Array.from({ length: 5 }, (_, i) => makeFailed({ afterMs: 9000 + i, label: `label ${i}` }))
  const chosen = render([...many, ...others])
  expect(chosen.match(/\| home \|/g)).toHaveLength(1)
  expect(chosen).toContain('4 more are in verdict.json.')
})

test('take texts for texts', () => {
  const text = render([makeFailed({ afterMs: 0, thread: '<b>|@octocat', label: '', message: '[a](b)' })])
  expect(text).not.toMatch(/<b>|@octocat|\[a\]/)
  expect(text).toContain('(no name)')
})

test('are left out where none failed, and where nobody looked', () => {
  expect(render([])).toBe('')
  const links = { artifactUrl: undefined, artifactProblem: undefined }
  expect(renderSummary(makeOutcome(), links)).not.toContain('First failed samples')
})
