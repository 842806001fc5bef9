import { describe, expect, test } from '@jest/globals'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import {
  isAbsoluteThreshold,
  isBaselineThreshold
} from '../../../../src/analysis/thresholds/grammar/threshold.js'
import type { Threshold } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import { METRIC_WORDS, type Metric } from '../../../../src/analysis/thresholds/metrics.js'
import { startCpuTimer } from '../../../support/cpu-time.js'
import { parseOne, problemsOf } from '../../../support/evidence/parse-line.js'

const ACCEPTED = `${METRIC_WORDS.join(', ')}, pNN such as p95 or p99.9`

describe('lines of the contract', () => {
  test.each<[string, Partial<Threshold>]>([
    [
      'apdex >= 0.85',
      { metric: 'apdex', operator: '>=', value: 0.85, unit: '', level: 'fail', selector: {} }
    ],
    ['error_rate < 1%', { metric: 'error_rate', operator: '<', value: 0.01, unit: '%' }],
    ['p95 < 800ms', { metric: 'percentile', name: 'p95', percentile: 95, value: 800, unit: 'ms' }],
    [
      'p99{label="checkout"} <= 1.5s',
      {
        percentile: 99,
        operator: '<=',
        value: 1500,
        selector: { label: { text: 'checkout', pieces: ['checkout'] } }
      }
    ],
    [
      'throughput{region="us-east-1"} >= 50/s',
      { metric: 'throughput', value: 50, selector: { region: { text: 'us-east-1', pieces: ['us-east-1'] } } }
    ],
    ['warn: mean < 300ms', { level: 'warn', metric: 'mean', text: 'mean < 300ms' }]
  ])('%s', (line, expected) => {
    expect(parseOne(line)).toMatchObject(expected)
  })
})

describe('metrics', () => {
  test.each(['mean', 'median', 'min', 'max', 'p50', 'p0.1', 'p100', 'p99.99'])('%s is a time', (name) => {
    expect(parseOne(`${name} < 2s`)).toMatchObject({ name, value: 2000, unit: 's' })
  })
  test.each(['apdex', 'samples', 'failures', 'concurrency'])('%s is a plain number', (name) => {
    expect(parseOne(`${name} > 1`)).toMatchObject({ metric: name, name, value: 1, unit: '' })
  })
  test('median is the 50th percentile', () => {
    expect(parseOne('median < 1s')).toMatchObject({ metric: 'median', percentile: 50 })
  })
  test.each(['<', '<=', '>', '>=', '=='] as const)('operator %s', (operator) => {
    expect(parseOne(`p95${operator}800ms`).operator).toBe(operator)
  })
})

describe('limits in base units', () => {
  test.each([
    ['error_rate < 0.7%', 7 / 1000],
    ['error_rate < 0.1%', 1 / 1000],
    ['error_rate < 1%', 1 / 100],
    ['error_rate <= 100%', 1],
    ['error_rate == 0%', 0],
    ['p95 < 1.1s', 1100],
    ['p95 < 0.07 s', 70],
    ['p95 < 800.25ms', 800.25],
    ['throughput > 100/min', 100 / 60],
    ['throughput > 50 /s', 50],
    ['apdex == 1', 1],
    ['samples >= 0', 0]
  ])('%s', (line, value) => {
    expect(parseOne(line)).toMatchObject({ value })
  })
})

describe('what is around a threshold', () => {
  test('blank lines, comments, CRLF, CR and outer space', () => {
    const text =
      '\uFEFF# first\r\n\r\n  p95 < 800ms # why\r\n\t\rapdex>=0.85#x\n   # only a comment\nwarn :mean<1s'
    const { thresholds, problems } = parseThresholds(text)
    expect(problems).toEqual([])
    expect(thresholds.map(({ text, line, level }) => [line, level, text])).toEqual([
      [3, 'fail', 'p95 < 800ms'],
      [5, 'fail', 'apdex>=0.85'],
      [7, 'warn', 'mean<1s']
    ])
  })
  test.each(['', '\n\n', ' # p95 < 1s', '\r\n'])('%j has no threshold and no problem', (text) => {
    expect(parseThresholds(text)).toEqual({ thresholds: [], problems: [] })
  })
  test('space is free between the parts', () => {
    const line = ' warn: \t p95 { label = "a" , grid="b" } <  800\u00A0ms '
    expect(parseOne(line)).toMatchObject({
      level: 'warn',
      value: 800,
      text: line.trim().slice('warn: \t '.length)
    })
  })
})

