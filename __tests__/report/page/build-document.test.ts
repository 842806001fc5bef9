import { describe, expect, test } from '@jest/globals'
import { buildPageDocument } from '../../../src/report/page/build-document.js'
import { makeBroken, makeJudgement, makeOutcome } from '../../support/data/make-outcome.js'
import { makePageOutcome, measureLoad, SHOP_LOAD } from '../../support/data/page-outcome.js'

const page = buildPageDocument(makePageOutcome())

describe('the document of the page', () => {
  test('has a view of everything, of each region and of each grid', () => {
    expect(page.views.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'all all samples',
      'region eu-central-1',
      'region us-east-1',
      'grid grid-a',
      'grid grid-b'
    ])
    expect(page.views.map(({ figures }) => figures.samples)).toEqual([18_000, 9_000, 9_000, 9_000, 9_000])
  })

  test('has one view alone where there is one grid', () => {
    const load = { ...SHOP_LOAD, seconds: 5, grids: [['g', 'local']] as const }
    expect(buildPageDocument(makePageOutcome(load)).views.map(({ kind }) => kind)).toEqual(['all'])
  })

  test('has the figures of each label in each view', () => {
    const { measurements } = makePageOutcome()
    const inUs = page.views[2]!.labels.find(({ label }) => label === 'POST /checkout')!
    const figures = measurements!.figures({ region: 'us-east-1', label: 'POST /checkout' })!
    expect(inUs).toMatchObject({ samples: 1_500, p95: figures.percentileMs(95), apdex: figures.apdex(250) })
    expect(inUs.spark).toMatch(/^\d{24}$/)
  })

  test('draws each limit on a time in the view that it speaks of', () => {
    const limitsOf = (index: number): string[] =>
      page.views[index]!.limits.map(({ text, verdict }) => `${text}: ${verdict}`)
    expect(limitsOf(0)).toEqual(['p95 < 400ms: failed', 'p99 < 600ms: failed', 'median < 100ms: warning'])
    expect(limitsOf(1)).toEqual([])
    expect(limitsOf(2)).toEqual(['p95{region="us-*"} < 450ms: failed'])
    expect(page.views[0]!.limits[0]).toMatchObject({ name: 'p95', ms: 400 })
  })

  test('keeps the labels with the most samples when there are too many, and counts the rest', () => {
    const labels = Array.from({ length: 1_200 }, (_, i) => `label ${i}`)
    const load = { ...SHOP_LOAD, labels, seconds: 50 }
    const { views } = buildPageDocument(makePageOutcome(load))
    expect(views[0]!.labels).toHaveLength(1_200)
    expect(views[0]!.labelsLeftOut).toBe(0)
    // 1,500 rows per grid: the first 300 labels have two of them.
    expect(views[3]!.labels).toHaveLength(500)
    expect(views[3]!.labelsLeftOut).toBe(700)
    expect(views[3]!.labels.slice(0, 300).every(({ samples }) => samples === 2)).toBe(true)
    expect(views[3]!.labels.slice(300).every(({ samples }) => samples === 1)).toBe(true)
  })

  test('says how far from its limit a threshold is, if known', () => {
    const { thresholds } = buildPageDocument(
      makeOutcome({
        judgements: [
          makeJudgement(),
          makeBroken(),
          makeJudgement({ threshold: { value: 0 }, actual: 3 }),
          makeJudgement({ verdict: 'inconclusive', actual: undefined, threshold: { operator: '>=' } })
        ]
      })
    )
    expect(thresholds.map(({ verdict, ratio }) => [verdict, ratio])).toEqual([
      ['failed', 1.5],
      ['inconclusive', null],
      ['passed', 0.8],
      ['passed', null]
    ])
  })

  test('never rounds an apdex up', () => {
    const measurements = measureLoad({ ...SHOP_LOAD, seconds: 10 })
    const figures = { ...measurements.figures({})!, apdex: () => 0.8499999 }
    const outcome = makeOutcome({ measurements: { ...measurements, figures: () => figures } })
    expect(buildPageDocument(outcome).views[0]!.figures.apdex).toBe(0.8499999)
  })
})
