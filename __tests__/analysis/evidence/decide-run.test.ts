import { describe, expect, test } from '@jest/globals'
import { decideVerdict } from '../../../src/analysis/evidence/decide-run.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import type {
  Comparison,
  ComparisonOutcome,
  Judgement
} from '../../../src/analysis/thresholds/judge/judgement.js'
import { makeComparison } from '../../support/data/make-comparison.js'

/** The judgement on a line with a limit of its own. */
function absolute(verdict: Judgement['verdict'], line = 'p95 < 1s'): Judgement {
  const [threshold] = parseThresholds(line).thresholds
  return {
    threshold: threshold!,
    verdict,
    actual: 1,
    margin: 0,
    scopesChecked: 1,
    reason: `${line}: ${verdict}`
  }
}

/** The judgement on a line that names `baseline`. */
function compared(
  outcome: ComparisonOutcome,
  ifNotJudged: Comparison['ifNotJudged'] = 'warn',
  line = 'p95 <= baseline + 10%'
): Judgement {
  const verdict = outcome === 'holds' ? 'passed' : outcome === 'broken' ? 'failed' : 'inconclusive'
  return {
    ...absolute(verdict, line),
    reason: `p95 is ${outcome}`,
    comparison: makeComparison({ outcome, ifNotJudged })
  }
}

const PASSED = absolute('passed')
const WARN_LINE = 'warn: mean <= baseline + 20%'

test.each<[string, Judgement[], string, string]>([
  ['a line that holds', [PASSED, compared('holds')], 'passed', 'All 2 thresholds hold.'],
  [
    'a broken one fails as any threshold does',
    [PASSED, compared('broken')],
    'failed',
    '1 threshold is broken: p95 is broken'
  ],
  [
    'a broken one beside one that is not judged',
    [compared('unsure', 'fail'), compared('broken')],
    'failed',
    '1 threshold is broken: p95 is broken'
  ],
  [
    'one that is not judged beside a broken limit',
    [compared('no baseline'), absolute('failed')],
    'failed',
    '1 threshold is broken: p95 < 1s: failed'
  ],
  [
    'a broken warn: line',
    [PASSED, compared('broken', 'warn', WARN_LINE)],
    'passed',
    'The threshold holds. There is a warning: p95 is broken'
  ],
  [
    'a warn: line that is not judged, whatever the settings say',
    [PASSED, compared('unsure', 'fail', WARN_LINE)],
    'passed',
    'The threshold holds. 1 line was not judged: p95 is unsure'
  ],
  [
    'not judged, and a warning',
    [PASSED, compared('unsure'), absolute('failed', 'warn: mean < 1ms')],
    'passed',
    '1 of 2 thresholds holds; 1 line was not judged: p95 is unsure. There is a warning: warn: mean < 1ms: failed'
  ],
  [
    'an inconclusive limit outweighs lines that are not judged',
    [compared('unsure'), absolute('inconclusive')],
    'inconclusive',
    '1 threshold is inconclusive: p95 < 1s: inconclusive'
  ]
])('%s', (_, judgements, verdict, reason) => {
  expect(decideVerdict(judgements, undefined)).toEqual({ verdict, reason })
})

describe.each(['unsure', 'no baseline', 'not comparable'] as const)('a line that is %s', (outcome) => {
  test.each(['warn', 'pass'] as const)('with %s passes, and says so', (ifNotJudged) => {
    expect(decideVerdict([PASSED, PASSED, compared(outcome, ifNotJudged)], undefined)).toEqual({
      verdict: 'passed',
      reason: `2 of 3 thresholds hold; 1 line was not judged: p95 is ${outcome}`
    })
  })

  test('with warn, where nothing else was judged', () => {
    expect(decideVerdict([compared(outcome), compared('unsure')], undefined)).toEqual({
      verdict: 'passed',
      reason: `2 lines were not judged: p95 is ${outcome}`
    })
  })

  test('with fail makes the gate inconclusive', () => {
    expect(decideVerdict([PASSED, compared(outcome, 'fail'), compared('unsure')], undefined)).toEqual({
      verdict: 'inconclusive',
      reason: `1 threshold is inconclusive: p95 is ${outcome}`
    })
  })
})

describe('a gap in the evidence', () => {
  test.each<[string, Judgement[], string]>([
    ['outweighs lines that hold', [compared('holds')], 'inconclusive'],
    ['outweighs lines that are not judged', [PASSED, compared('unsure')], 'inconclusive'],
    ['outweighs a broken comparison, which it may explain', [compared('broken')], 'inconclusive'],
    ['does not outweigh a broken limit', [compared('broken'), absolute('failed')], 'failed']
  ])('%s', (_, judgements, verdict) => {
    expect(decideVerdict(judgements, 'Part of the load was lost.').verdict).toBe(verdict)
  })

  test('is the reason', () => {
    expect(decideVerdict([compared('broken')], 'Part of the load was lost.').reason).toBe(
      'Part of the load was lost.'
    )
  })
})