describe('selectors', () => {
  test.each<[string, readonly string[]]>([
    ['checkout', ['checkout']],
    ['', ['']],
    ['*', ['', '']],
    ['us-*', ['us-', '']],
    ['*a*b*', ['', 'a', 'b', '']],
    ['**', ['', '', '']],
    ['#1 # not a comment', ['#1 # not a comment']],
    ['say \\"hi\\" # here', ['say "hi" # here']],
    ['back\\\\slash', ['back\\slash']],
    ['star \\* star', ['star * star']],
    ['\\\\*', ['\\', '']],
    ['a, b} < 1s {', ['a, b} < 1s {']],
    ['Ünï 🚀', ['Ünï 🚀']]
  ])('label="%s"', (text, pieces) => {
    expect(parseOne(`p95{label="${text}"} < 1s # end`).selector).toEqual({ label: { text, pieces } })
  })
  test('several keys in any order', () => {
    expect(Object.keys(parseOne('p95{grid="a", label="b",region="c"} < 1s').selector).sort()).toEqual([
      'grid',
      'label',
      'region'
    ])
  })
})

describe('bad lines', () => {
  test.each<[string, string[]]>([
    ['p95 < 800 m', ['column 11: unknown unit "m"; p95 takes ms or s: did you mean "ms"?']],
    ['p95 < 800MS', ['column 10: unknown unit "MS"; p95 takes ms or s: did you mean "ms"?']],
    ['p95 < 2 seconds', ['column 9: unknown unit "seconds"; p95 takes ms or s: did you mean "s"?']],
    ['p95 < 5%', ['column 8: unknown unit "%"; p95 takes ms or s']],
    [
      'throughput > 5 rps',
      ['column 16: unknown unit "rps"; throughput takes /s or /min: did you mean "/s"?']
    ],
    ['throughput > 5/m', ['column 15: unknown unit "/m"; throughput takes /s or /min: did you mean "/min"?']],
    ['error_rate < 1', ['column 15: error_rate needs a unit (%): did you mean 1%?']],
    ['error_rate < 0.01', ['column 18: error_rate needs a unit (%): did you mean 1% or 0.01%?']],
    ['p95 < 800', ['column 10: p95 needs a unit (ms or s): did you mean 800ms?']],
    ['mean < 1.5 # s', ['column 11: mean needs a unit (ms or s): did you mean 1.5s?']],
    ['throughput >= 50', ['column 17: throughput needs a unit (/s or /min): did you mean 50/s?']],
    ['apdex >= 0.85ms', ['column 14: apdex takes no unit, but has "ms"']],
    ['failures < 1%', ['column 13: failures takes no unit, but has "%": did you mean "error_rate"?']],
    ['samples > 5/s', ['column 12: samples takes no unit, but has "/s"']],
    ['apdex >= 85', ['column 10: an apdex is at most 1, not 85: did you mean 0.85?']],
    ['apdex < 1.01', ['column 9: an apdex is at most 1, not 1.01: did you mean 0.0101?']],
    ['error_rate < 100.5%', ['column 14: an error rate is at most 100%, not 100.5%']],
    ['p999 < 1s', ['column 1: a percentile is above 0 and at most 100, not 999: did you mean "p99.9"?']],
    ['p100.1 < 1s', ['column 1: a percentile is above 0 and at most 100, not 100.1']],
    ['p0 < 1s', ['column 1: a percentile is above 0 and at most 100, not 0: did you mean "min"?']],
    ['p095 < 1s', [`column 1: unknown metric "p095"; known metrics are ${ACCEPTED}`]],
    ['P95 < 1s', [`column 1: unknown metric "P95"; known metrics are ${ACCEPTED}: did you mean "p95"?`]],
    ['avg < 1s', [`column 1: unknown metric "avg"; known metrics are ${ACCEPTED}: did you mean "mean"?`]],
    ['apdx > 0.5', [`column 1: unknown metric "apdx"; known metrics are ${ACCEPTED}: did you mean "apdex"?`]],
    [
      'Error-Rate < 1%',
      [`column 1: unknown metric "Error-Rate"; known metrics are ${ACCEPTED}: did you mean "error_rate"?`]
    ],
    ['percentile < 1s', [`column 1: unknown metric "percentile"; known metrics are ${ACCEPTED}`]],
    ['constructor < 1s', [`column 1: unknown metric "constructor"; known metrics are ${ACCEPTED}`]],
    ['just some words', [`column 1: unknown metric "just"; known metrics are ${ACCEPTED}`]],
    ['- p95 < 1s', ['column 1: a line starts with its metric or with warn:, not with a dash']],
    ['< 1s', [`column 1: expected a metric, but found "<"; ${ACCEPTED}`]],
    ['warn:', [`column 6: expected a metric, but the line ends; ${ACCEPTED}`]],
    ['warn p95 < 1s', ['column 1: expected "warn:", with a colon']],
    ['Warn: p95 < 1s', ['column 1: unknown prefix "Warn:"; the only one is warn:']],
    ['fail: p95 < 1s', ['column 1: unknown prefix "fail:"; the only one is warn:']],
    ['p95', ['column 4: expected an operator, but the line ends; <, <=, >, >=, ==']],
    ['p95 below 1s', ['column 5: expected an operator, but found "below"; <, <=, >, >=, ==']],
    [
      'p95 = 1s',
      ['column 5: unknown operator "="; known operators are <, <=, >, >=, ==: did you mean "=="?']
    ],
    [
      'p95 => 1s',
      ['column 5: unknown operator "=>"; known operators are <, <=, >, >=, ==: did you mean ">="?']
    ],
    [
      'p95 ≤ 1s',
      ['column 5: unknown operator "≤"; known operators are <, <=, >, >=, ==: did you mean "<="?']
    ],
    ['p95 != 1s', ['column 5: unknown operator "!="; known operators are <, <=, >, >=, ==']],
    ['p95 < < 1s', ['column 7: expected a number, but found "<"; such as 800ms']],
    ['p95 <', ['column 6: expected a number, but the line ends; such as 800ms']],
    ['apdex > high', ['column 9: expected a number, but found "high"; such as 0.85']],
    ['throughput > NaN/s', ['column 14: expected a number, but found "NaN/s"; such as 50/s']],
    ['error_rate < Infinity%', ['column 14: expected a number, but found "Infinity%"; such as 1%']],
    ['samples > "5"', ['column 11: expected a number, but found ""5""; such as 100']],
    ['p95 < -5ms', ['column 7: a limit is never negative, but "-5" is']],
    ...['+5', '1e3', '0x10', '1,000', '1_000', '.5', '5.', '1.2.3', '0x'].map(
      (number): [string, string[]] => [
        `p95 < ${number}ms`,
        [`column 7: "${number}" is not a plain number; digits with or without decimals, such as 1200 or 0.5`]
      ]
    ),
    [`p95 < ${'9'.repeat(400)}ms`, ['column 7: the number is too long; at most 20 characters']],
    ['p95 < 1s p99 < 2s', ['column 10: found "p99" after the threshold; one threshold per line']],
    ['p95 < 800ms, p99 < 2s', ['column 12: found "," after the threshold; one threshold per line']],
    ['apdex > 0.5 0.6', ['column 13: found "0.6" after the threshold; one threshold per line']]
  ])('%s', (line, expected) => {
    expect(problemsOf(line)).toEqual(expected)
  })
})

