import { describe, expect, test } from '@jest/globals'
import { renderComment } from '../../src/report/markdown/comment.js'
import { renderSummary } from '../../src/report/markdown/summary.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { buildPageDocument, type PageDocument } from '../../src/report/page/build-document.js'
import { renderPage } from '../../src/report/page/page.js'
import { verdictDocument } from '../../src/report/verdict-document.js'
import { warmUpSentence } from '../../src/report/sentences.js'
import { mergeRuns, mergeScans } from '../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../src/analysis/results/figures/measurements.js'
import { makeOutcome } from '../support/data/make-outcome.js'
import { scanText } from '../support/data/sample-csv.js'

interface Row {
  readonly startMs: number
  readonly elapsedMs: number
  readonly isFailure?: boolean
}

/** Within a second, so that nothing falls on the edge of a bucket by itself. */
const START_MS = 1_700_000_000_400
const LINKS = { artifactUrl: undefined, artifactProblem: undefined }
const PLACE = { key: 'a1', title: '', commit: '1'.repeat(40), repositoryUrl: undefined, previous: undefined }

function scan(rows: readonly Row[]) {
  const lines = rows.map(
    ({ startMs, elapsedMs, isFailure = false }) => `${startMs},${elapsedMs},home,${!isFailure}`
  )
  return scanText(['timeStamp,elapsed,label,success', ...lines, ''].join('\n'))
}

const rowAt = (seconds: number, elapsedMs = 100, isFailure = false): Row => ({
  startMs: START_MS + seconds * 1000,
  elapsedMs,
  isFailure
})

function isCounted(warmUpMs: number): (row: Row) => boolean {
  return ({ startMs }) => startMs >= START_MS + warmUpMs
}

function warm(warmUpMs: number, whole: Measurements, counted: Measurements): Outcome {
  const leftOut = (name: 'samples' | 'failures'): number =>
    (whole.figures({})?.[name] ?? 0) - (counted.figures({})?.[name] ?? 0)
  return makeOutcome({
    measurements: counted,
    warmUp: { ms: warmUpMs, samples: leftOut('samples'), failures: leftOut('failures'), whole }
  })
}

function warmRows(warmUpMs: number, rows: readonly Row[]): Outcome {
  const counted = rows.filter(isCounted(warmUpMs))
  return warm(warmUpMs, mergeScans([scan(rows)]), mergeScans([scan(counted)]))
}

/** How many samples, or failures, ended in each bucket of the page's series. */
function countEnds({ series }: PageDocument, rows: readonly Row[]): number[] {
  const { bucketMs, atMs } = series!
  const origin = Math.floor(START_MS / bucketMs)
  const counts = atMs.map(() => 0)
  for (const { startMs, elapsedMs } of rows)
    counts[Math.floor((startMs + elapsedMs) / bucketMs) - origin]! += 1
  return counts
}

/** Two seconds of warm-up: its last sample fails long after it, and the second of its end has samples on both sides. */
const ROWS = [
  ...[rowAt(0, 900), rowAt(0.5, 700), rowAt(1.2, 800, true), rowAt(1.9, 4_000, true), rowAt(1.95, 300)],
  ...[rowAt(2, 110), rowAt(2.3, 120), rowAt(3, 130), rowAt(4.2, 140), rowAt(5.4, 150), rowAt(7, 160, true)]
]
const WARMED = warmRows(2_000, ROWS)

describe('the sentence about a warm-up', () => {
  const counted = { measurements: mergeScans([scan([rowAt(40)])]) }
  const none = { measurements: mergeScans([scan([])]) }
  const facts = (samples: number, failures: number, ms = 30_000) => ({
    warmUp: { ms, samples, failures, whole: counted.measurements }
  })
  test.each<[string, Pick<Outcome, 'warmUp' | 'measurements'>, string | undefined]>([
    ['no warm-up', counted, undefined],
    [
      'failures',
      { ...counted, ...facts(1_234, 3) },
      'Warm-up: 30 s; 1,234 samples (3 failed) left out of all figures.'
    ],
    [
      'one sample and minutes',
      { ...counted, ...facts(1, 0, 150_000) },
      'Warm-up: 2 min 30 s; 1 sample (none failed) left out of all figures.'
    ],
    [
      'a run that is all warm-up',
      { ...none, ...facts(1_234, 3) },
      'Warm-up: 30 s; all 1,234 samples (3 failed) left out, so there are no figures.'
    ],
    [
      'a run that is all warm-up, without measurements',
      { measurements: undefined, ...facts(1, 1) },
      'Warm-up: 30 s; all 1 sample (1 failed) left out, so there are no figures.'
    ],
    ['no samples', { ...none, ...facts(0, 0) }, 'Warm-up: 30 s; there were no samples to leave out.']
  ])('with %s', (_, outcome, sentence) => {
    expect(warmUpSentence(outcome)).toBe(sentence)
  })

  const SENTENCE = 'Warm-up: 2 s; 5 samples (2 failed) left out of all figures.'
  const places: [string, (outcome: Outcome) => string][] = [
    ['summary', (outcome) => renderSummary(outcome, LINKS)],
    ['comment', (outcome) => renderComment(outcome, { ...LINKS, workflowUrl: undefined }, PLACE)],
    ['page', (outcome) => renderPage(outcome).replace(/<(style|script)[^]*?<\/\1>/g, '')]
  ]
  test.each(places)('is in the %s', (_, render) => {
    expect(render(WARMED)).toContain(SENTENCE)
    const { warmUp, ...cold } = WARMED
    expect(warmUp).toBeDefined()
    expect(render(cold)).not.toMatch(/warm-up/i)
  })
})

