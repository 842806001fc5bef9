import { describe, expect, test } from '@jest/globals'
import { describeOutcome } from '../../src/cli/outcome-text.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { verdictSchema } from '../../src/contract/verdict.js'
import { decode } from '../../src/contract/decode.js'
import { bytesOf } from '../../src/report/escape.js'
import { renderComment } from '../../src/report/markdown/comment.js'
import { renderSummary } from '../../src/report/markdown/summary.js'
import { buildPageDocument } from '../../src/report/page/build-document.js'
import { renderPage } from '../../src/report/page/page.js'
import { verdictDocument } from '../../src/report/verdict-document.js'
import { compareShops, makeLabelChange, makeLabelChanges } from '../support/data/make-label-changes.js'
import {
  HOSTILE,
  makeBaselineFacts,
  makeCompared,
  makeOutcome,
  makeTrend
} from '../support/data/make-outcome.js'
import { makePageOutcome } from '../support/data/page-outcome.js'

const LINKS = { artifactUrl: undefined, artifactProblem: undefined, workflowUrl: undefined }
const PLACE = { key: 'k', title: '', commit: '1'.repeat(40), repositoryUrl: undefined, previous: undefined }
const summaryOf = (outcome: Outcome): string => renderSummary(outcome, LINKS)
const commentOf = (outcome: Outcome): string => renderComment(outcome, LINKS, PLACE)
const terminalOf = (outcome: Outcome, width?: number): string =>
  describeOutcome(outcome, { place: 'Files: here', width })
const pageOf = (outcome: Outcome): string => renderPage(outcome).split('<script')[0] ?? ''

const failed = makeOutcome({
  verdict: 'failed',
  judgements: [makeCompared('broken')],
  baseline: makeBaselineFacts(),
  warnings: ['the runner was busy'],
  labelChanges: makeLabelChanges()
})
const held = { ...failed, verdict: 'passed', judgements: [makeCompared('holds')] } as const
const SENTENCE =
  'The p95 of each label, what costs users most time first: 1 slower, 1 faster, 2 without a clear change, 1 not comparable, 1 new, 1 gone. For information only: the verdict does not depend on it.'

/** The places of words in a text, none of which may be missing. */
function placesOf(text: string, ...words: string[]): number[] {
  const places = words.map((word) => text.indexOf(word))
  expect(places).not.toContain(-1)
  return places
}