describe('bad selectors', () => {
  test.each<[string, string[]]>([
    ['p95{} < 1s', ['column 5: expected a key, but found "}"; label, region, grid']],
    ['p95{label="a",} < 1s', ['column 15: expected a key, but found "}"; label, region, grid']],
    [
      'p95{lable="a"} < 1s',
      ['column 5: unknown key "lable"; known keys are label, region, grid: did you mean "label"?']
    ],
    ['p95{zone="a"} < 1s', ['column 5: unknown key "zone"; known keys are label, region, grid']],
    ['p95{label="a", label="b"} < 1s', ['column 16: label is given twice; once each: label, region, grid']],
    ['p95{label=a} < 1s', ['column 11: expected a value in double quotes, but found "a}"']],
    ["p95{label='a'} < 1s", ['column 11: expected a value in double quotes, but found "\'a\'}"']],
    ['p95{label="a} < 1s # x', ['column 11: the quote is not closed; a value ends with "']],
    ['p95{label="a\\', ['column 11: the quote is not closed; a value ends with "']],
    ['p95{label="a\\n"} < 1s', ['column 13: unknown escape "\\n"; \\", \\\\, \\*']],
    ['p95{label="a" < 1s', ['column 15: expected , or }, but found "<"']],
    ['p95{label="a" grid="b"} < 1s', ['column 15: expected , or }, but found "grid="b"}"']],
    ['p95{label} < 1s', ['column 10: expected = after the key, but found "}"; label="value"']],
    ['p95{label!="a"} < 1s', ['column 10: expected = after the key, but found "!="a"}"; label="value"']],
    ['p95{label=~"a"} < 1s', ['column 10: expected = after the key, but found "=~"a"}"; label="value"']],
    ['p95{label', ['column 10: expected = after the key, but the line ends; label="value"']],
    ['p95{', ['column 5: expected a key, but the line ends; label, region, grid']]
  ])('%s', (line, expected) => {
    expect(problemsOf(line)).toEqual(expected)
  })
})

