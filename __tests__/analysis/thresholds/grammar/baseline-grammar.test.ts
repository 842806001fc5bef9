import { describe, expect, test } from '@jest/globals'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import {
  isAbsoluteThreshold,
  isBaselineThreshold
} from '../../../../src/analysis/thresholds/grammar/threshold.js'
import type { Allowance, Threshold } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import { parseOne, problemsOf } from '../../../support/evidence/parse-line.js'

describe('lines of the contract', () => {
  test.each<[string, Partial<Threshold> & { allowance: Allowance }]>([
    [
      'p95 <= baseline + 10%',
      {
        metric: 'percentile',
        name: 'p95',
        percentile: 95,
        operator: '<=',
        level: 'fail',
        selector: {},
        text: 'p95 <= baseline + 10%',
        allowance: { ratio: 0.1 }
      }
    ],
    [
      'p95{label="checkout"} <= baseline + max(10%, 20ms)',
      {
        percentile: 95,
        selector: { label: { text: 'checkout', pieces: ['checkout'] } },
        allowance: { ratio: 0.1, amount: 20 }
      }
    ],
    ['throughput >= baseline - 5%', { metric: 'throughput', operator: '>=', allowance: { ratio: 0.05 } }],
    ['error_rate <= baseline + 0.5pp', { metric: 'error_rate', allowance: { amount: 0.005 } }],
    ['apdex >= baseline - 0.02', { metric: 'apdex', allowance: { amount: 0.02 } }],
    [
      'warn: mean <= baseline + 20%',
      { metric: 'mean', level: 'warn', text: 'mean <= baseline + 20%', allowance: { ratio: 0.2 } }
    ]
  ])('%s', (line, expected) => {
    const threshold = parseOne(line)
    expect(threshold).toMatchObject(expected)
    expect('allowance' in threshold && threshold.allowance).toEqual(expected.allowance)
    expect([isBaselineThreshold(threshold), isAbsoluteThreshold(threshold)]).toEqual([true, false])
  })
})

describe('what these imply', () => {
  test.each<[string, Allowance]>([
    ['p95 <= baseline', {}],
    ['p95 < baseline # as good as before', {}],
    ['apdex > baseline', {}],
    ['error_rate < baseline', {}],
    ['throughput>=baseline-5%', { ratio: 0.05 }],
    ['p95<=baseline+10%', { ratio: 0.1 }],
    ['p95 <= baseline + 0%', { ratio: 0 }],
    ['p95 <= baseline + 12.5 %', { ratio: 0.125 }],
    ['p95 <= baseline + 250%', { ratio: 2.5 }],
    ['median < baseline + 20ms', { amount: 20 }],
    ['p99.9 <= baseline + 0.5s', { amount: 500 }],
    ['throughput > baseline - 5/s', { amount: 5 }],
    ['throughput >= baseline - 60 /min', { amount: 1 }],
    ['error_rate <= baseline + 0.7 pp', { amount: 0.007 }],
    ['p50 <= baseline + max(20ms, 10%)', { ratio: 0.1, amount: 20 }],
    ['p50 <= baseline+max( 1s ,10 % )', { ratio: 0.1, amount: 1000 }],
    ['throughput >= baseline - max(5%, 2/s)', { ratio: 0.05, amount: 2 }],
    ['p95{region="us-*", label="*"} <= baseline + 5%', { ratio: 0.05 }],
    ['p95{label="baseline"} <= baseline', {}]
  ])('%s', (line, allowance) => {
    const threshold = parseOne(line)
    expect(threshold).toHaveProperty('allowance', allowance)
    expect(threshold).not.toHaveProperty('value')
  })

  test('a label with that name does not make a line one of these', () => {
    expect(isAbsoluteThreshold(parseOne('p95{label="baseline"} < 800ms # baseline + 10%'))).toBe(true)
  })
})

const DIRECTION = (name: string, better: string): string =>
  `${name} baseline would fail a run for a ${better}`
const DEMAND = (sign: string, what: string): string =>
  `baseline ${sign} demands a ${what} in every run, so one that is as good as before would fail`
const ONE_SAMPLE = 'is the time of a single sample, which proves nothing about a run'