describe('a comparison that failed', () => {
  test.each([
    ['summary', summaryOf],
    ['comment', commentOf]
  ])('says first which requests got slower: %s', (_, render) => {
    const text = render(failed)
    const places = placesOf(text, '## ❌', '### Which requests got slower', '> ⚠️', '### Compared with')
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(text).toContain(
      [
        `### Which requests got slower\n\n${SENTENCE}\n`,
        '| Label | Base | This run | Change | Errors | Finding |',
        '| --- | ---: | ---: | ---: | ---: | --- |',
        '| POST /checkout | 310 ms | 465 ms | +50 % (+38.2 to +62.8) | 0 % → 0 % | ▲ slower |',
        '| POST /cart | 120 ms | 14 ms | – | 0.1 % → 96 % | not comparable |',
        '| GET /search | 200 ms | 150 ms | -25 % (-31 to -18.5) | 0 % → 0 % | ▼ faster |',
        '| GET / | 80 ms | 82 ms | +2.5 % (-8 to +14.2) | 0 % → 0 % | no clear change |',
        '| GET /help | 90 ms | 140 ms | +55.6 % | 0 % → 0 % | no clear change |\n'
      ].join('\n')
    )
    expect(text).not.toContain('<summary>Base and head')
  })

  test('the summary has ten rows and the comment five, and each says what is not in it', () => {
    const rows = Array.from({ length: 12 }, (_, i) => makeLabelChange({ label: `label${i}` }))
    const outcome = { ...failed, labelChanges: makeLabelChanges({ rows, leftOut: 9800 }) }
    const countIn = (text: string): number => text.split('▲ slower').length - 1
    expect(countIn(summaryOf(outcome))).toBe(10)
    expect(summaryOf(outcome)).toContain(
      '\n\n2 more are in verdict.json; 9,800 further labels matter less.\n'
    )
    expect(countIn(commentOf(outcome))).toBe(5)
    expect(commentOf(outcome)).toContain(
      '\n\n7 more are in verdict.json; 9,800 further labels matter less.\n'
    )
    // Without failures there is no column for them.
    expect(summaryOf(outcome)).toContain('| Label | Base | This run | Change | Finding |\n')
  })

  test('the terminal has five rows, right above the verdict', () => {
    const lines = terminalOf(failed).split('\n')
    const at = lines.indexOf(`Which requests got slower: ${SENTENCE}`)
    expect(lines.slice(at + 1)).toEqual([
      'label           base    this run  change                  errors        finding',
      'POST /checkout  310 ms  465 ms    +50 % (+38.2 to +62.8)  0 % → 0 %     slower',
      expect.stringMatching(/^POST \/cart +120 ms +14 ms +– +0\.1 % → 96 % +not comparable$/),
      expect.stringMatching(/^GET \/search +200 ms +150 ms +-25 % \(-31 to -18\.5\) +0 % → 0 % +faster$/),
      expect.stringMatching(/^GET \/ .* no clear change$/),
      expect.stringMatching(/^GET \/help .* \+55\.6 % .* no clear change$/),
      '2 more are in verdict.json.',
      '',
      expect.stringMatching(/^FAILED: /),
      'Files: here',
      ''
    ])
  })

  test('the terminal shortens labels to its width', () => {
    const rows = [makeLabelChange({ label: `GET /${'long/'.repeat(40)}end` })]
    const text = terminalOf({ ...failed, labelChanges: makeLabelChanges({ rows }) }, 80)
    const row = text.split('\n').find((line) => line.endsWith('slower')) ?? ''
    expect(row).toMatch(/^GET \/long.*….*\/end {2}310 ms/)
    expect(row.length).toBeLessThanOrEqual(80)
  })

  test('the page has it as its first section', () => {
    const text = pageOf(failed)
    const places = placesOf(text, 'id="overview"', 'id="label-changes"', 'id="thresholds"', 'id="comparison"')
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(text).toContain('<h2 id="label-changes-title">Which requests got slower</h2>')
    expect(text).toContain(SENTENCE)
    expect(text).toMatch(
      /<span class="pill bad">slower<\/span><\/td><th scope="row"><a href="#label=POST%20%2Fcheckout">POST \/checkout<\/a><\/th><td class="number" data-name="Base">310 ms<\/td><td class="number" data-name="This run">465 ms<\/td><td class="number change" data-name="Change">\+50 % \(\+38\.2 to \+62\.8\)<svg class="gauge bad"/
    )
    expect(text).toContain(
      '<td class="number" data-name="Errors">0.1 % → 96 %</td><td class="number" data-name="Samples">5,000 → 1,000</td>'
    )
    expect(text).toContain('<span class="pill good">faster</span>')
    expect(text).not.toContain('id="compared-times"')
  })

  test('side by side, it says that figures are means of rounds', () => {
    const baseline = makeBaselineFacts({ kind: 'side-by-side' })
    expect(summaryOf({ ...failed, baseline })).toContain(
      'The p95 of each label (mean of 10 rounds), what costs'
    )
  })

  test('a change of next to nothing is in ms', () => {
    const nothing = { base: 0, head: 3, changePct: null, interval: null }
    const labelChanges = makeLabelChanges({ rows: [makeLabelChange(nothing)] })
    expect(summaryOf({ ...failed, labelChanges })).toContain('| 0 ms | 3 ms | +3 ms | ▲ slower |')
  })

  test('none may be slower, which is said', () => {
    const rows = [makeLabelChange({ outcome: 'no clear change', interval: [-3, 110] })]
    const text = summaryOf({ ...failed, labelChanges: makeLabelChanges({ metric: 'median', rows }) })
    expect(text).toContain(
      'The median of each label, what costs users most time first: none clearly slower, 1 without'
    )
  })
})

describe('a comparison that did not fail', () => {
  test('has the same table further down', () => {
    const summary = summaryOf(held)
    expect(summary).not.toContain('Which requests got slower')
    const places = placesOf(
      summary,
      '### Compared with',
      '<details><summary>Base and head by label</summary>'
    )
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(summary).toContain(
      '| POST /checkout | 310 ms | 465 ms | +50 % (+38.2 to +62.8) | 0 % → 0 % | ▲ slower |'
    )
    const page = placesOf(pageOf(held), 'id="thresholds"', 'id="label-changes"')
    expect(page).toEqual([...page].sort((a, b) => a - b))
    expect(pageOf(held)).toContain('<h2 id="label-changes-title">Base and head by label</h2>')
  })

  test('does not put it into comment and terminal', () => {
    expect(commentOf(held)).not.toMatch(/slower|each label|by label/)
    expect(terminalOf(held)).not.toMatch(/slower|each label|by label/)
  })

  test('without a comparison there is none', () => {
    for (const labelChanges of [undefined, makeLabelChanges({ rows: [] })]) {
      const outcome = { ...failed, labelChanges }
      expect(summaryOf(outcome)).not.toContain('requests got slower')
      expect(pageOf(outcome)).toMatch(/<section id="label-changes"[^>]* hidden="">/)
      expect(buildPageDocument(outcome).labelChanges).toBeNull()
    }
    expect(verdictDocument(makeOutcome()).label_changes).toBeNull()
  })
})