describe('the message', () => {
  test('shows line, column, the line itself and a caret', () => {
    const { problems, thresholds } = parseThresholds('apdex >= 0.85\n\n  p95 < 800 m # slow\nwarn: mean < 1s')
    expect(problems).toEqual([
      'line 3, column 13: unknown unit "m"; p95 takes ms or s: did you mean "ms"?\n    p95 < 800 m # slow\n              ^'
    ])
    expect(thresholds.map(({ line }) => line)).toEqual([1, 4])
  })
  test('collects every problem of every line', () => {
    const { problems } = parseThresholds('foo{bar="x"} =< -5\np95 < 800\r\napdex > 2')
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'line 1, column 1',
      'line 1, column 5',
      'line 1, column 14',
      'line 1, column 17',
      'line 2, column 10',
      'line 3, column 9'
    ])
  })
  test('keeps tabs before the caret and counts a pair of surrogates once', () => {
    expect(parseThresholds('\tp95{label="🚀"} < 5').problems[0]).toBe(
      'line 1, column 20: p95 needs a unit (ms or s): did you mean 5s?\n  \tp95{label="🚀"} < 5\n  \t                  ^'
    )
  })
  test('cuts a long line around the place', () => {
    const [, shown, caret] = parseThresholds(`p95{label="${'x'.repeat(5000)}"} < 5 m`).problems[0]!.split(
      '\n'
    )
    expect(shown!.length).toBeLessThan(110)
    expect(shown![caret!.length - 1]).toBe('m')
  })
  test('stops at ten problems of one line and shortens what it quotes', () => {
    expect(parseThresholds(`p95{${'label="a",'.repeat(500)}grid="x"} < 1s`).problems).toHaveLength(10)
    expect(parseThresholds(`p95 < 5${'x'.repeat(5000)}`).problems[0]!.length).toBeLessThan(300)
  })
  test('has no control characters', () => {
    expect(parseThresholds('p95\u001b[31m < 1s\u0007').problems.join('')).not.toMatch(/[^\P{Cc}\n]/u)
  })
})

