import { describe, expect, test } from '@jest/globals'
import { parseThresholds } from '../../../../src/analysis/thresholds/grammar/grammar.js'
import { isAbsoluteThreshold } from '../../../../src/analysis/thresholds/grammar/threshold.js'
import { judgeThresholds } from '../../../../src/analysis/thresholds/judge/judge.js'
import type { Evidence } from '../../../../src/analysis/thresholds/judge/evidence.js'
import type { Judgement } from '../../../../src/analysis/thresholds/judge/judgement.js'
import { describeNoOverTime, listStallLabels } from '../../../../src/analysis/thresholds/judge/over-time.js'
import { closedLoop, csvOf, measure } from '../../../support/stalls/closed-loop.js'
import { writeRows } from '../../../support/stalls/write-rows.js'
import { makeMeasurements, makeSamples } from '../make-evidence.js'

/** Nothing is answered from 8 s to 13 s. */
const STALLED = csvOf({ stalls: [[8000, 5000]] })

function parse(...lines: string[]) {
  const { thresholds, problems } = parseThresholds(lines.join('\n'))
  expect(problems).toEqual([])
  return thresholds
}

function judge(line: string, csv: string, changes: Partial<Evidence> = {}): Judgement {
  const thresholds = parse(line)
  const measurements = measure(csv, listStallLabels(thresholds))
  const [judgement] = judgeThresholds(thresholds.filter(isAbsoluteThreshold), {
    apdex: { score: 0.98, targetMs: 500 },
    measurements,
    ...changes
  })
  return judgement!
}

describe('a server that stands still for 5 of 25 s', () => {
  test('breaks a line that the requests that were sent meet, and says why', () => {
    const judged = judge('p95 < 1s', STALLED)
    expect(judged.verdict).toBe('failed')
    expect(judged.reason).toBe(
      'p95 is 150 ms for the requests that were sent, but at least 3.7 s over time: at 0:08 nothing was answered for 5 s while 12 users waited; must be < 1 s'
    )
    expect(judged.actual).toBe(judged.overTime?.value)
    expect(judged.overTime).toMatchObject({ bySamples: 150, effect: 'fails' })
    expect(judged.overTime?.longest.waiting).toBe(12)
    expect(judged.margin).toBeCloseTo(1 - judged.actual! / 1000)
  })

  test.each([
    ['an upper limit that both meet', 'p95 < 10s', 'passed', 'none'],
    ['a lower limit of a time is judged by the requests', 'p95 >= 10ms', 'passed', 'none'],
    ['an exact time too', 'p95 == 150ms', 'passed', 'none'],
    ['the median, of which most moments know nothing', 'median < 200ms', 'passed', 'none'],
    ['apdex of the service', 'apdex >= 0.95', 'failed', 'fails'],
    ['an upper limit of apdex', 'apdex <= 0.99', 'passed', 'none'],
    ['a label', 'p95{label="home"} < 1s', 'failed', 'fails'],
    ['labels by a pattern', 'p95{label="h*"} < 1s', 'failed', 'fails'],
    ['a region', 'p95{region="r"} < 1s', 'failed', 'fails'],
    ['a grid', 'apdex{grid="g"} >= 0.95', 'failed', 'fails']
  ])('%s', (_, line, verdict, effect) => {
    const judged = judge(line, STALLED)
    expect([judged.verdict, judged.overTime?.effect]).toEqual([verdict, effect])
  })

  test('says of apdex that it is at most that', () => {
    expect(judge('apdex >= 0.95', STALLED).reason).toMatch(
      /^apdex is 0\.98 for the requests that were sent, but at most 0\.8\d* over time: at 0:08 nothing was answered for 5 s while 12 users waited; must be >= 0\.95$/
    )
  })

  test('shows both figures of a line that both meet, and of one that both break', () => {
    expect(judge('p95 < 10s', STALLED).reason).toContain(
      'p95 is 150 ms for the requests that were sent, and at least 3.7 s over time: '
    )
    const broken = judge('p95 < 100ms', STALLED)
    expect(broken.verdict).toBe('failed')
    expect(broken.reason).toMatch(/and at least 3\.7 s over time: .*; must be < 100 ms$/)
    expect(broken.overTime?.effect).toBe('none')
  })

  test('has no effect on other metrics', () => {
    expect(judge('mean < 1s', STALLED)).not.toHaveProperty('overTime')
    expect(judge('throughput > 1/s', STALLED)).not.toHaveProperty('overTime')
  })

  test('with on-stall: warn the line holds, with a warning', () => {
    const judged = judge('p95 < 1s', STALLED, { onStall: 'warn' })
    expect(judged).toMatchObject({ verdict: 'passed', actual: 150, overTime: { effect: 'warns' } })
    expect(judged.reason).toBe('p95 is 150 ms, must be < 1,000 ms: 85 % below the limit')
    expect(judged.warning).toBe(
      'p95 is 150 ms for the requests that were sent, but at least 3.7 s over time: at 0:08 nothing was answered for 5 s while 12 users waited; must be < 1 s.'
    )
  })

  test('with on-stall: ignore it only has both figures', () => {
    const judged = judge('p95 < 1s', STALLED, { onStall: 'ignore' })
    expect(judged).toMatchObject({ verdict: 'passed', actual: 150, overTime: { effect: 'ignored' } })
    expect(judged.overTime?.value).toBeGreaterThan(3000)
    expect(judged).not.toHaveProperty('warning')
  })

  test('breaks nothing where rows are missing, which may have been the answers', () => {
    const measurements = measure(`${STALLED}not a row\n`)
    const judged = judge('apdex >= 0.95', '', { measurements })
    expect(judged).toMatchObject({ verdict: 'passed', actual: 0.98 })
    expect(judge('p95 < 1s', '', { measurements }).verdict).toBe('inconclusive')
  })
})

