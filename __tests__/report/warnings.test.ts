import { describe, expect, test } from '@jest/globals'
import { renderComment } from '../../src/report/markdown/comment.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { renderPage } from '../../src/report/page/page.js'
import { renderSummary } from '../../src/report/markdown/summary.js'
import { terminalLines } from '../../src/cli/outcome-text.js'
import { listWarnings } from '../../src/report/sentences.js'
import { HOSTILE, makeOutcome } from '../support/data/make-outcome.js'

const LINKS = { artifactUrl: undefined, artifactProblem: undefined, workflowUrl: undefined }
const PLACE = { key: 'k', title: '', commit: '1'.repeat(40), repositoryUrl: undefined, previous: undefined }

const SHOWN: [string, (outcome: Outcome) => string][] = [
  ['summary', (outcome) => renderSummary(outcome, LINKS)],
  ['comment', (outcome) => renderComment(outcome, LINKS, PLACE)],
  ['page', (outcome) => renderPage(outcome).split('<script')[0]!],
  ['terminal', (outcome) => terminalLines(outcome).warnings.join('\n')]
]

describe.each(SHOWN)('the %s', (_, render) => {
  test('shows warnings and what the service says, also beside a verdict that passed', () => {
    const outcome = makeOutcome({
      warnings: ['reached 1 of 50'],
      remoteErrors: ['node 2 failed', 'node 3 too']
    })
    const text = render(outcome)
    for (const words of [
      'reached 1 of 50',
      'The service says: node 2 failed',
      'The service says: node 3 too'
    ])
      expect(text).toContain(words)
  })

  test('has no word of warning where there is none', () => {
    expect(render(makeOutcome())).not.toMatch(/The service says|<p class="warning">|> ⚠️|^Warning/m)
  })

  test('stays small whatever the service says', () => {
    const long = Array.from({ length: 2_000 }, (__, line) => `${line} ${'<'.repeat(3_000)}`)
    expect(render(makeOutcome({ warnings: long, remoteErrors: long })).length).toBeLessThan(400_000)
  })
})

test.each(SHOWN.slice(0, 2))('the %s lets no markup through', (_, render) => {
  expect(render(makeOutcome({ remoteErrors: [HOSTILE] }))).not.toMatch(/<img|@org|\]\(javascript/)
})

test("a comment with the longest messages of the service still fits GitHub's limit", () => {
  const long = Array.from({ length: 51 }, (_, line) => `${line} ${'<'.repeat(495)}`)
  expect(renderComment(makeOutcome({ remoteErrors: long }), LINKS, PLACE).length).toBeLessThan(65_536)
})

test('ten are shown, the others are counted', () => {
  const shown = listWarnings({ warnings: ['w'], remoteErrors: Array.from({ length: 20 }, (_, i) => `e${i}`) })
  expect(shown).toHaveLength(11)
  expect(shown.at(-1)).toBe('11 more are in verdict.json.')
})