describe('random text', () => {
  const random = makeRandom(20_170)
  const PARTS = [
    'p95',
    'p99.9',
    'apdex',
    'error_rate',
    'throughput',
    'samples',
    'warn:',
    'warn',
    '{',
    '}',
    'label',
    'grid'
  ]
  const MARKS = [
    '=',
    '"',
    '*',
    '\\',
    '#',
    '<',
    '<=',
    '>',
    '==',
    '1',
    '0.5',
    '800',
    'ms',
    's',
    '%',
    '/s',
    '/min',
    ',',
    '-',
    '+',
    '(',
    ')',
    'pp',
    'max'
  ]
  const ODD = [' ', ' ', ' ', '\t', '\u00A0', '🚀', '\u0000', 'é', '\uD800', 'baseline', ':', '.']
  const ALL = [...PARTS, ...MARKS, ...ODD]

  /** The grammar again, as one expression: what it does not match must not become a threshold. */
  const NAME =
    '(?:apdex|error_rate|throughput|mean|median|p\\d+(?:\\.\\d+)?|min|max|samples|failures|concurrency)'
  const PAIR = '(?:label|region|grid)\\s*=\\s*"(?:[^"\\\\]|\\\\["\\\\*])*"'
  const NUMBER = '\\d+(?:\\.\\d+)?\\s*'
  const QUANTITY = `${NUMBER}(?:ms|s|%|/s|/min|pp)?\\s*`
  const BASELINE = `baseline\\s*(?:[+-]\\s*(?:${QUANTITY}|max\\s*\\(\\s*${QUANTITY},\\s*${QUANTITY}\\)\\s*))?`
  const WHOLE_LINE = new RegExp(
    `^\\s*(?:warn\\s*:\\s*)?${NAME}\\s*(?:\\{\\s*${PAIR}(?:\\s*,\\s*${PAIR})*\\s*\\}\\s*)?` +
      `(?:<=|>=|==|<|>)\\s*(?:${NUMBER}(?:ms|s|%|/s|/min)?|${BASELINE})\\s*(?:#.*)?$`,
    'su'
  )
  const LINES = [
    'warn: p95{label="a*", grid="\\"g#"} <= 1.5s # c',
    'p95{label="a*", region="r"} <= baseline + max(10%, 20ms) # c',
    'throughput >= baseline - 5%',
    'warn: error_rate < baseline + 0.5pp',
    'apdex >= baseline - 0.02'
  ]

  test('becomes a problem or a threshold, and a threshold only when all of the line was read', () => {
    const outcomes = Array.from({ length: 10_000 }, (_, round) => {
      const line = round % 2 === 0 ? pickMany(ALL, 12) : mutate(LINES[random(LINES.length)] ?? '')
      const { thresholds, problems } = parseThresholds(line)
      return { line, thresholds, problems }
    })
    const isBlank = (line: string): boolean => /^\s*(?:#.*)?$/su.test(line)
    expect(
      outcomes.filter(
        ({ line, thresholds, problems }) => thresholds.length + problems.length === 0 && !isBlank(line)
      )
    ).toEqual([])
    expect(
      outcomes.filter(({ thresholds, problems }) => thresholds.length > 0 && problems.length > 0)
    ).toEqual([])
    const parsed = outcomes.filter(({ thresholds }) => thresholds.length > 0)
    expect(parsed.filter(({ line }) => !WHOLE_LINE.test(line))).toEqual([])
    const limits = parsed.flatMap(({ thresholds }) => thresholds.filter(isAbsoluteThreshold))
    expect(limits.filter(({ value }) => !(value >= 0 && value < Infinity))).toEqual([])
    const allowances = parsed.flatMap(({ thresholds }) => thresholds.filter(isBaselineThreshold))
    const quantities = allowances.flatMap(({ allowance }) => Object.values(allowance) as number[])
    expect(quantities.filter((value) => !(value >= 0 && value < Infinity))).toEqual([])
    expect(allowances.filter(({ operator, metric }) => !isRightDirection(operator, metric))).toEqual([])
    // Otherwise the checks above would have checked nothing.
    expect([limits.length > 200, allowances.length > 500, quantities.length > 500]).toEqual([
      true,
      true,
      true
    ])
  })

  test('never throws over several lines', () => {
    for (let round = 0; round < 1000; round++) {
      const text = pickMany([...ALL, '\n', '\r', '\r\n', '\u2028'], 40)
      expect(() => parseThresholds(text)).not.toThrow()
    }
  })

  function isRightDirection(operator: string, metric: Metric): boolean {
    return operator.startsWith(['throughput', 'apdex'].includes(metric) ? '>' : '<')
  }

  function pickMany(words: readonly string[], most: number): string {
    return Array.from({ length: random(most) + 1 }, () => words[random(words.length)]).join('')
  }

  function mutate(line: string): string {
    const at = random(line.length)
    return line.slice(0, at) + (random(2) ? (ALL[random(ALL.length)] ?? '') : '') + line.slice(at + random(3))
  }
})

test('a hostile line is read in time that grows with its length', () => {
  const cpuMs = startCpuTimer()
  for (const piece of [
    '1,',
    '{',
    '"',
    '\\',
    '*',
    ' ',
    'p',
    ':',
    '<',
    '.1',
    '1_',
    'label="a",',
    'max(',
    'base',
    '+'
  ]) {
    parseThresholds(`p95{label="${piece.repeat(20_000)}`)
    parseThresholds(`p95 < ${piece.repeat(20_000)}`)
    parseThresholds(`p95 <= baseline + ${piece.repeat(20_000)}`)
    parseThresholds(piece.repeat(20_000))
  }
  expect(cpuMs()).toBeLessThan(5000)
})

/** A small generator of numbers below a bound, the same on every machine. */
function makeRandom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}