test('with two users a stall is a warning', () => {
  const judged = judge('p95 < 1s', csvOf({ users: 2, stalls: [[8000, 5000]] }))
  expect(judged).toMatchObject({ verdict: 'passed', overTime: { effect: 'warns' } })
  expect(judged.warning).toContain('while 2 users waited; must be < 1 s. There were two users in all')
})

test('the worst of several labels is named, also where it is a warning', () => {
  const samples = [
    ...closedLoop({ label: 'slow', elapsedMs: 700 }),
    ...closedLoop({ label: 'stuck', stalls: [[8000, 5000]] }).map((one) => ({
      ...one,
      thread: one.thread + 20
    }))
  ]
  const csv = writeRows(samples, 24)
  expect(judge('p95{label="*"} < 1s', csv)).toMatchObject({
    verdict: 'failed',
    scope: { label: 'stuck' },
    scopesChecked: 2
  })
  const warned = judge('p95{label="*"} < 1s', csv, { onStall: 'warn' })
  expect(warned).toMatchObject({ verdict: 'passed', scope: { label: 'stuck' }, actual: 150 })
  expect(warned.warning).toContain('p95 of stuck is 150 ms for the requests that were sent, but')
  const broken = judge('p95{label="*"} < 600ms', csv, { onStall: 'warn' })
  expect(broken).toMatchObject({ verdict: 'failed', scope: { label: 'slow' }, actual: 700 })
})

describe('figures stay on their side of the limit', () => {
  test.each([
    ['p95 < 3.7s', '3.76 s'],
    ['p95 < 3.759s', '3.76 s']
  ])('%s', (line, shown) => {
    expect(judge(line, STALLED).reason).toContain(`at least ${shown} over time`)
  })
})

describe('where stalls cannot be looked for', () => {
  const measurements = makeMeasurements(makeSamples([100, 200]))

  test.each([
    ['a percentile', 'p95 < 1s', 1],
    ['apdex', 'apdex >= 0.5', 1],
    ['two lines', 'p95 < 1s\np99{label="*"} < 1s', 1],
    ['a lower limit', 'p95 > 1ms', 0],
    ['other metrics', 'mean < 1s\nerror_rate < 1%', 0]
  ])('it is said once: %s', (_, lines, count) => {
    const found = describeNoOverTime(parse(lines), { measurements, onStall: 'fail' })
    expect(found).toHaveLength(count)
    expect(found.join('')).toMatch(
      count === 0 ? /^$/ : /is judged by the requests that were sent alone: these/
    )
  })

  test('not of percentiles that nobody knows, nor with on-stall: ignore', () => {
    const changeFigures = { percentileMs: () => undefined }
    const tidy = makeMeasurements(makeSamples([100]), { changeFigures })
    expect(describeNoOverTime(parse('p95 < 1s'), { measurements: tidy, onStall: 'fail' })).toEqual([])
    expect(describeNoOverTime(parse('p95 < 1s'), { measurements, onStall: 'ignore' })).toEqual([])
  })
})

test('labels that lines on percentiles, median and apdex name are followed', () => {
  const lines = [
    'p95{label="a*b"} < 1s',
    'mean{label="c"} < 1s',
    'median{label="d"} <= baseline + 5%',
    'apdex > 0'
  ]
  expect(listStallLabels(parse(...lines))).toEqual([['a', 'b'], ['d']])
})
