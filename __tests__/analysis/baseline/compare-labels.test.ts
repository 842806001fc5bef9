import { describe, expect, test } from '@jest/globals'
import { compareLabels, type LabelChange } from '../../../src/analysis/baseline/compare-labels.js'
import { asComparedRun } from '../../../src/analysis/baseline/document/compared.js'
import { recordRun } from '../../../src/analysis/baseline/document/record-run.js'
import { judgeBaselineLines } from '../../../src/analysis/baseline/judge-lines.js'
import type { ComparedRun, ComparisonEvidence } from '../../../src/analysis/baseline/judge/sides.js'
import { isBaselineThreshold, type Threshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { tQuantile, tTail } from '../../../src/analysis/baseline/statistics/evidence-of-change.js'
import { makeRun, makeScope } from '../../support/baseline/make-recorded.js'
import { makeComparedRun, type FigureValues } from '../../support/baseline/make-run.js'
import { Random } from '../../support/baseline/random.js'
import { measure } from '../../support/data/sample-csv.js'

type Labels = Readonly<Record<string, Partial<FigureValues>>>

const runOf = (labels: Labels): ComparedRun => makeComparedRun({ labels })
const repeat = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

function settingsOf(lines = ''): { thresholds: readonly Threshold[]; baseline: { noise: number } } {
  return { thresholds: parseThresholds(lines).thresholds, baseline: { noise: 0.05 } }
}

function compare(evidence: ComparisonEvidence, lines = '') {
  const changes = compareLabels(evidence, settingsOf(lines), [])
  if (changes === undefined) throw new Error('nothing was compared')
  return changes
}

const recorded = (base: readonly Labels[], head: Labels): ComparisonEvidence => ({
  kind: 'recorded',
  base: base.map(runOf),
  head: [runOf(head)]
})
const paired = (pairs: readonly (readonly [base: Labels, head: Labels])[]): ComparisonEvidence => ({
  kind: 'side-by-side',
  pairs: pairs.map(([base, head]) => ({ base: runOf(base), head: runOf(head) }))
})

const find = (rows: readonly LabelChange[], label: string): LabelChange | undefined =>
  rows.find((row) => row.label === label)

/** `labels` labels of about 400 ms, whose p95 varies by `spread` from run to run; the first one takes `factor` times as long. */
function drawLabels(random: Random, labels: number, spread: number, factor = 1): Labels {
  return Object.fromEntries(
    repeat(labels, (i) => {
      const ms = 400 * (i === 0 ? factor : 1) * Math.exp(spread * random.normal())
      return [`label ${i}`, { percentileMs: ms, samples: 2000 }]
    })
  )
}

interface Way {
  readonly name: string
  readonly draw: (random: Random, labels: number, factor?: number) => ComparisonEvidence
}

const drawRecorded =
  (runs: number, spread: number): Way['draw'] =>
  (random, labels, factor) =>
    recorded(
      repeat(runs, () => drawLabels(random, labels, spread)),
      drawLabels(random, labels, spread, factor)
    )

const drawPaired =
  (rounds: number, spread: number): Way['draw'] =>
  (random, labels, factor) =>
    paired(
      repeat(rounds, () => [drawLabels(random, labels, spread), drawLabels(random, labels, spread, factor)])
    )

const WAYS: readonly Way[] = [
  { name: 'one recorded run, noise 5 %', draw: drawRecorded(1, 0.05) },
  { name: 'ten recorded runs, noise 3 %', draw: drawRecorded(10, 0.03) },
  { name: 'ten recorded runs, noise 5 %', draw: drawRecorded(10, 0.05) },
  { name: 'three rounds side by side, noise 6.5 %', draw: drawPaired(3, 0.065) },
  { name: 'ten rounds side by side, noise 6.5 %', draw: drawPaired(10, 0.065) }
]

describe.each(WAYS)('$name', ({ draw }) => {
  test.each([1, 5, 30])(
    'without a change, none of %i labels is slower in 95 of 100 comparisons',
    (labels) => {
      const comparisons = repeat(400, (seed) => compare(draw(new Random(seed), labels)).rows)
      const quiet = comparisons.filter((rows) => rows.every(({ outcome }) => outcome !== 'slower'))
      expect(quiet.length / comparisons.length).toBeGreaterThanOrEqual(0.95)
    }
  )

  test('says slower and faster only where the interval does not contain 0', () => {
    const random = new Random(5)
    const rows = repeat(40, () => compare(draw(random, 12, 0.6 + random.uniform())).rows).flat()
    expect(rows).toHaveLength(480)
    for (const { outcome, interval, changePct } of rows) {
      const [low, high] = interval ?? [NaN, NaN]
      expect(low).toBeLessThan(changePct ?? NaN)
      expect(high).toBeGreaterThan(changePct ?? NaN)
      expect(outcome).toBe(low > 0 ? 'slower' : high < 0 ? 'faster' : 'no clear change')
    }
  })
})

/** Requests of a segment: their p95 is that of a few samples with a long tail. */
function drawSegment(random: Random, labels: number, samples: number): Labels {
  return Object.fromEntries(
    repeat(labels, (i) => {
      const times = repeat(samples, () => 50 * Math.exp(0.8 * random.normal())).sort((a, b) => a - b)
      return [`label ${i}`, { samples, percentileMs: times[Math.ceil(0.95 * samples) - 1] }]
    })
  )
}

test('side by side, segments with few samples of a label give no false alarms either', () => {
  const comparisons = repeat(300, (seed) => {
    const random = new Random(seed)
    const draw = (): Labels => drawSegment(random, 8, 12)
    return compare(paired(repeat(10, () => [draw(), draw()]))).rows
  })
  expect(comparisons[0]?.every(({ interval }) => interval !== null)).toBe(true)
  const quiet = comparisons.filter((rows) => rows.every(({ outcome }) => outcome !== 'slower'))
  expect(quiet.length / comparisons.length).toBeGreaterThanOrEqual(0.95)
})

test.each([
  ['ten recorded runs', drawRecorded(10, 0.03)],
  ['ten rounds', drawPaired(10, 0.065)]
])('with %s, the label of twenty that takes 30 %% longer is first, and slower', (_, draw) => {
  const firsts = repeat(100, (seed) => compare(draw(new Random(seed), 20, 1.3)).rows[0])
  const found = firsts.filter((row) => row?.label === 'label 0' && row.outcome === 'slower')
  expect(found.length).toBeGreaterThanOrEqual(95)
})

test('the more labels are compared, the more evidence each one needs', () => {
  const slow: Labels = { checkout: { percentileMs: 500 } }
  const others: Labels = Object.fromEntries(repeat(199, (i) => [`other ${i}`, {}]))
  const alone = compare(
    recorded(
      repeat(10, () => ({ checkout: {} })),
      slow
    )
  ).rows[0]
  const among = compare(
    recorded(
      repeat(10, () => ({ checkout: {}, ...others })),
      { ...slow, ...others }
    )
  )
  const many = find(among.rows, 'checkout')
  expect(alone?.interval?.[0]).toBeGreaterThan(many?.interval?.[0] ?? Infinity)
  expect(alone?.interval?.[1]).toBeLessThan(many?.interval?.[1] ?? 0)
  // 2 % by 200 labels, on one side.
  const [low = 0, high = 0] = (many?.interval ?? []).map((pct) => Math.log1p(pct / 100))
  const se = 0.05 * Math.sqrt(4 / 13) * Math.sqrt(1 + 1 / 5)
  expect(tTail((high - low) / 2 / se, 13)).toBeCloseTo(0.02 / 200, 6)
})

test.each([1, 4, 9, 13, 23])(
  'the bounds of ten thousand labels are exact for %i degrees of freedom',
  (dof) => {
    for (const level of [0.01, 0.02 / 200, 0.02 / 10_000])
      expect(tTail(tQuantile(1 - level, dof), dof) / level).toBeCloseTo(1, 3)
  }
)

describe('the order', () => {
  test('is by the time that users lose: the change, times how many requests there are', () => {
    const base: Labels = { rare: { samples: 500 }, often: {}, faster: {}, same: {} }
    const head: Labels = {
      rare: { samples: 500, percentileMs: 1600 },
      often: { percentileMs: 600 },
      faster: { percentileMs: 200 },
      same: { percentileMs: 401 }
    }
    const { rows } = compare(
      recorded(
        repeat(10, () => base),
        head
      )
    )
    expect(rows.map(({ label, outcome }) => [label, outcome])).toEqual([
      ['often', 'slower'],
      ['rare', 'slower'],
      ['faster', 'faster'],
      ['same', 'no clear change']
    ])
    expect(rows[1]).toMatchObject({ base: 400, head: 1600, samples: { base: 2500, head: 500 } })
    expect(rows[1]?.changePct).toBeCloseTo(300, 6)
  })

  test('of faster ones is by the time that users gain', () => {
    const base: Labels = { a: {}, b: { percentileMs: 4000 }, c: { percentileMs: 1000 } }
    const head: Labels = { a: { percentileMs: 200 }, b: { percentileMs: 1000 }, c: { percentileMs: 500 } }
    const { rows } = compare(recorded([base, base, base], head))
    expect(rows.map(({ label, outcome }) => `${label} ${outcome}`)).toEqual([
      'b faster',
      'c faster',
      'a faster'
    ])
  })

  test('has labels of one side at the end, with what is known of them', () => {
    const { rows, leftOut } = compare(
      recorded(
        [
          { a: {}, old: {} },
          { a: {}, gone: {} }
        ],
        { a: {}, fresh: {} }
      )
    )
    expect(rows.map(({ label, outcome }) => [label, outcome])).toEqual([
      ['a', 'no clear change'],
      ['fresh', 'new'],
      ['gone', 'gone']
    ])
    expect(rows[1]).toMatchObject({ base: null, head: 400, changePct: null, interval: null })
    expect(rows[1]).toMatchObject({ samples: { base: 0 }, errorRate: { base: null, head: 0 } })
    expect(rows[2]).toMatchObject({ base: 400, head: null, samples: { head: 0 } })
    expect(leftOut).toBe(0)
  })

  test('side by side, a label is gone if no segment of the head has it', () => {
    const { rows } = compare(
      paired(
        repeat(3, () => [
          { a: {}, b: {} },
          { a: {}, c: {} }
        ])
      )
    )
    expect(rows.map(({ label, outcome }) => `${label} ${outcome}`)).toEqual([
      'a no clear change',
      'c new',
      'b gone'
    ])
  })

  test('of ten thousand labels, 200 are compared, and a slower one is the first', () => {
    const make = (factor: number): Labels =>
      Object.fromEntries(
        repeat(10_000, (i) => [`l${i}`, { samples: 1000, percentileMs: 400 * (i === 7777 ? factor : 1) }])
      )
    const base = make(1)
    const { rows, leftOut } = compare(
      recorded(
        repeat(10, () => base),
        { ...make(3), fresh: {} }
      )
    )
    expect(rows).toHaveLength(200)
    expect(leftOut).toBe(9801)
    expect(rows[0]).toMatchObject({ label: 'l7777', outcome: 'slower' })
    expect(rows.at(-1)).toMatchObject({ label: 'fresh', outcome: 'new' })
  })
})

describe('failures', () => {
  test('of very many labels, one that fails now is kept, however quickly it does', () => {
    const make = (ms: number): Labels =>
      Object.fromEntries(repeat(250, (i) => [`l${i}`, { percentileMs: ms }]))
    const base: Labels = { ...make(400), pay: { percentileMs: 30 } }
    const head: Labels = { ...make(410), pay: { percentileMs: 30, failures: 50_000 } }
    const { rows, leftOut } = compare(recorded([base, base], head))
    expect(leftOut).toBe(51)
    expect(rows[0]).toMatchObject({ label: 'pay', outcome: 'not comparable' })
  })

  test('few samples of a label that fails now are no clear change either', () => {
    const few: Labels = { a: { samples: 40 } }
    const { rows } = compare(recorded([few, few], { a: { samples: 40, failures: 40 } }))
    expect(rows[0]).toMatchObject({ outcome: 'not comparable', errorRate: { base: 0, head: 1 } })
  })

  test('a label that fails now is no faster one, and comes after those that got slower', () => {
    const base: Labels = { a: {}, b: {}, slow: {}, quick: {} }
    const head: Labels = {
      a: { failures: 45_000, percentileMs: 20 },
      b: { failures: 5_000, percentileMs: 300 },
      slow: { percentileMs: 800 },
      quick: { percentileMs: 200 }
    }
    const { rows } = compare(
      recorded(
        repeat(10, () => base),
        head
      )
    )
    expect(rows.map(({ label, outcome }) => [label, outcome])).toEqual([
      ['slow', 'slower'],
      ['a', 'not comparable'],
      ['b', 'not comparable'],
      ['quick', 'faster']
    ])
    expect(rows[1]).toMatchObject({ changePct: null, interval: null, errorRate: { base: 0, head: 0.9 } })
  })

  test('one of failures alone, on both sides, is not comparable', () => {
    const failing: Labels = { a: { failures: 50_000 }, b: {} }
    const recordedRows = compare(recorded([failing, failing], failing)).rows
    const pairedRows = compare(paired(repeat(4, () => [failing, failing]))).rows
    for (const rows of [recordedRows, pairedRows]) {
      expect(find(rows, 'a')).toMatchObject({ outcome: 'not comparable', errorRate: { base: 1, head: 1 } })
      expect(find(rows, 'b')).toMatchObject({ outcome: 'no clear change' })
    }
  })

  test('time-outs are slower requests', () => {
    const { rows } = compare(
      recorded(
        repeat(5, () => ({ a: {} })),
        { a: { failures: 40_000, percentileMs: 30_000 } }
      )
    )
    expect(rows[0]).toMatchObject({ outcome: 'slower', errorRate: { head: 0.8 } })
  })
})

describe('too little to say', () => {
  test('a label with few samples has a change without an interval', () => {
    const { rows } = compare(
      recorded(
        repeat(10, () => ({ a: { samples: 300 } })),
        { a: { samples: 300, percentileMs: 4000 } }
      )
    )
    expect(rows[0]).toMatchObject({ outcome: 'no clear change', base: 400, head: 4000, interval: null })
    expect(rows[0]?.changePct).toBeCloseTo(900, 6)
  })

  test('side by side, the samples of all rounds count together', () => {
    const rowOf = (samples: number) =>
      compare(paired(repeat(10, () => [{ a: { samples } }, { a: { samples, percentileMs: 800 } }]))).rows[0]
    expect(rowOf(3)).toMatchObject({ outcome: 'no clear change', interval: null })
    expect(rowOf(4)).toMatchObject({ outcome: 'slower', samples: { base: 40, head: 40 } })
  })

  test('less than 2 ms is less than tools measure', () => {
    const rows = (ms: number) =>
      compare(paired(repeat(10, () => [{ a: { percentileMs: 1 } }, { a: { percentileMs: ms } }]))).rows
    expect(rows(2.9)[0]).toMatchObject({ outcome: 'no clear change' })
    expect(rows(3)[0]).toMatchObject({ outcome: 'slower' })
  })

  test('of less than 1 ms there is no percentage', () => {
    const { rows } = compare(
      paired(repeat(10, () => [{ a: { percentileMs: 0 } }, { a: { percentileMs: 3 } }]))
    )
    expect(rows[0]).toMatchObject({ base: 0, head: 3, outcome: 'slower', changePct: null, interval: null })
  })

  test('a label is faster than one bad run of the branch, which is nothing', () => {
    const base = [...repeat(9, () => ({ a: {} })), { a: { percentileMs: 900 } }]
    expect(compare(recorded(base, { a: {} })).rows[0]).toMatchObject({
      outcome: 'no clear change',
      base: 900
    })
  })

  test('a label that few rounds have cannot be compared', () => {
    const pairs = repeat(10, (i): [Labels, Labels] => [
      { a: {}, ...(i < 5 && { b: {} }) },
      { a: {}, b: {} }
    ])
    expect(find(compare(paired(pairs)).rows, 'b')).toMatchObject({
      outcome: 'not comparable',
      interval: null
    })
  })

  test('nothing was compared', () => {
    const none = { kind: 'none', outcome: 'no baseline', reason: 'nothing is recorded' } as const
    expect(compareLabels(none, settingsOf(), [])).toBeUndefined()
    expect(compareLabels(recorded([], { a: {} }), settingsOf(), [])).toBeUndefined()
    expect(compareLabels(paired([[{ a: {} }, { a: {} }]]), settingsOf(), [])).toBeUndefined()
  })

  test('a document that was too large lost labels, so that none of them is called new', () => {
    const scopes = [makeScope({ samples: 3000 }), makeScope({ label: 'a', samples: 1000 })]
    const base = [asComparedRun(makeRun({ scopes }))]
    const head = [runOf({ a: { percentileMs: 200, samples: 1000 }, b: {} })]
    const { rows } = compare({ kind: 'recorded', base, head })
    expect(find(rows, 'b')?.outcome).toBe('not comparable')
    const whole = asComparedRun(makeRun({ scopes: [makeScope(), makeScope({ label: 'a' })] }))
    expect(find(compare({ kind: 'recorded', base: [whole], head }).rows, 'b')?.outcome).toBe('new')
  })
})

describe('the time that is compared', () => {
  const evidence = recorded([{ a: {} }], { a: {} })

  test.each([
    ['', 'p95'],
    ['median <= baseline + 10%', 'median'],
    ['p50 <= baseline + 10%', 'median'],
    ['throughput >= baseline - 5%\nmean <= baseline + 10%\np95 <= baseline + 10%', 'mean'],
    ['p99 <= baseline + 10%', 'p95'],
    ['mean < 800ms', 'p95']
  ])('with %j it is %s', (lines, metric) => {
    expect(compare(evidence, lines).metric).toBe(metric)
  })

  test('is the mean where there are no single times', () => {
    const run = makeComparedRun({
      overall: { percentileMs: undefined },
      labels: { a: { percentileMs: undefined, meanMs: 120 } }
    })
    const { metric, rows, times } = compare({ kind: 'recorded', base: [run], head: [run] })
    expect(metric).toBe('mean')
    expect(rows[0]).toMatchObject({ base: 120, head: 120, outcome: 'no clear change' })
    expect(times).toEqual([])
  })
})

describe('a label that a line judges', () => {
  /** 25 labels, of which the line sees the worst one. */
  const evidence = (factor: number) => drawPaired(10, 0.05)(new Random(5), 25, factor)

  test.each([
    ['p95{label="label 0"} <= baseline + 1%', 1.2, 'slower'],
    ['p95{label="label 0"} <= baseline + 1%', 1.07, 'slower'],
    ['p95{label="label 0"} <= baseline + 50%', 1.07, 'no clear change'],
    ['p95{label="label *"} <= baseline + 50%', 1.2, 'slower']
  ])('by %j has the interval of the line, %d times as long: %s', (text, factor, outcome) => {
    const { thresholds } = parseThresholds(text)
    const judgements = judgeBaselineLines(thresholds.filter(isBaselineThreshold), evidence(factor), {
      ...{ noise: 0.05, onMissing: 'warn', onUnsure: 'warn' }
    })
    const { comparison, scope } = judgements[0]!
    expect(scope).toEqual({ label: 'label 0' })
    const alone = compareLabels(evidence(factor), settingsOf(text), [])!.rows.find(
      ({ label }) => label === 'label 0'
    )!
    const row = find(compareLabels(evidence(factor), settingsOf(text), judgements)!.rows, 'label 0')
    expect(row).toEqual({ ...alone, interval: comparison!.interval, outcome })
    expect(alone.interval![0]).toBeLessThan(comparison!.interval![0])
  })

  test.each([
    'median{label="label 0"} <= baseline + 1%',
    'p95{label="label 0", region="*"} <= baseline + 1%'
  ])('by another figure, %j, keeps its own', (text) => {
    const { thresholds } = parseThresholds(text)
    const judgements = judgeBaselineLines(thresholds.filter(isBaselineThreshold), evidence(1.2), {
      ...{ noise: 0.05, onMissing: 'warn', onUnsure: 'warn' }
    })
    const settings = settingsOf('p95 <= baseline + 10%')
    expect(compareLabels(evidence(1.2), settings, judgements)).toEqual(
      compareLabels(evidence(1.2), settings, [])
    )
  })
})

/** Samples of two labels, `slow` ms the first. */
function measureRun(slow: number) {
  const rows = repeat(
    40,
    (i) => `${1_760_000_000_000 + i * 100},${i % 2 === 0 ? slow : 50},${i % 2 === 0 ? 'a' : 'b'},200,true`
  )
  return measure(['timeStamp,elapsed,label,responseCode,success', ...rows, ''].join('\n'))
}

describe('how long requests took on both sides', () => {
  const asRun = (slow: number): ComparedRun => {
    const measurements = measureRun(slow)
    return {
      apdex: undefined,
      labels: measurements.labels,
      regions: [],
      figures: (scope) => measurements.figures(scope)
    }
  }

  test('side by side: of all rounds together, of all samples and of each label', () => {
    const pairs = [100, 110].map((slow) => ({ base: asRun(slow), head: asRun(2 * slow) }))
    const { times } = compare({ kind: 'side-by-side', pairs })
    expect(times).toEqual([
      {
        label: null,
        base: { valuesMs: [50, 100, 110], counts: [40, 20, 20] },
        head: { valuesMs: [50, 200, 220], counts: [40, 20, 20] }
      },
      {
        label: 'a',
        base: { valuesMs: [100, 110], counts: [20, 20] },
        head: { valuesMs: [200, 220], counts: [20, 20] }
      },
      { label: 'b', base: { valuesMs: [50], counts: [40] }, head: { valuesMs: [50], counts: [40] } }
    ])
  })

  test('recorded: by the histograms of the runs that the base is the mean of', () => {
    const facts = { ...makeRun(), unusable: null, apdex: undefined }
    const base = [100, 101].map((slow) => asComparedRun(recordRun(facts, measureRun(slow), [])))
    const { times } = compare({ kind: 'recorded', base, head: [asRun(300)] })
    expect(times[1]).toEqual({
      label: 'a',
      base: { valuesMs: [100, 101], counts: [20, 20] },
      head: { valuesMs: [300], counts: [20] }
    })
  })

  test('nothing where a side has no histogram', () => {
    const scopes = [makeScope(), makeScope({ label: 'a' })]
    expect(
      compare({ kind: 'recorded', base: [asComparedRun(makeRun({ scopes }))], head: [asRun(100)] }).times
    ).toEqual([])
  })
})
