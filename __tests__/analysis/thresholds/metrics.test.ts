import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { figuresDocument, metricsDocument } from '../../../src/report/verdict-document.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import {
  factsOf,
  METRIC_WORDS,
  METRICS,
  metricNamed,
  type Metric
} from '../../../src/analysis/thresholds/metrics.js'
import { OverTime } from '../../../src/analysis/results/stalls/over-time.js'
import { makeFigures, makeMeasurements, makeSamples } from './make-evidence.js'

const ALL = Object.keys(METRICS) as Metric[]
const nameOf = (metric: Metric): string => (metric === 'percentile' ? 'p95' : metric)
const readPage = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')
const sectionOf = (page: string, heading: string): string =>
  readPage(page)
    .split(`\n${heading}\n`)[1]
    ?.split(/\n##+ /u)[0] ?? ''
const written = (metric: Metric): string => (metric === 'percentile' ? '`pNN`' : `\`${metric}\``)

test('no two metrics have the same name, in this tool or in others', () => {
  const names = [...METRIC_WORDS, ...ALL.flatMap((metric) => factsOf({ metric }).synonyms ?? [])]
  expect(names).toEqual([...new Set(names)])
})

describe.each(ALL)('%s', (metric) => {
  const name = nameOf(metric)
  const facts = factsOf({ metric })

  test('can be read from figures, and its limit can be written', () => {
    expect(facts.read(makeFigures(makeSamples([100, 200])), { percentile: 95, targetMs: 100 })).toEqual(
      expect.any(Number)
    )
    const { problems, thresholds } = parseThresholds(`${name} < ${facts.example}`)
    expect(problems).toEqual([])
    expect(thresholds).toMatchObject([metricNamed(name)])
  })

  test('is compared with a baseline, or refused with its name and what to write instead', () => {
    const operator = facts.better === 'lower' ? '<=' : '>='
    const { baseline } = facts
    const isCompared = typeof baseline !== 'string'
    const sign = facts.better === 'lower' ? '+' : '-'
    const line = `${name} ${operator} baseline${isCompared ? ` ${sign} ${baseline.example}` : ''}`
    const { problems } = parseThresholds(line)
    expect(problems).toEqual(isCompared ? [] : [expect.stringContaining(baseline)])
    expect(isCompared ? name : baseline).toContain(name)
  })

  test('is documented', () => {
    expect(sectionOf('docs/thresholds.md', '## Metrics')).toContain(written(metric))
    const refused = sectionOf('docs/thresholds.md', '### Lines that are refused')
    const compared = sectionOf('docs/thresholds.md', '## Comparing with a baseline')
    expect(typeof facts.baseline === 'string' ? refused : compared).toContain(
      typeof facts.baseline === 'string' ? metric : written(metric)
    )
    const early = sectionOf('docs/verdicts.md', '## Stopping early')
    const isStopped = facts.onlyMoves !== undefined || facts.inWindows !== undefined
    expect(early).toContain(isStopped ? (metric === 'percentile' ? 'percentiles' : written(metric)) : '')
  })
})

test('the documents have every metric, and the schema of verdict.json says so', () => {
  const overTime = new OverTime([], [], 1000, undefined)
  const measurements = makeMeasurements(makeSamples([100]), { changeFigures: { overTime: () => overTime } })
  const { overall } = metricsDocument(measurements, 100)
  const { $defs } = JSON.parse(readPage('schema/verdict.schema.json')) as {
    readonly $defs: Readonly<
      Record<'figures' | 'overTime', { required: string[]; properties: Record<string, unknown> }>
    >
  }
  const figures = Object.keys(figuresDocument(makeFigures(makeSamples([100])), 100))
  expect(figures).toEqual(expect.arrayContaining(METRIC_WORDS))
  expect([...$defs.figures.required].sort()).toEqual([...figures].sort())
  expect(Object.keys($defs.figures.properties).sort()).toEqual([...figures, 'over_time'].sort())
  expect([...$defs.overTime.required].sort()).toEqual(Object.keys(overall?.over_time ?? {}).sort())
  expect(Object.keys($defs.overTime.properties).sort()).toEqual([...$defs.overTime.required].sort())
})
