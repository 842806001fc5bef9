import { describe, expect, test } from '@jest/globals'
import { readFile, writeFile } from 'node:fs/promises'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { bytesOf } from '../../../src/report/escape.js'
import { type SummaryLinks, renderSummary } from '../../../src/report/markdown/summary.js'
import { makeCounted, makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'
import { makeSeries } from '../../support/data/make-series.js'
import {
  HOSTILE,
  makeBroken,
  makeErrors,
  makeGridFacts,
  makeJudgement,
  makeOutcome,
  makeRunFacts
} from '../../support/data/make-outcome.js'
import { makeStalledOutcome } from '../../support/stalls/stalled-run.js'

const LINKS: SummaryLinks = {
  artifactUrl: 'https://github.example/shop/actions/runs/1/artifacts/2',
  artifactProblem: undefined
}
const NO_LINKS: SummaryLinks = { artifactUrl: undefined, artifactProblem: undefined }

const WARNED = makeBroken({ threshold: { text: 'mean < 300ms', level: 'warn' }, reason: 'mean is 1,200 ms' })
const UNDECIDED = makeJudgement({
  threshold: { text: 'apdex >= 0.85', metric: 'apdex', name: 'apdex', operator: '>=', value: 0.85, unit: '' },
  verdict: 'inconclusive',
  actual: undefined,
  margin: undefined,
  reason: 'apdex is unknown: the service gave none'
})

/** Two grids, a slow label, a failing one, and a time line with both. */
const MEASURED = makeMeasurements(
  [
    ...makeSamples([100, 200, 300, 1240], { label: 'checkout', grid: 'grid1' }),
    ...makeSamples([20, 30], { label: 'home', grid: 'grid2', region: 'eu-west-1' }),
    ...makeCounted(8, 2, { label: 'search', grid: 'grid1' })
  ],
  {
    series: makeSeries({ points: 10, p95Ms: (index) => 300 + index * 100, failures: (index) => index % 2 }),
    errors: () =>
      makeErrors(
        { label: 'search', count: 3 },
        { label: 'search', code: '', message: 'Connection refused' },
        { label: undefined, code: '', message: 'other errors', count: 2 }
      )
  }
)

const GOLDENS: [string, Outcome, SummaryLinks][] = [
  ['passed', makeOutcome(), LINKS],
  [
    'failed',
    makeOutcome({
      verdict: 'failed',
      reason: '1 threshold is broken: p95 is 1,200 ms, 50 % over the limit of 800 ms',
      judgements: [makeJudgement(), WARNED, UNDECIDED, makeBroken()],
      measurements: MEASURED,
      grids: [makeGridFacts(), makeGridFacts({ gridId: 'grid2', region: 'eu-west-1', nodeCount: 1 })],
      notes: ['Ignored inputs: retention-days.']
    }),
    LINKS
  ],
  [
    'inconclusive',
    makeOutcome({
      verdict: 'inconclusive',
      reason: 'The CSV of grid grid1 could not be downloaded completely: it broke off',
      apdex: undefined,
      summary: undefined,
      judgements: [UNDECIDED],
      grids: [makeGridFacts({ bytes: undefined, nodeCount: undefined, problem: 'it broke off' })]
    }),
    { artifactUrl: undefined, artifactProblem: 'The artifact x could not be uploaded (403).' }
  ],
  [
    'rehearsal',
    makeOutcome({ rehearsal: true, run: makeRunFacts({ url: undefined }), measurements: MEASURED }),
    { artifactUrl: undefined, artifactProblem: undefined }
  ],
  [
    'hostile',
    makeOutcome({
      verdict: 'failed',
      reason: HOSTILE,
      summary: `${HOSTILE}\n---\n    indented\n- item`,
      run: makeRunFacts({ name: HOSTILE, status: HOSTILE, url: 'javascript:alert(1)' }),
      judgements: [makeBroken({ threshold: { text: `p95{label="${HOSTILE}"} < 800ms` }, reason: HOSTILE })],
      grids: [makeGridFacts({ region: HOSTILE, problem: HOSTILE })],
      measurements: makeMeasurements(makeCounted(3, 1, { label: HOSTILE }), {
        series: makeSeries({ points: 3, failures: () => 1 }),
        errors: () => makeErrors({ label: HOSTILE, code: HOSTILE, message: HOSTILE })
      }),
      notes: [HOSTILE]
    }),
    { artifactUrl: 'http://github.example/in-the-clear', artifactProblem: HOSTILE }
  ],
  ['stalled', makeStalledOutcome(), LINKS],
  ['without-a-run', makeOutcome({ verdict: 'error', reason: 'No answer.', ...nothingElse() }), NO_LINKS]
]

function nothingElse(): Partial<Outcome> {
  return { run: undefined, apdex: undefined, summary: undefined, judgements: [], grids: [] }
}

describe('the summary as it is kept on file', () => {
  test.each(GOLDENS)('%s', async (name, outcome, links) => {
    const path = new URL(`../../fixtures/summary/${name}.md`, import.meta.url)
    const text = renderSummary(outcome, links)
    // `UPDATE_GOLDENS=1 npm test -- summary` rewrites them; review the difference before committing it.
    if (process.env.UPDATE_GOLDENS === '1') await writeFile(path, text)
    expect(text).toBe(await readFile(path, 'utf8'))
  })
})

test('a rehearsal says so where it says that nothing was answered', () => {
  const text = renderSummary(makeStalledOutcome({ rehearsal: true }), NO_LINKS)
  expect(text).toMatch(
    /<summary>At 0:08 nothing was answered .* waited\. \(rehearsal, synthetic samples\)<\/summary>/
  )
})

describe('whatever foreign text says', () => {
  const [, , , , hostile] = GOLDENS
  const text = renderSummary(hostile![1], hostile![2])

  test('nothing of it is a tag, a link, a mention or a marker', () => {
    const written = text.replace(/```mermaid[\s\S]*?```/g, '')
    expect(written.match(/<[^>]*>/g)).toEqual(['<code>', '</code>'])
    expect(written).not.toMatch(/@org|(?<!&)#1|\]\(|<!--|:\/\//)
  })

  test('every line of a table has as many cells as its head', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('|'))
    const cells = rows.map((row) => row.split('|').length - 2)
    expect(cells).toEqual([5, 5, 5, 5, 5, 5, 7, 7, 7, 7, 7, 7, 11, 11, 11])
  })

  test("the service's words stay within their quotation", () => {
    const from = text.indexOf("### The service's report")
    const [, ...lines] = text
      .slice(from)
      .split('\n')
      .filter((line) => line !== '')
    expect(lines).toHaveLength(7)
    expect(lines.slice(0, 6).filter((line) => !line.startsWith('> '))).toEqual([])
    expect(lines.slice(3, 6)).toEqual(['> &#45;--', '> indented', '> &#45; item'])
  })
})

