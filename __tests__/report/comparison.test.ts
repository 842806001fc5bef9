import { describe, expect, test } from '@jest/globals'
import { renderComment } from '../../src/report/markdown/comment.js'
import { readHistory } from '../../src/report/markdown/history.js'
import { renderSummary } from '../../src/report/markdown/summary.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { renderPage } from '../../src/report/page/page.js'
import { bytesOf } from '../../src/report/escape.js'
import { terminalLines } from '../../src/cli/outcome-text.js'
import {
  HOSTILE,
  makeBaselineFacts,
  makeCompared,
  makeJudgement,
  makeOutcome,
  makeStoppedEarly,
  makeTrend
} from '../support/data/make-outcome.js'

const LINKS = { artifactUrl: undefined, artifactProblem: undefined, workflowUrl: undefined }
const PLACE = { key: 'k', title: '', commit: '1'.repeat(40), repositoryUrl: undefined, previous: undefined }
const summaryOf = (outcome: Outcome): string => renderSummary(outcome, LINKS)
const commentOf = (outcome: Outcome): string => renderComment(outcome, LINKS, PLACE)
const terminalOf = (outcome: Outcome): string => {
  const { headline, rows, baseline } = terminalLines(outcome)
  return [headline, ...rows.map((row) => row.join(' | ')), ...baseline].join('\n')
}
const MARKDOWN: [string, (outcome: Outcome) => string][] = [
  ['summary', summaryOf],
  ['comment', commentOf]
]
const EVERYWHERE: [string, (outcome: Outcome) => string][] = [
  ...MARKDOWN,
  ['page', (outcome) => renderPage(outcome).split('<script')[0]!],
  ['terminal', terminalOf]
]

const OUTCOMES = ['holds', 'broken', 'unsure', 'no baseline', 'not comparable'] as const
const compared = makeOutcome({
  verdict: 'failed',
  judgements: [
    makeJudgement(),
    ...OUTCOMES.map((outcome) => makeCompared(outcome, { reason: `because ${outcome}` }))
  ],
  baseline: makeBaselineFacts({ notes: ["the runner's CPU differs (A, B)"] })
})