describe('labels are untrusted', () => {
  const huge = `${HOSTILE}${'<漢'.repeat(50_000)}`
  const rows = Array.from({ length: 200 }, () => makeLabelChange({ label: huge }))
  const outcome = { ...failed, run: undefined, labelChanges: makeLabelChanges({ rows }) }

  test('in summary and comment, which stay small', () => {
    for (const [text, most] of [
      [summaryOf(outcome), 1_000_000],
      [commentOf(outcome), 65_536]
    ] as const) {
      expect(text).not.toMatch(/<img|@org|(?<!&)#12|\]\(|:\/\/evil|<!-- loadgate -->/)
      expect(text).toContain('▲ slower')
      expect(bytesOf(text)).toBeLessThan(most)
    }
  })

  test('on the page and in the terminal', () => {
    const evil = {
      ...outcome,
      labelChanges: makeLabelChanges({ rows: [makeLabelChange({ label: HOSTILE })] })
    }
    expect(pageOf(evil)).not.toContain('<img')
    const text = terminalOf({
      ...outcome,
      labelChanges: makeLabelChanges({ rows: [makeLabelChange({ label: '\u001b[2J\u202e\nPASSED' })] })
    })
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(text).not.toMatch(/[\u001b\u202e]|^PASSED/m)
  })
})

describe('documents', () => {
  test('verdict.json has the rows, as its schema says', () => {
    const document = verdictDocument({ ...failed, labelChanges: compareShops({ home: 1, pay: 1.5 }) })
    expect(decode(verdictSchema, JSON.parse(JSON.stringify(document)))).toHaveProperty('value')
    expect(document.label_changes).toMatchObject({
      metric: 'p95',
      leftOut: 0,
      rows: [
        {
          label: 'pay',
          outcome: 'slower',
          samples: { base: 600, head: 600 },
          errorRate: { base: 0, head: 0 }
        },
        { label: 'home', outcome: 'no clear change' }
      ]
    })
    expect(Object.keys(document.label_changes ?? {})).toEqual(['metric', 'rows', 'leftOut'])
  })

  test('the page has the change of a label in one sentence, for its own view', () => {
    const rows = buildPageDocument(failed).labelChanges?.rows ?? []
    expect(rows.map(({ words }) => words)).toEqual([
      'Base 310 ms → 465 ms (p95), +50 % (+155 ms): slower.',
      null,
      'Base 200 ms → 150 ms (p95), -25 % (-50 ms): faster.',
      'Base 80 ms → 82 ms (p95), +2.5 % (+2 ms): no clear change.',
      'Base 90 ms → 140 ms (p95), +55.6 % (+50 ms): no clear change.',
      null,
      null
    ])
  })

  test('the page has the commits of both sides, if known', () => {
    const facts = (outcome: Outcome) => buildPageDocument(outcome).run?.facts.slice(-2)
    expect(facts({ ...failed, trend: makeTrend(3) })).toEqual([
      ['Commit', 'abe1e02'],
      ['Base commit', '8c5a0f1']
    ])
    expect(facts({ ...failed, baseline: undefined })?.map(([name]) => name)).toEqual(['Started', 'Stopped'])
  })

  test('the page has the distributions of both sides between common edges', () => {
    const { labelChanges } = buildPageDocument({
      ...failed,
      labelChanges: compareShops({ home: 1, pay: 1.5 })
    })
    const { distributions = [] } = labelChanges ?? {}
    expect(distributions.map(({ label }) => label)).toEqual([null, 'pay', 'home'])
    const middleOf = (edges: readonly number[], shares: readonly number[]): number => {
      let upTo = 0
      return edges[shares.findIndex((share) => (upTo += share) >= 0.5) + 1] ?? NaN
    }
    for (const { edges, base, head } of distributions) {
      for (const shares of [base, head]) {
        expect(shares).toHaveLength(edges.length - 1)
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 2)
      }
      expect(edges).toEqual([...edges].sort((a, b) => a - b))
    }
    const [, pay, home] = distributions
    expect(
      middleOf(pay?.edges ?? [], pay?.head ?? []) / middleOf(pay?.edges ?? [], pay?.base ?? [])
    ).toBeGreaterThan(1.3)
    expect(middleOf(home?.edges ?? [], home?.head ?? [])).toBe(middleOf(home?.edges ?? [], home?.base ?? []))
  })

  test('the page of two hundred changes grows by less than 65 kB', () => {
    const rows = Array.from({ length: 200 }, (_, i) =>
      makeLabelChange({
        label: `GET /api/v1/products/${i}/reviews`,
        errorRate: { base: 0.012, head: 0.0345 }
      })
    )
    const shop = makePageOutcome(undefined, { judgements: failed.judgements })
    const { times } = compareShops(Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`l${i}`, 1])))
    const sizeOf = (changes: Partial<Outcome>): number => bytesOf(renderPage({ ...shop, ...changes }))
    expect(times).toHaveLength(11)
    expect(sizeOf({ labelChanges: makeLabelChanges({ rows, times }) }) - sizeOf({})).toBeLessThan(65_000)
  })
})