describe('of a rehearsal', () => {
  const [, , , rehearsal] = GOLDENS
  const text = renderSummary(rehearsal![1], rehearsal![2])

  test('every part says so', () => {
    const headings = text.split('\n').filter((line) => line.startsWith('#'))
    expect(headings).toHaveLength(8)
    expect(headings.filter((heading) => !heading.includes('(rehearsal, synthetic samples)'))).toEqual([])
  })
})

test('the key figures are in one line', () => {
  const text = renderSummary(makeOutcome({ measurements: MEASURED }), LINKS)
  expect(text.split('\n')).toContain(
    'apdex **0.93** (T 500 ms) · p95 **1,240 ms** · errors **14.3 %** · throughput **1.4/s** · 14 samples'
  )
})

test('without samples there are no charts or labels', () => {
  const text = renderSummary(makeOutcome({ measurements: makeMeasurements([]) }), LINKS)
  expect(text).not.toMatch(/mermaid|Over time|labels/)
})

describe('the summary fits', () => {
  const MOST = 1024 * 1024
  const huge = '漢字🚀|@#'.repeat(20_000)

  test('thousands of thresholds: the first of them, broken ones first, and how many more', () => {
    const judgements = [
      ...Array.from({ length: 5000 }, (_, index) => makeJudgement({ threshold: { text: `p${index}` } })),
      makeBroken({ threshold: { text: 'the broken one' } })
    ]
    const text = renderSummary(makeOutcome({ judgements }), LINKS)
    expect(bytesOf(text)).toBeLessThan(MOST)
    expect(text.split('\n').find((line) => line.startsWith('| <code>'))).toContain('the broken one')
    expect(text).toContain('4,801 more are in verdict.json.')
    expect(text).toContain(LINKS.artifactUrl)
  })

  test('ten thousand labels: the ten slowest and the ten that fail most, and how many more', () => {
    const samples = Array.from({ length: 10_000 }, (_, index) =>
      makeSamples([index], { label: `${huge.slice(0, 500)}${index}`, isFailed: true })
    ).flat()
    const byLabel = new Map(samples.map((sample) => [sample.label, makeMeasurements([sample])]))
    const measurements = {
      ...makeMeasurements([]),
      labels: [...byLabel.keys()],
      figures: ({ label }: { label?: string }) => byLabel.get(label ?? '')?.figures({})
    }
    const text = renderSummary(makeOutcome({ measurements }), LINKS)
    expect(bytesOf(text)).toBeLessThan(100_000)
    expect(text.match(/9,990 more are in verdict\.json\./g)).toHaveLength(2)
  })

  test('thousands of errors: the twenty most frequent ones, and the others together', () => {
    const errors = Array.from({ length: 5000 }, (_, index) => ({
      label: huge,
      code: huge,
      message: huge,
      count: 9 - index / 1e4
    }))
    const measurements = makeMeasurements([], { errors: () => makeErrors(...errors) })
    const text = renderSummary(makeOutcome({ measurements }), LINKS)
    expect(bytesOf(text)).toBeLessThan(200_000)
    expect(text.split('\n').filter((line) => line.includes('漢字'))).toHaveLength(20)
    expect(text).toMatch(/^\| [\d,]+ \| 99\.\d+ % \| +\| other errors \| +\|$/m)
  })

  test('a report of enormous length is cut, and what follows is there', () => {
    const text = renderSummary(makeOutcome({ summary: huge }), LINKS)
    expect(bytesOf(text)).toBeLessThan(200_000)
    expect(text).toContain(LINKS.artifactUrl)
  })

  test.each([2_000, 1 << 20])('with links of %d characters', (length) => {
    const long = `https://x.example/${'x'.repeat(length)}`
    const outcome = makeOutcome({
      run: makeRunFacts({ url: long }),
      grids: Array.from({ length: 200 }, () => makeGridFacts({ region: huge, problem: huge })),
      judgements: Array.from({ length: 200 }, () => makeBroken({ reason: huge }))
    })
    const text = renderSummary(outcome, { artifactUrl: long, artifactProblem: huge })
    expect(bytesOf(text)).toBeLessThanOrEqual(1_000_100)
    expect(text.includes(long)).toBe(length === 2_000)
    expect(text).toMatch(/\bRun \w+/)
  })

  test('long text in one place is cut there', () => {
    const text = renderSummary(
      makeOutcome({
        run: makeRunFacts({ name: huge }),
        reason: huge,
        judgements: [makeBroken({ reason: huge })],
        grids: [makeGridFacts({ problem: huge })],
        notes: [huge]
      }),
      LINKS
    )
    expect(bytesOf(text)).toBeLessThan(30_000)
    expect(text.split('…')).toHaveLength(6)
    expect(text).not.toContain('Cut to fit')
  })

  test('very much of it: whole characters, a note that it was cut, and the links', () => {
    const text = renderSummary(
      makeOutcome({
        judgements: Array.from({ length: 200 }, () => makeBroken({ reason: huge })),
        grids: Array.from({ length: 200 }, () => makeGridFacts({ region: huge, problem: huge }))
      }),
      { ...LINKS, artifactProblem: huge }
    )
    expect(bytesOf(text)).toBeLessThan(MOST)
    expect(bytesOf(text)).toBeGreaterThan(900_000)
    expect(Buffer.from(text).equals(Buffer.from(Buffer.from(text).toString()))).toBe(true)
    const end = text.slice(-10_000)
    expect(end).toContain('_Cut to fit; verdict.json in the artifact has all of it._\n\n[Run run1]')
    expect(end).toContain(LINKS.artifactUrl)
  })
})
