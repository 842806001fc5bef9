import { describe, expect, test } from '@jest/globals'
import { renderTrend } from '../../../src/report/markdown/summary.js'
import { bytesOf } from '../../../src/report/escape.js'
import { HOSTILE, makeTrend } from '../../support/data/make-outcome.js'
import { diagramsIn } from '../../support/mermaid.js'

describe('the trend', () => {
  test('is one chart of p95 by commit, between where the next run is expected', () => {
    const text = renderTrend(makeTrend(3), false)
    const [diagram, ...others] = diagramsIn(text)
    expect(others).toEqual([])
    expect(diagram).toContain('    x-axis ["abc0000", "abd0f01", "abe1e02"]\n')
    expect(diagram?.match(/line \[.*\]/g)).toEqual([
      'line [348, 348, 348]',
      'line [272, 272, 272]',
      'line [310, 324, 306]'
    ])
    expect(text).toContain(
      '**p95** (orange) of the last 3 runs of main, oldest first; the last point is this run. ' +
        'The next run is expected between the grey lines, from 272 ms to 348 ms.\n'
    )
    expect(text).toContain(
      '| 3 | <code>abe1e02</code> | 2026-02-03 10:30 UTC | 306 ms | 52.4/s | 0.18 % | this run |'
    )
  })

  test('numbers runs that are too many to name, and keeps the last 30', () => {
    const [diagram] = diagramsIn(renderTrend(makeTrend(50), false))
    const labels = /x-axis \[(.*)\]/.exec(diagram!)?.[1]?.split(', ')
    expect(labels).toHaveLength(30)
    expect(labels?.at(-1)).toBe('"30"')
  })

  test('names the runs of one commit apart', () => {
    const [diagram] = diagramsIn(
      renderTrend(
        makeTrend(3, () => ({ commit: 'a'.repeat(40) })),
        false
      )
    )
    expect(diagram).toContain('x-axis ["aaaaaaa", "aaaaaaa (2)", "aaaaaaa (3)"]')
  })

  test('leaves out what is not usable, but not this run, and says where what was run changed', () => {
    const text = renderTrend(
      makeTrend(6, (index) => ({
        ...(index === 1 && { unusable: 'timed out', p95Ms: 60_000 }),
        ...(index === 2 && { p95Ms: undefined, isAfterChange: true }),
        ...(index === 5 && { unusable: 'ran for a pull request' })
      })),
      false
    )
    expect(text).toContain('2 runs are left out: not part of the baseline, or without a p95.')
    expect(text).toContain('What was run changed before run 2: runs before it are not comparable.')
    expect(text).toContain('this run; not used: ran for a pull request')
    expect(text).not.toContain('60000')
  })

  test.each([
    ['no trend', undefined],
    ['one run', makeTrend(1)],
    ['no p95', makeTrend(5, () => ({ p95Ms: undefined }))],
    ['nothing usable', makeTrend(5, () => ({ unusable: 'timed out' }))]
  ])('is nothing with %s', (_, trend) => {
    expect(renderTrend(trend, false)).toBe('')
  })

  test('of a rehearsal says so', () => {
    const text = renderTrend(makeTrend(3), true)
    expect(text).toContain('### Trend (rehearsal, synthetic samples)')
    expect(text).toContain('title "p95 in ms, rehearsal, synthetic samples"')
  })

  test('lets nothing of a document into the diagram, and no markup into the text', () => {
    const text = renderTrend(
      makeTrend(
        5,
        (index) => ({
          ...{ commit: index === 1 ? 'abcdef1"] --> %%{init' : HOSTILE, runId: HOSTILE, atMs: NaN },
          unusable: index === 4 ? HOSTILE : undefined
        }),
        { branch: HOSTILE }
      ),
      false
    )
    const [diagram, ...others] = diagramsIn(text)
    expect(others).toEqual([])
    expect(diagram).toContain('x-axis ["1", "2", "3", "4", "5"]')
    expect(text.match(/<[^>]*>/g)).toEqual(
      ['details', 'summary', '/summary', 'code', '/code', '/details'].map((tag) => `<${tag}>`)
    )
    expect(text).not.toMatch(/@org|(?<!&)#12|\]\(|(?<!-) --> %%/)
  })

  test('stays small, whatever a document has', () => {
    const huge = '<漢'.repeat(100_000)
    const trend = makeTrend(400, () => ({ commit: huge, runId: huge, unusable: undefined, p95Ms: 1e300 }), {
      branch: huge,
      bands: { p95Ms: { low: -1e300, centre: 0, high: 1e300 } }
    })
    expect(bytesOf(renderTrend(trend, false))).toBeLessThan(60_000)
  })
})
