import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { renderCharts } from '../../src/report/markdown/charts.js'
import { renderTrend } from '../../src/report/markdown/summary.js'
import { HOSTILE, makeTrend } from '../support/data/make-outcome.js'
import { makeSeries } from '../support/data/make-series.js'
import { diagramsIn, installMermaid, parseDiagrams } from '../support/mermaid.js'

const problem = installMermaid()
// A machine without a network may skip it; CI may not.
const isLeftOut = problem !== undefined && process.env.CI === undefined
const describeParsed = isLeftOut ? describe.skip : describe

describeParsed(`Mermaid itself${isLeftOut ? ` (skipped: ${problem})` : ''}`, () => {
  const SHAPES = {
    usual: makeSeries({
      points: 600,
      p95Ms: (index) => 400 + (index % 100) * 3,
      failures: (index) => (index % 100 === 0 ? 3 : 0)
    }),
    shortest: makeSeries({ points: 2 }),
    'of many hours': makeSeries({ points: 601, bucketMs: 64_000, failures: () => 1 }),
    enormous: makeSeries({ points: 60, p95Ms: () => 1e300, throughput: () => 1e22, failures: () => 1e18 }),
    tiny: makeSeries({ points: 60, p95Ms: () => 1e-9, throughput: () => 1e-9, failures: () => 1 }),
    'all failed at once': makeSeries({ points: 30, p95Ms: () => 0, failures: () => 10 })
  }

  const TRENDS = [
    makeTrend(2),
    makeTrend(30),
    makeTrend(5, () => ({ commit: HOSTILE, p95Ms: 1e300 }), { branch: HOSTILE }),
    makeTrend(3, () => ({ commit: 'a'.repeat(40), p95Ms: 0 }), { bands: {} })
  ]

  test('takes the charts of every shape, in an old version and in the latest', () => {
    expect(problem).toBeUndefined()
    const charts = Object.values(SHAPES).flatMap((series) =>
      [false, true].flatMap((rehearsal) =>
        diagramsIn(renderCharts(series, { rehearsal, isWithoutWarmUp: rehearsal, stalls: [[1000, 500]] }))
      )
    )
    expect(charts).toHaveLength(34)
    const trends = TRENDS.flatMap((trend) => diagramsIn(renderTrend(trend, false)))
    expect(trends).toHaveLength(4)
    const diagrams = [...charts, ...trends]
    const said = parseDiagrams([...diagrams, 'xychart-beta\n    lien [1]'])
    expect(Object.keys(said)).toEqual(['mermaid-11.4', 'mermaid'])
    for (const answers of Object.values(said)) {
      expect(answers.slice(0, -1)).toEqual(diagrams.map(() => 'xychart'))
      // Otherwise it would accept anything.
      expect(answers.at(-1)).toMatch(/^refused: Parse error/)
    }
  }, 120_000)

  test('takes the picture of the architecture', () => {
    const diagrams = diagramsIn(readFileSync('docs/architecture.md', 'utf8'))
    expect(diagrams).toHaveLength(1)
    const answers = Object.values(parseDiagrams(diagrams)).flat()
    expect(answers).toEqual(['flowchart-v2', 'flowchart-v2'])
  }, 120_000)
})