describe('refused, with the reason and what to write instead', () => {
  test.each<[string, string[]]>([
    [
      'p95 == baseline',
      [
        'column 5: two runs are never exactly equal, so == baseline would always fail: write p95 <= baseline + 10%'
      ]
    ],
    [
      'throughput == baseline - 5%',
      [
        'column 12: two runs are never exactly equal, so == baseline would always fail: write throughput >= baseline - 5%'
      ]
    ],
    [
      'throughput = baseline',
      ['column 12: unknown operator "="; known operators are <, <=, >, >=, ==: did you mean ">="?']
    ],
    [
      'p95 >= baseline',
      [`column 5: ${DIRECTION('p95 >=', 'lower')} p95, which is better: write p95 <= baseline + 10%`]
    ],
    [
      'mean > baseline - 10%',
      [`column 6: ${DIRECTION('mean >', 'lower')} mean, which is better: write mean <= baseline + 10%`]
    ],
    [
      'throughput <= baseline + 5%',
      [
        `column 12: ${DIRECTION('throughput <=', 'higher')} throughput, which is better: write throughput >= baseline - 5%`
      ]
    ],
    [
      'error_rate >= baseline',
      [
        `column 12: ${DIRECTION('error_rate >=', 'lower')} error_rate, which is better: write error_rate <= baseline + 0.5pp`
      ]
    ],
    [
      'apdex < baseline',
      [`column 7: ${DIRECTION('apdex <', 'higher')} apdex, which is better: write apdex >= baseline - 0.02`]
    ],
    ['p95 <= baseline - 10%', [`column 17: ${DEMAND('-', 'lower p95')}: write baseline + 10%`]],
    ['throughput >= baseline + 5%', [`column 24: ${DEMAND('+', 'higher throughput')}: write baseline - 5%`]],
    ['apdex >= baseline + 0.1', [`column 19: ${DEMAND('+', 'higher apdex')}: write baseline - 0.02`]],
    [
      'error_rate <= baseline - 0.5pp',
      [`column 24: ${DEMAND('-', 'lower error_rate')}: write baseline + 0.5pp`]
    ],
    [
      'error_rate <= baseline + 0.5%',
      ['column 29: "%" is ambiguous here, a share of the rate or percentage points: did you mean 0.5pp?']
    ],
    [
      'error_rate <= baseline + 1 percent',
      ['column 28: "percent" is ambiguous here, a share of the rate or percentage points: did you mean 1pp?']
    ],
    [
      'apdex >= baseline - 5%',
      ['column 22: % of a score is ambiguous; apdex takes a plain difference: did you mean 0.05?']
    ],
    ['min <= baseline + 10%', [`column 1: min ${ONE_SAMPLE}: compare median or p95`]],
    ['max <= baseline + 10%', [`column 1: max ${ONE_SAMPLE}: compare p95 or p99`]],
    ['p100 <= baseline + 10%', [`column 1: p100 ${ONE_SAMPLE}: compare p95 or p99`]],
    [
      'samples >= baseline - 10%',
      ['column 1: samples depends on how long the run lasts: compare throughput']
    ],
    [
      'warn: failures <= baseline',
      ['column 7: failures depends on how many samples there are: compare error_rate']
    ],
    [
      'concurrency >= baseline',
      [
        'column 1: concurrency is set by the plan and not a result: give it an absolute limit, such as concurrency >= 50'
      ]
    ],
    [
      'p95{label="a", grid="g1"} <= baseline',
      [
        'column 16: grid cannot be used with baseline, because the ids of grids change from run to run: use region'
      ]
    ],
    ['p95 <= baseline + 10', ['column 21: p95 needs a unit here (%, ms or s): did you mean 10% or 10ms?']],
    [
      'throughput >= baseline - 5',
      ['column 27: throughput needs a unit here (%, /s or /min): did you mean 5% or 5/s?']
    ],
    ['error_rate <= baseline + 0.5', ['column 29: error_rate needs a unit here (pp): did you mean 0.5pp?']],
    [
      'p95 <= baseline + 10pp',
      ['column 21: "pp" (percentage points) is for error_rate only; p95 takes %, ms or s: did you mean 10%?']
    ],
    ['apdex >= baseline - 5pp', ['column 22: apdex takes no unit, but has "pp"; such as baseline - 0.02']],
    ['p95 <= baseline + 5users', ['column 20: unknown unit "users"; p95 takes %, ms or s here']],
    [
      'p95 <= baseline + 10 seconds',
      ['column 22: unknown unit "seconds"; p95 takes %, ms or s here: did you mean "s"?']
    ],
    [
      'error_rate <= baseline + 1 points',
      ['column 28: unknown unit "points"; error_rate takes pp here: did you mean "pp"?']
    ],
    [
      'throughput >= baseline - 100%',
      [
        'column 26: throughput cannot fall by 100% or more, so this would check nothing: write less, such as 5%'
      ]
    ],
    [
      'error_rate <= baseline + 100pp',
      [
        'column 26: an error rate cannot rise by 100pp or more, so this would check nothing: write less, such as 0.5pp'
      ]
    ],
    [
      'apdex >= baseline - 1',
      ['column 21: an apdex cannot fall by 1 or more, so this would check nothing: write less, such as 0.02']
    ],
    [
      'p95 <= baseline + -10%',
      ['column 19: an allowance is never negative, but "-10" is: write it without that sign, such as 10%']
    ],
    [
      'p95 <= baseline + 1e1%',
      ['column 19: "1e1" is not a plain number; digits with or without decimals, such as 1200 or 0.5']
    ]
  ])('%s', (line, expected) => {
    expect(problemsOf(line)).toEqual(expected)
  })
})