describe.each(MARKDOWN)('the %s', (_, render) => {
  test('has a row with base, head, change and mark for each line that names a baseline', () => {
    const text = render(compared)
    const line = '<code>p95 &#60;= baseline + 10%</code>'
    const base = '310 ms (10 runs, <code>8c5a0f1</code>)'
    for (const row of [
      '| Threshold | Base | This run | Change | Outcome | In words |',
      `| ${line} | ${base} | 386 ms | +24.4 % (+14.2 to +35.6) | ❌ broken | because broken |`,
      `| ${line} | ${base} | 317 ms | +2.1 % (-6.2 to +11.1) | ⚠️ unsure | because unsure |`,
      `| ${line} | – | – | – | ⚠️ no baseline | because no baseline |`,
      `| ${line} | – | – | – | ⚠️ not comparable | because not comparable |`,
      `| ${line} | ${base} | 317 ms | +2.1 % (-6.2 to +11.1) | ✅ holds | because holds |`
    ])
      expect(text).toContain(`${row}\n`)
  })

  test('keeps the columns of other lines', () => {
    expect(render(compared)).toContain(
      '| Threshold | Actual | Margin | Verdict | In words |\n| --- | ---: | --- | --- | --- |\n' +
        '| <code>p95 &#60; 800ms</code> | 640 ms | 20 % below the limit | passed |'
    )
  })

  test('says what the run was compared with', () => {
    expect(render(compared)).toContain(
      "> Compared with 10 runs of main, the newest at <code>8c5a0f1</code>.\n>\n> The runner's CPU differs (A, B).\n"
    )
  })

  test('lets no markup of a document through, and stays small', () => {
    const huge = `${HOSTILE}${'<漢'.repeat(50_000)}`
    for (const text of [HOSTILE, huge]) {
      const baseline = makeBaselineFacts({
        ...{ branch: text, commit: text, reason: text, runs: [text], notes: Array<string>(50).fill(text) }
      })
      const judgement = makeCompared('unsure', { threshold: { text }, reason: text })
      const outcome = makeOutcome({
        run: undefined,
        judgements: Array(60).fill(judgement) as (typeof judgement)[],
        baseline,
        trend: makeTrend(40, () => ({ commit: text, runId: text }), { branch: text }),
        stoppedEarly: makeStoppedEarly({ threshold: text })
      })
      const shown = render(outcome)
      expect(shown).not.toMatch(/<img|@org|(?<!&)#12|\]\(|:\/\/evil|<!-- loadgate -->/)
      expect(shown).toContain('| ⚠️ unsure |')
      expect(shown).toContain('> Compared with 1 run of ')
      expect(bytesOf(shown)).toBeLessThan(render === commentOf ? 65_536 : 1_000_000)
    }
  })
})

describe.each(EVERYWHERE)('the %s', (name, render) => {
  test.each(['unsure', 'no baseline', 'not comparable'] as const)(
    'never shows %s as plain green',
    (outcome) => {
      const text = render(makeOutcome({ judgements: [makeCompared(outcome)] }))
      expect(text.toLowerCase()).toContain('passed, 1 line not judged')
      expect(text).not.toMatch(/✅|class="pill good"|headline good/)
      expect(text).toContain(outcome)
    }
  )

  test('says that a run was stopped early, and what that saved', () => {
    const reason = 'Stopped early after 2 min of 10 min: p95 was above 800 ms.'
    const text = render(makeOutcome({ verdict: 'failed', reason, stoppedEarly: makeStoppedEarly() }))
    expect(text).toContain('stopped early after 2 min of 10 min')
    expect(text).not.toContain('Stopped early')
    expect(text).toContain('p95 was above 800 ms.')
    expect(text).toContain('so the verdict is on its first 2 min; that saved 8 min.')
  })

  test('has no word of a baseline where there is none', () => {
    expect(render(makeOutcome())).not.toMatch(/baseline(?!-)|stopped early/i)
    expect(name).not.toBe('')
  })
})

describe('a comparison that nobody asked for', () => {
  const outcome = makeOutcome({
    shownComparisons: [makeCompared('broken'), makeCompared('holds')],
    baseline: makeBaselineFacts()
  })

  test('is information in the summary, without a mark', () => {
    const text = summaryOf(outcome)
    expect(text).toContain('### Compared with the baseline, for information\n\nNo threshold names `baseline`')
    expect(text).toContain('| +24.4 % (+14.2 to +35.6) | would be broken |')
    expect(text).toContain('| +2.1 % (-6.2 to +11.1) | would hold |')
    expect(text).toMatch(/^## ✅ Load gate: passed ·/)
    expect(text).not.toContain('❌')
  })

  test('is information in the terminal, and not in a comment', () => {
    expect(terminalLines(outcome).baseline).toEqual([
      'Compared with 10 runs of main, the newest at 8c5a0f1.',
      'For information, not judged: p95 <= baseline + 10%: 386 ms, +24.4 % (+14.2 to +35.6), base 310 ms (10 runs, 8c5a0f1)',
      'For information, not judged: p95 <= baseline + 10%: 317 ms, +2.1 % (-6.2 to +11.1), base 310 ms (10 runs, 8c5a0f1)'
    ])
    expect(commentOf(outcome)).not.toContain('baseline')
  })

  test('without figures, the summary only says why', () => {
    const baseline = makeBaselineFacts({ state: 'no baseline', runs: [], reason: 'no run of main yet' })
    const text = summaryOf(makeOutcome({ shownComparisons: [makeCompared('no baseline')], baseline }))
    expect(text).toContain('> No baseline: no run of main yet.\n')
    expect(text).not.toContain('for information')
  })
})

test('the terminal gives outcome, change and base in its table', () => {
  expect(terminalLines(compared).rows).toEqual([
    ['broken', 'p95 <= baseline + 10%', '386 ms', '+24.4 % (+14.2 to +35.6), base 310 ms (10 runs, 8c5a0f1)'],
    ['unsure', 'p95 <= baseline + 10%', '317 ms', '+2.1 % (-6.2 to +11.1), base 310 ms (10 runs, 8c5a0f1)'],
    ['no baseline', 'p95 <= baseline + 10%', '–', '–'],
    ['not comparable', 'p95 <= baseline + 10%', '–', '–'],
    ['passed', 'p95 < 800ms', '640 ms', '20 % below the limit'],
    ['holds', 'p95 <= baseline + 10%', '317 ms', '+2.1 % (-6.2 to +11.1), base 310 ms (10 runs, 8c5a0f1)']
  ])
})

test('the terminal gets no control character of a document', () => {
  const evil = '\u001b[2J\u202e\r\nPASSED'
  const { baseline } = terminalLines(
    makeOutcome({ baseline: makeBaselineFacts({ branch: evil, commit: evil, reason: evil, notes: [evil] }) })
  )
  expect(baseline).toHaveLength(3)
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(baseline.join(' ')).not.toMatch(/[\u0000-\u001f\u202e]/)
})

test('the history of a comment remembers that lines were not judged', () => {
  const first = commentOf(makeOutcome({ judgements: [makeCompared('unsure')] }))
  expect(readHistory(first)).toMatchObject([{ verdict: 'passed', notJudged: 1 }])
  const second = renderComment(makeOutcome(), LINKS, { ...PLACE, commit: '2'.repeat(40), previous: first })
  expect(second).toContain('| <code>1111111</code> | ☑️ passed, 1 line not judged |')
  expect(second).toContain('| <code>2222222</code> | ✅ passed |')
})

test.each([-1, 1.5, '<img>', 1e12, null])('a history that says %p lines is not believed', (notJudged) => {
  const entry = {
    commit: '3'.repeat(40),
    verdict: 'passed',
    apdex: null,
    p95Ms: null,
    rehearsal: false,
    notJudged
  }
  const [read] = readHistory(`<!-- loadgate history ${JSON.stringify([entry])} -->`)
  expect(read).toMatchObject({ verdict: 'passed' })
  expect(read).not.toHaveProperty('notJudged')
})
