import { describe, expect, test } from '@jest/globals'
import { readFile, writeFile } from 'node:fs/promises'
import type { Outcome } from '../../src/report/outcome.js'
import { bytesOf } from '../../src/report/size.js'
import type { SummaryLinks } from '../../src/report/summary.js'
import { renderSummary } from '../../src/report/summary.js'
import {
  HOSTILE,
  makeBroken,
  makeGridFacts,
  makeJudgement,
  makeOutcome,
  makeRunFacts
} from '../support/make-outcome.js'

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
  reason: 'apdex is not known: the service gave none'
})

const GOLDENS: [string, Outcome, SummaryLinks][] = [
  ['passed', makeOutcome(), LINKS],
  [
    'failed',
    makeOutcome({
      verdict: 'failed',
      reason: '1 threshold is broken: p95 is 1,200 ms, 50 % over the limit of 800 ms',
      judgements: [makeJudgement(), WARNED, UNDECIDED, makeBroken()],
      grids: [makeGridFacts(), makeGridFacts({ gridId: 'grid2', region: 'eu-west-1', nodeCount: 1 })],
      notes: ['Given but without meaning here: retention-days.']
    }),
    LINKS
  ],
  [
    'inconclusive',
    makeOutcome({
      verdict: 'inconclusive',
      reason: 'The CSV of grid grid1 could not be had whole: it broke off',
      apdex: undefined,
      summary: undefined,
      judgements: [UNDECIDED],
      grids: [makeGridFacts({ bytes: undefined, nodeCount: undefined, problem: 'it broke off' })]
    }),
    { artifactUrl: undefined, artifactProblem: 'The artifact x could not be uploaded (403).' }
  ],
  [
    'rehearsal',
    makeOutcome({ rehearsal: true, run: makeRunFacts({ url: undefined }) }),
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
      notes: [HOSTILE]
    }),
    { artifactUrl: 'http://github.example/in-the-clear', artifactProblem: HOSTILE }
  ],
  ['without-a-run', makeOutcome({ verdict: 'error', reason: 'No answer.', ...nothingElse() }), NO_LINKS]
]

function nothingElse(): Partial<Outcome> {
  return { run: undefined, apdex: undefined, summary: undefined, judgements: [], grids: [] }
}

describe('the summary as it is kept on file', () => {
  test.each(GOLDENS)('%s', async (name, outcome, links) => {
    const path = new URL(`../fixtures/summary/${name}.md`, import.meta.url)
    const text = renderSummary(outcome, links)
    // `UPDATE_GOLDENS=1 npm test -- summary` writes them anew; read the difference before it is committed.
    if (process.env.UPDATE_GOLDENS === '1') await writeFile(path, text)
    expect(text).toBe(await readFile(path, 'utf8'))
  })
})

describe('whatever foreign text says', () => {
  const [, , , , hostile] = GOLDENS
  const text = renderSummary(hostile![1], hostile![2])

  test('nothing of it is a tag, a link, a mention or a marker', () => {
    expect(text.match(/<[^>]*>/g)).toEqual(['<code>', '</code>'])
    expect(text).not.toMatch(/@org|(?<!&)#1|\]\(|<!--|:\/\//)
  })

  test('every line of a table has as many cells as its head', () => {
    const rows = text.split('\n').filter((line) => line.startsWith('|'))
    expect(rows).toHaveLength(6)
    expect(rows.map((row) => row.split('|').length)).toEqual(Array(6).fill(7))
  })

  test("the service's words stay within their quotation", () => {
    const from = text.indexOf("### The service's report")
    const section = text.slice(from, text.indexOf('### Grids'))
    const [, ...lines] = section.split('\n').filter((line) => line !== '')
    expect(lines).toHaveLength(6)
    expect(lines.filter((line) => !line.startsWith('> '))).toEqual([])
    expect(lines.slice(3)).toEqual(['> &#45;--', '> indented', '> &#45; item'])
  })
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
    expect(text).toContain('4801 more are in verdict.json.')
    expect(text).toContain(LINKS.artifactUrl)
  })

  test('a report of enormous length is cut, and what follows is there', () => {
    const text = renderSummary(makeOutcome({ summary: huge }), LINKS)
    expect(bytesOf(text)).toBeLessThan(200_000)
    expect(text).toContain('### Grids')
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