describe('verdict.json', () => {
  test('has what was left out, the figures of what counts, and all rows of the CSVs', () => {
    const document = verdictDocument(WARMED)
    expect(document.warm_up).toEqual({ seconds: 2, samples: 5, failures: 2 })
    expect(document.metrics.overall).toMatchObject({ samples: 6, failures: 1 })
    expect(document.sources).toMatchObject([{ rows: 11, problems: [] }])
    expect(verdictDocument(makeOutcome()).warm_up).toBeNull()
  })
})

describe('the charts of the summary', () => {
  test('leave out the warm-up, and say so', () => {
    const text = renderSummary(WARMED, LINKS)
    expect(text).toContain('The charts leave out the warm-up')
    expect(text).toContain('x-axis "seconds without the warm-up" 0 -->')
    // Of 3 failures, 2 started in the warm-up.
    expect(text).toContain('**Failures**: 1 failed samples')
  })
})

describe('the charts of the page', () => {
  const page = buildPageDocument(WARMED)
  const counted = ROWS.filter(isCounted(2_000))

  test('show the whole run, and where its warm-up ends within a second', () => {
    expect(page.startMs).toBe(START_MS - 400)
    expect(page.series).toEqual(WARMED.warmUp!.whole.series)
    expect(page.warmUp?.untilMs).toBe(2_400)
  })

  test('tell what counts from what does not in each bucket', () => {
    const { throughput, failures, p50Ms } = page.warmUp!.counted!
    expect(page.series!.throughput).toEqual(countEnds(page, ROWS))
    const ends = countEnds(page, counted)
    const first = ends.findIndex((count) => count > 0)
    expect(throughput).toEqual(ends.map((count, i) => (i < first ? null : count)))
    const failed = countEnds(
      page,
      counted.filter(({ isFailure }) => isFailure)
    )
    expect(failures).toEqual(failed.map((count, i) => (i < first ? null : count)))
    expect(p50Ms[first]).toBe(110)
  })

  test('do not count a request that fails long after the warm-up in which it started', () => {
    const at = Math.floor((1_900 + 4_000 + 400) / 1000)
    expect(page.series!.failures[at]).toBe(1)
    expect(page.warmUp!.counted!.failures[at]).toBe(0)
  })

  test('have the same buckets for a run whose rest is short enough for narrower ones', () => {
    const rows = Array.from({ length: 700 }, (_, i) => rowAt(i + (i % 7) / 10, 100 + (i % 13), i % 50 === 0))
    const long = buildPageDocument(warmRows(150_500, rows))
    const ends = countEnds(long, rows.filter(isCounted(150_500)))
    const first = ends.findIndex((count) => count > 0)
    expect(long.series!.bucketMs).toBe(2_000)
    // The bucket in which the warm-up ends is drawn whole.
    const throughput = ends.map((count, i) => (i === first ? long.series!.throughput[i] : count / 2))
    expect(long.warmUp!.counted!.throughput).toEqual(throughput.map((each, i) => (i < first ? null : each)))
    for (const name of ['p50Ms', 'p95Ms', 'p99Ms', 'failures'] as const)
      expect(long.warmUp!.counted![name].slice(first)).toEqual(long.series![name].slice(first))
  })

  test('are all warm-up if no sample counts', () => {
    const all = buildPageDocument(warmRows(60_000, ROWS))
    expect(all.series).toEqual(page.series)
    expect(all.warmUp!.untilMs).toBe(60_400)
    expect(Object.values(all.warmUp!.counted!).flat()).toEqual(
      expect.not.arrayContaining([expect.any(Number)])
    )
    expect(all.views).toEqual([])
    expect(all.sources).toMatchObject([{ rows: 11, problems: ['it has a header but no rows'] }])
  })

  test('drop whole buckets of results without single samples, of whatever width', () => {
    const line = (seconds: number): string =>
      `${1_700_000_010_000 + seconds * 1000},passed,__all,1,2,3,4,r,${seconds + 1}`
    const tidy = (...seconds: number[]) =>
      scanText(
        ['Time,Measurement,Label,Account,Run,Project,Grid,Region,Value', ...seconds.map(line), ''].join('\n')
      )
    const last = warm(15_000, mergeScans([tidy(0, 10, 20)]), mergeScans([tidy(20)]))
    const several = warm(15_000, mergeScans([tidy(0, 10, 20, 30)]), mergeScans([tidy(20, 30)]))
    expect(buildPageDocument(last).warmUp!.counted!.throughput).toEqual([null, null, 2.1])
    expect(buildPageDocument(several).warmUp!.counted!.throughput).toEqual([null, null, 2.1, 3.1])
  })

  test('show only what counts where several runs were laid end to end, each with its warm-up', () => {
    const segment = (atSeconds: number, from: number) =>
      [0, 1, 2, 3].flatMap((second) => (second < from ? [] : [rowAt(atSeconds + second)]))
    const runs = (from: number) => mergeRuns([[scan(segment(0, from))], [scan(segment(3_600, from))]])
    const both = warm(2_000, runs(0), runs(2))
    const document = buildPageDocument(both)
    expect(document.series).toEqual(both.measurements!.series)
    expect(document.warmUp).toMatchObject({ untilMs: null, counted: null })
    expect(document.warmUp!.sentence).toContain('4 samples')
  })
})
