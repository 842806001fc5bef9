import { describe, expect, test } from '@jest/globals'
import { renderJUnit } from '../../src/report/junit.js'
import type { JUnitOutcome } from '../../src/report/junit.js'
import type { Verdict } from '../../src/analysis/outcome.js'
import type { Judgement } from '../../src/analysis/thresholds/judge/judgement.js'
import {
  HOSTILE,
  makeBroken,
  makeCompared,
  makeJudgement,
  makeOutcome,
  makeRunFacts,
  makeStoppedEarly
} from '../support/data/make-outcome.js'

const undecided = makeJudgement({ verdict: 'inconclusive', actual: undefined, reason: 'there is no label x' })
const warn = { level: 'warn' } as const

/** Name and element of each case, as a CI system would list them. */
function casesOf(outcome: JUnitOutcome): string[] {
  const xml = renderJUnit(outcome)
  return [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>\s*<(\w+))/g)].map(
    ([, name = '', element = 'passed']) => `${name.replace(/&#60;/g, '<')}: ${element}`
  )
}

test('a whole document: one case per threshold, what was measured, and which run it was', () => {
  const judgements = [
    makeJudgement({ threshold: { text: 'apdex >= 0.85' } }),
    makeBroken({ scopesChecked: 3 }),
    makeBroken({ threshold: { ...warn, text: 'mean < 1ms' }, reason: 'mean is 9 ms' })
  ]
  const outcome = makeOutcome({
    verdict: 'failed',
    reason: '1 threshold is broken: p95 is 1,200 ms',
    judgements,
    warnings: ['2 of 4 threads.']
  })
  expect(renderJUnit(outcome)).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="loadgate" tests="3" failures="1" errors="0" time="600.000">
  <testsuite name="loadgate shop main 1a2b3c4" tests="3" failures="1" errors="0" skipped="1" time="600.000" timestamp="2026-03-01T10:00:00">
    <properties>
      <property name="verdict" value="failed"/>
      <property name="run-id" value="run1"/>
      <property name="run-url" value="https://service.example/runs/run1"/>
      <property name="tool" value="jmeter-5.6.3"/>
      <property name="apdex" value="0.93"/>
    </properties>
    <testcase name="apdex &#62;= 0.85" classname="loadgate shop main 1a2b3c4" time="0"/>
    <testcase name="p95 &#60; 800ms" classname="loadgate shop main 1a2b3c4" time="0">
      <failure type="threshold" message="p95 is 1,200 ms, 50 % over the limit of 800 ms">p95 is 1,200 ms, 50 % over the limit of 800 ms&#10;Actual value: 1,200 ms, 50 % over&#10;Scopes checked: 3&#10;Run: https://service.example/runs/run1</failure>
    </testcase>
    <testcase name="warn: mean &#60; 1ms" classname="loadgate shop main 1a2b3c4" time="0">
      <skipped>Warning only: mean is 9 ms&#10;Actual value: 1,200 ms, 50 % over&#10;Run: https://service.example/runs/run1</skipped>
    </testcase>
    <system-out>FAILED: 1 threshold is broken: p95 is 1,200 ms&#10;Warning: 2 of 4 threads.</system-out>
  </testsuite>
</testsuites>
`)
})

describe('cases', () => {
  const holds = makeJudgement()
  test.each<[string, Verdict, string, Judgement[], string[]]>([
    ['that hold', 'passed', 'It holds.', [holds], ['p95 < 800ms: passed']],
    ['without thresholds', 'passed', 'No thresholds.', [], ['the run: error']],
    [
      'inconclusive by a line',
      'inconclusive',
      '1 threshold is inconclusive: there is no label x',
      [undecided],
      ['p95 < 800ms: error']
    ],
    [
      'a gap in the evidence',
      'inconclusive',
      'A CSV is missing.',
      [holds, undecided],
      ['the run: error', 'p95 < 800ms: skipped', 'p95 < 800ms: error']
    ],
    ['timed out', 'timed-out', 'The run did not end.', [holds], ['the run: error', 'p95 < 800ms: skipped']],
    [
      'cancelled, with a line broken by then',
      'cancelled',
      'cancelled by SIGINT',
      [makeBroken()],
      ['the run: error', 'p95 < 800ms: failure']
    ],
    ['an error before there was a run', 'error', 'no room', [], ['the run: error']],
    ['skipped', 'skipped', 'no token', [], ['the run: skipped']],
    ['detached', 'detached', 'left running', [], ['the run: skipped']],
    [
      'warn lines without a number',
      'passed',
      'x',
      [holds, makeJudgement({ ...undecided, threshold: warn })],
      ['p95 < 800ms: passed', 'warn: p95 < 800ms: skipped']
    ],
    ['without a baseline', 'passed', 'x', [makeCompared('no baseline')], ['p95 <= baseline + 10%: skipped']],
    [
      'without a baseline that must be',
      'inconclusive',
      'x: p95 compared with the baseline: no baseline',
      [makeCompared('no baseline', { comparison: { ifNotJudged: 'fail' } })],
      ['p95 <= baseline + 10%: error']
    ],
    ['slower than the baseline', 'failed', 'x', [makeCompared('broken')], ['p95 <= baseline + 10%: failure']],
    [
      'slower than the baseline, with a gap',
      'inconclusive',
      'A CSV is missing.',
      [makeCompared('broken')],
      ['the run: error', 'p95 <= baseline + 10%: error']
    ]
  ])('%s', (_, verdict, reason, judgements, expected) => {
    expect(casesOf(makeOutcome({ verdict, reason, judgements }))).toEqual(expected)
  })

  test('that held until the gate stopped the run early are not green', () => {
    const stoppedEarly = makeStoppedEarly()
    const judgements = [makeBroken(), makeJudgement({ threshold: { text: 'mean < 1s' } })]
    expect(casesOf(makeOutcome({ verdict: 'failed', stoppedEarly, judgements }))).toEqual([
      'p95 < 800ms: failure',
      'mean < 1s: skipped'
    ])
  })

  test('of a rehearsal are not green either', () => {
    expect(casesOf(makeOutcome({ rehearsal: true }))).toEqual(['p95 < 800ms: skipped'])
  })

  test('of a gate that never had an outcome: the error', () => {
    expect(renderJUnit({ verdict: 'error', reason: 'files: is empty' })).toContain(
      '<error type="error" message="files: is empty">files: is empty</error>'
    )
  })
})

describe('text from elsewhere', () => {
  test('is only text, and has nothing that XML cannot hold', () => {
    const text = `${HOSTILE} ]]> \u0000\u001b\ufffe \ud800 🛒`
    const run = makeRunFacts({ name: text, url: text })
    const judgements = [makeBroken({ reason: text, threshold: { text } })]
    const xml = renderJUnit(makeOutcome({ verdict: 'failed', run, judgements, notes: [text] }))
    const tags = new Set([...xml.matchAll(/<\/?([\w-]+|\?xml)/g)].map(([, name]) => name))
    expect([...tags].sort()).toEqual(
      [
        '?xml',
        'failure',
        'properties',
        'property',
        'system-out',
        'testcase',
        'testsuite',
        'testsuites'
      ].sort()
    )
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(xml).not.toMatch(/[\u0000-\u0009\u000b-\u001f\ufffe]|\]\]>/)
    expect(() => encodeURIComponent(xml)).not.toThrow()
    expect(xml).toContain('🛒')
  })

  test('has no secrets, even those that XML writes differently', () => {
    const xml = renderJUnit(makeOutcome({ verdict: 'error', reason: 'token a&b<c was refused' }), (text) =>
      text.replaceAll('a&b<c', '***')
    )
    expect(xml).toContain('token *** was refused')
    expect(xml).not.toMatch(/a&#38;b/)
  })

  test('cuts texts that are too long', () => {
    const long = 'x'.repeat(1_000_000)
    const judgements = [makeJudgement({ threshold: { text: long } }), makeBroken({ reason: long })]
    const xml = renderJUnit(makeOutcome({ verdict: 'failed', reason: long, judgements, notes: [long] }))
    expect(xml.length).toBeLessThan(20_000)
    expect(xml).toContain('tests="2" failures="1"')
  })
})