describe('the larger of two', () => {
  test.each<[string, string[]]>([
    [
      'p95 <= baseline + max(10%, 5%)',
      [
        'column 28: max() takes one share in % and one amount in ms or s, not two of the same kind: write 10% alone, or max(10%, 20ms)'
      ]
    ],
    [
      'p95 <= baseline + max(20ms, 1s)',
      [
        'column 29: max() takes one share in % and one amount in ms or s, not two of the same kind: write 1s alone, or max(10%, 20ms)'
      ]
    ],
    [
      'p95 <= baseline + max(10%)',
      ['column 26: expected a comma and a second allowance, but found ")"; such as max(10%, 20ms)']
    ],
    [
      'p95 <= baseline + max(10%, 20ms, 3s)',
      ['column 32: expected ), but found ","; such as max(10%, 20ms)']
    ],
    [
      'p95 <= baseline + max(10%, 20)',
      ['column 30: p95 needs a unit here (%, ms or s): did you mean 20% or 20ms?']
    ],
    ['p95 <= baseline + max()', ['column 23: expected a number, but found ")"; such as 10%']],
    [
      'p95 <= baseline + min(10%, 20ms)',
      ['column 19: unknown function "min"; the only one is max(10%, 20ms), the larger of the two']
    ],
    [
      'error_rate <= baseline + max(0.5pp, 1pp)',
      ['column 26: max() takes a share and an amount, and error_rate has only one kind: write 1pp']
    ],
    [
      'apdex >= baseline - min(0.1, 0.2)',
      ['column 21: unknown function "min"; write one allowance, such as 0.02']
    ],
    [
      'p95 <= baseline + 10% + 20ms',
      [
        'column 23: found "+" after the allowance; only one can follow baseline; for the larger of two, write max(10%, 20ms)'
      ]
    ]
  ])('%s', (line, expected) => {
    expect(problemsOf(line)).toEqual(expected)
  })
})

describe('misspelt or in the wrong place', () => {
  test.each(['base line', 'Baseline', 'BASELINE', 'basline', 'base-line', 'baselines', 'base', 'main'])(
    '%s',
    (word) => {
      expect(problemsOf(`p95 <= ${word} + 10%`)).toEqual([
        `column 8: unknown word "${word}": did you mean "baseline"?`
      ])
    }
  )

  test.each<[string, string[]]>([
    ['p95 <= baseline +', ['column 18: expected a number, but the line ends; such as 10%']],
    [
      'p95 <= baseline * 1.1',
      ['column 17: expected + or the end of the line, but found "*"; such as baseline + 10%']
    ],
    [
      'throughput >= baseline − 5%',
      ['column 24: expected - or the end of the line, but found "−"; such as baseline - 5%']
    ],
    [
      'p95 <= 1.1 * baseline',
      ['column 8: baseline comes first, then how much worse it may be, such as p95 <= baseline + 10%']
    ],
    [
      'baseline + 10% >= p95',
      [
        'column 1: baseline comes after the operator: write what is compared first, such as p95 <= baseline + 10%'
      ]
    ],
    ['p95 <= baseline + 10% p99 < 2s', ['column 23: found "p99" after the threshold; one threshold per line']]
  ])('%s', (line, expected) => {
    expect(problemsOf(line)).toEqual(expected)
  })

  test('every problem of a line is reported', () => {
    const problems = problemsOf('min{lable="x", grid="y"} >= Baseline + -5')
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'column 5',
      'column 1',
      'column 16',
      'column 29',
      'column 40'
    ])
  })

  test('the caret is under the place', () => {
    expect(parseThresholds('apdex > 0\n  warn: p95 >= baseline').problems).toEqual([
      `line 2, column 13: ${DIRECTION('p95 >=', 'lower')} p95, which is better: write p95 <= baseline + 10%\n    warn: p95 >= baseline\n              ^`
    ])
  })
})
