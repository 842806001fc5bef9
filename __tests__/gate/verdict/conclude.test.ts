import { describe, expect, test } from '@jest/globals'
import type { Collection } from '../../../src/gate/collect/collect.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { Findings } from '../../../src/gate/findings.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import type { Run, RunNode } from '../../../src/contract/api.js'
import { makeGrid, makeRun, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { parseRegions } from '../../../src/contract/regions/parse-regions.js'
import { makeNode } from '../../support/data/make-outcome.js'
import { CSV_HEADER, makeCsv } from '../../support/gate/gate-service.js'

const REPORT = { summary: 'all was well', means: { mean_response_time: 100 }, rehearsal: false, warnings: [] }

type GridResult = Collection['grids'][number]

function makeGridResult(changes: Partial<GridResult> = {}): GridResult {
  return {
    gridId: 'g1',
    region: 'us-east-1',
    nodeCount: 2,
    path: '/r/us-east-1-g1.csv',
    bytes: 700,
    problem: undefined,
    ...changes
  }
}

function measure(...csvs: string[]): Collection['measurements'] {
  return mergeScans(
    csvs.map((csv, index) => {
      const scanner = new ByteScanner({ grid: `g${index + 1}`, region: 'us-east-1' })
      scanner.push(Buffer.from(csv))
      return scanner.end()
    })
  )
}

function makeTidy(seconds: readonly number[], users = 5): string {
  const figures = [`passed,100`, 'failed,0', 'response_time,50', `concurrency,${users}`]
  const rows = seconds.flatMap((second) =>
    figures.map((figure) => {
      const [measurement, value] = figure.split(',')
      return `${1_760_000_010_000 + second * 1000},${measurement},__all,1,1,1,1,us-east-1,${value}`
    })
  )
  return `${['Time,Measurement,Label,Account,Run,Project,Grid,Region,Value', ...rows].join('\n')}\n`
}

function makeCollection(changes: Partial<Collection> = {}): Collection {
  return {
    run: makeRun(),
    report: REPORT,
    reportProblem: undefined,
    resultsDir: '/r',
    grids: [makeGridResult()],
    missingGrids: [],
    spansMs: new Map(),
    measurements: measure(makeCsv()),
    ...changes
  }
}

function makeFindings(changes: Findings = {}): Findings {
  return { run: makeRun(), collection: makeCollection(), ...changes }
}

const APDEX = makeSettings({ thresholdLines: 'apdex >= 0.85' })
const NONE = makeSettings()

describe('passed', () => {
  test.each([
    ['one threshold', 'apdex >= 0.85', 'The threshold holds.'],
    ['all thresholds', 'apdex >= 0.85\np95 < 1s\nerror_rate < 1%', 'All 3 thresholds hold.'],
    ['no thresholds', '', 'No thresholds were given, so this is only a report.']
  ])('%s', (_, thresholdLines, reason) => {
    expect(conclude(makeSettings({ thresholdLines }), makeFindings())).toMatchObject({
      verdict: 'passed',
      reason
    })
  })

  test.each([
    [
      'a broken',
      'warn: apdex >= 0.99',
      /^Only warn: lines were given, so nothing can fail\. There is a warning: apdex is 0\.93/
    ],
    [
      'an inconclusive',
      'apdex > 0.5\nwarn: p95{label="gone"} < 1s',
      /^The threshold holds\. There is a warning: /
    ],
    ['two broken', 'warn: apdex >= 0.99\nwarn: p95 < 1ms', /There are 2 warnings: /]
  ])('%s warn: line does not fail', (_, thresholdLines, reason) => {
    const outcome = conclude(makeSettings({ thresholdLines }), makeFindings())
    expect(outcome.verdict).toBe('passed')
    expect(outcome.reason).toMatch(reason)
  })
})

describe('failed', () => {
  test.each([
    ['one broken', 'apdex >= 0.95', /^1 threshold is broken: apdex is 0\.93, must be >= 0\.95/],
    ['two broken', 'apdex >= 0.95\np95 < 1ms', /^2 thresholds are broken: apdex is 0\.93/],
    [
      'a broken one outweighs an inconclusive one',
      'p95{label="gone"} < 1s\napdex >= 0.95',
      /^1 threshold is broken: apdex/
    ],
    ['broken, and a warning', 'warn: apdex > 0.99\np95 < 1ms', /^1 threshold is broken: p95/]
  ])('%s', (_, thresholdLines, reason) => {
    const outcome = conclude(makeSettings({ thresholdLines }), makeFindings())
    expect(outcome.verdict).toBe('failed')
    expect(outcome.reason).toMatch(reason)
  })

  test('a broken apdex fails even where a CSV is missing', () => {
    const collection = makeCollection({
      grids: [makeGridResult({ path: undefined, problem: 'gone' })],
      measurements: undefined
    })
    const settings = makeSettings({ thresholdLines: 'apdex >= 0.95' })
    expect(conclude(settings, makeFindings({ collection })).verdict).toBe('failed')
  })
})

describe('inconclusive, with and without thresholds', () => {
  const cases: [string, Findings, RegExp][] = [
    ['stopped', { run: makeRun({ status: 'stopped' }) }, /^The run ended as "stopped", not "finished"\.$/],
    [
      'a problem, with the words of the service',
      { run: makeRun({ status: 'problem', remoteErrors: 'out of memory' }) },
      /^The run ended as "problem", not "finished"\. The service says: out of memory$/
    ],
    ['an unknown status', { run: makeRun({ status: 'odd' }) }, /^The run ended as "odd"/],
    [
      'a missing report',
      { collection: makeCollection({ report: undefined, reportProblem: 'the service answered 404' }) },
      /^The report could not be downloaded: the service answered 404$/
    ],
    [
      'a missing CSV',
      {
        collection: makeCollection({
          grids: [
            makeGridResult(),
            makeGridResult({ gridId: 'g2', path: undefined, problem: 'it broke off' })
          ]
        })
      },
      /^The CSV of grid g2 could not be downloaded completely: it broke off$/
    ],
    [
      'a CSV of an unknown shape, also where the apdex alone is judged',
      { collection: makeCollection({ measurements: measure('a,b\n1,2\n') }) },
      /^A CSV cannot be read: its header is not recognized \(grid g1\)\.$/
    ],
    [
      'a grid that was requested and is not listed',
      { collection: makeCollection({ missingGrids: ['a grid in eu-west-1'] }) },
      /^Not every requested grid has results: a grid in eu-west-1 is missing from the service's list \(1 found\)\.$/
    ],
    [
      'several of them',
      { collection: makeCollection({ missingGrids: ['grid abc', 'a grid', 'a grid'] }) },
      /: grid abc and 2 more are missing from the service's list \(1 found\)\.$/
    ],
    [
      'another gap in the results',
      { collection: makeCollection({ gaps: ['Grid g1 has 1 of 2 nodes.'] }) },
      /^Grid g1 has 1 of 2 nodes\.$/
    ],
    [
      'load that the service lost',
      {
        run: makeRun({
          remoteErrors: 'node 2 was slow\nload lost: stopped by a caller after 12 s\nLoad lost: node 3'
        })
      },
      /^Part of the load was lost: stopped by a caller after 12 s; node 3$/
    ],
    [
      'no grid at all',
      { collection: makeCollection({ grids: [], measurements: undefined }) },
      /^The service lists no grids for the run/
    ],
    [
      'no sample',
      { collection: makeCollection({ measurements: measure(`${CSV_HEADER}\n`) }) },
      /(contain no samples|no rows)/
    ],
    [
      'a CSV whose last row is cut',
      { collection: makeCollection({ measurements: measure(makeCsv().slice(0, -20)) }) },
      /^A CSV cannot be read completely: \S.*\(grid g1\)\.$/
    ],
    [
      'one of two CSVs that holds nothing',
      {
        collection: makeCollection({
          grids: [makeGridResult(), makeGridResult({ gridId: 'g2' })],
          measurements: measure(makeCsv(), `${CSV_HEADER}\n`)
        })
      },
      /g2/
    ]
  ]

  test.each(cases)('%s', (_, changes, reason) => {
    for (const settings of [NONE, APDEX]) {
      const outcome = conclude(settings, makeFindings(changes))
      expect(outcome.verdict).toBe('inconclusive')
      expect(outcome.reason).toMatch(reason)
    }
  })

  test('nothing was collected', () => {
    expect(conclude(NONE, { run: makeRun() })).toMatchObject({
      verdict: 'inconclusive',
      reason: 'Nothing was collected from the run.'
    })
  })

  test('nothing was found at all', () => {
    expect(conclude(NONE, {}).verdict).toBe('inconclusive')
  })

  test.each([
    ['null', null, /the service gave no apdex for this run/],
    ['odd', 'excellent', /the service gave the apdex "excellent", which is not of the form/],
    ['not possible', '1.5 [500]', /"1\.5 \[500\]"/],
    ['not a number', 'NaN [500]', /"NaN \[500\]"/]
  ])('an apdex that is %s, where a threshold needs it', (_, apdex, reason) => {
    const outcome = conclude(APDEX, makeFindings({ run: makeRun({ apdex }) }))
    expect(outcome).toMatchObject({ verdict: 'inconclusive', apdex: undefined })
    expect(outcome.reason).toMatch(reason)
  })

  test('an apdex that nobody needs may be null', () => {
    const settings = makeSettings({ thresholdLines: 'p95 < 1s' })
    expect(conclude(settings, makeFindings({ run: makeRun({ apdex: null }) })).verdict).toBe('passed')
  })

  test.each([
    ['a selector that matches nothing', 'p95{label="gone"} < 1s', makeCsv()],
    ['a figure that the CSV does not hold', 'concurrency > 1', makeCsv()],
    ['a CSV of an unknown shape', 'p95 < 1s', 'a,b\n1,2\n']
  ])('%s', (_, thresholdLines, csv) => {
    const collection = makeCollection({ measurements: measure(csv) })
    expect(conclude(makeSettings({ thresholdLines }), makeFindings({ collection })).verdict).toBe(
      'inconclusive'
    )
  })
})

describe('what the service says went wrong', () => {
  const words = (remoteErrors: string) => makeFindings({ run: makeRun({ remoteErrors }) })
  const NODES_LOST = { ...APDEX, threads: 50 }

  test('beside a run that finished is shown, and no more', () => {
    expect(conclude(APDEX, words('a node was slow\nand late'))).toMatchObject({
      verdict: 'passed',
      remoteErrors: ['a node was slow', 'and late'],
      warnings: []
    })
  })

  test('makes it inconclusive where the load was not reached', () => {
    const outcome = conclude(NODES_LOST, words('2 nodes did not start'))
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(
      /^The load reached 5 threads of the 50 threads requested\. .* The service says: 2 nodes did not start$/
    )
  })

  test('counts the threads of one node, for nobody knows how many took part', () => {
    const grids = [makeSpecification({ nodeCount: 10 })]
    const settings = { ...NODES_LOST, origin: { kind: 'files' as const, paths: [], grids } }
    expect(conclude(settings, makeFindings()).warnings).toEqual([])
    expect(conclude(settings, words('7 of 10 nodes failed')).reason).toMatch(/^The load reached 5 threads of/)
  })

  test('goes with the busiest bucket of a tidy CSV', () => {
    const collection = makeCollection({ measurements: measure(makeTidy([0, 15, 30], 40)) })
    const lost = { run: makeRun({ remoteErrors: 'node 2 of 2 lost' }), collection }
    expect(conclude(NODES_LOST, makeFindings(lost)).reason).toMatch(/^The load reached 40 threads of the 50/)
    expect(conclude({ ...NODES_LOST, threads: 44 }, makeFindings(lost)).verdict).toBe('passed')
  })

  test.each(['load lost: node 2', '2 nodes did not start'])(
    '"%s" does not undo a broken threshold',
    (line) => {
      const settings = { ...makeSettings({ thresholdLines: 'apdex >= 0.99' }), threads: 50 }
      expect(conclude(settings, words(line)).verdict).toBe('failed')
    }
  )

  test('is quoted in 500 characters after a bad end', () => {
    const remoteErrors = Array.from({ length: 99 }, (_, line) => `line ${line} of a long story`).join('\n')
    const { reason } = conclude(APDEX, makeFindings({ run: makeRun({ status: 'problem', remoteErrors }) }))
    expect(reason).toMatch(
      /^The run ended as "problem", not "finished"\. The service says: line 0 of a long story; line 1 .*…$/
    )
    expect(reason.length).toBeLessThan(600)
  })
})

describe('load that was requested and not reached', () => {
  const warningsOf = (changes: Parameters<typeof makeSettings>[0], findings: Findings = {}) =>
    conclude(makeSettings({ thresholdLines: 'apdex >= 0.85', ...changes }), makeFindings(findings)).warnings
  const specification = (changes = {}) => ({
    origin: { kind: 'files' as const, paths: [], grids: [makeSpecification({ nodeCount: 1, ...changes })] }
  })

  test('is a warning with both numbers, and no verdict', () => {
    const outcome = conclude({ ...APDEX, threads: 50 }, makeFindings())
    expect(outcome.verdict).toBe('passed')
    expect(outcome.warnings).toEqual([
      'The load reached 5 threads of the 50 threads requested. Check that the plan takes its threads from the settings (in JMeter: ${__P(threads,1)}), and that every node took part.'
    ])
  })

  test.each([
    ['as many as requested', { threads: 5, ...specification() }, 0],
    ['nine in ten', { threads: 55, ...specification({ nodeCount: 10 }) }, 0],
    ['less than that', { threads: 6, ...specification() }, 1],
    ['one count a node, on demand', { threads: 10, ...specification({ nodeCount: 2 }) }, 0],
    ['too few even so', { threads: 12, ...specification({ nodeCount: 2 }) }, 1],
    ['per node where it is hosted', { threads: 6, ...specification({ infrastructure: 'hosted' }) }, 1],
    [
      'hosted, one count a node',
      { threads: 5, ...specification({ infrastructure: 'hosted', nodeCount: 9 }) },
      0
    ],
    [
      'per node, and the embedded service counts all nodes',
      {
        threads: 5,
        target: { kind: 'local' as const },
        ...specification({ infrastructure: 'hosted', nodeCount: 2 })
      },
      1
    ],
    ['no number of threads', specification(), 0]
  ])('threads: %s', (_, changes, count) => {
    expect(
      warningsOf(changes, { collection: makeCollection({ grids: [makeGridResult({ nodeCount: 1 })] }) })
    ).toHaveLength(count)
  })

  test.each([
    ['gatling', ' (in Gatling: Integer.getInteger("threads", 1)), and'],
    ['service-chrome', 'from the settings, and']
  ])('%s: what to check is said in the language of the plan', (tool, words) => {
    expect(warningsOf({ tool, threads: 50, ...specification() })).toEqual([expect.stringContaining(words)])
  })

  test('threads that were not active at once may have had their turn one after the other, where there are samples enough', () => {
    const settings = { threads: 50, ...specification() }
    const grids = [makeGridResult({ nodeCount: 1 })]
    const enough = makeCollection({ grids, measurements: measure(makeCsv(50)) })
    expect(warningsOf(settings, { collection: enough })).toEqual([
      'The load reached 5 threads of the 50 threads requested. That many were active at the same time, which is normal where threads end before the last ones start, as in one short pass with a ramp-up. Otherwise check that the plan takes its threads from the settings (in JMeter: ${__P(threads,1)}), and that every node took part.'
    ])
    const tooFew = makeCollection({ grids, measurements: measure(makeCsv(44)) })
    expect(warningsOf(settings, { collection: tooFew })).toEqual([
      expect.stringMatching(/^The load reached 5 threads of the 50 threads requested\. Check that/)
    ])
  })

  test('threads are those of the run where none were set here', () => {
    const settings = { origin: { kind: 'existing' as const, runId: 'run1' } }
    const run = makeRun({ threads: 6, grids: [makeGrid({ nodeCount: 1 })] })
    const collection = makeCollection({ grids: [makeGridResult({ nodeCount: 1 })] })
    expect(warningsOf(settings, { run, collection })).toHaveLength(1)
    expect(warningsOf(settings, { run: { ...run, threads: 5 }, collection })).toEqual([])
  })

  test.each(['existing', 'repeat'] as const)('of a run that is %s: the inputs do not count', (kind) => {
    const settings = { origin: { kind, runId: 'run1' }, threads: 500, durationSeconds: 600 }
    const run = makeRun({ threads: 5, durationSeconds: 20, grids: [makeGrid({ nodeCount: 1 })] })
    const grids = [makeGridResult({ nodeCount: 1 })]
    const collection = makeCollection({ grids, spansMs: new Map([['g1', 20_000]]) })
    expect(warningsOf(settings, { run, collection })).toEqual([])
  })

  test('threads of a CSV that does not tell them are not guessed', () => {
    const measurements = measure('timeStamp,elapsed,label,success\n1700000000000,5,x,true\n')
    expect(warningsOf({ threads: 50 }, { collection: makeCollection({ measurements }) })).toEqual([])
  })

  test('a span that is 2 s short of the duration and more', () => {
    const span = (ms: number) => ({ collection: makeCollection({ spansMs: new Map([['g1', ms]]) }) })
    expect(warningsOf({ durationSeconds: 20 }, span(18_000))).toEqual([])
    expect(warningsOf({ durationSeconds: 20 }, span(17_900))).toEqual([
      'The samples of grid g1 span 18 s of the 20 s requested. Check that the plan takes its duration from the settings, and that nothing ended it early.'
    ])
  })

  test.each<[string, Findings]>([
    ['a bad end', { run: makeRun({ status: 'problem' }) }],
    ['a timeout', { failure: { kind: 'timed-out', message: 'late' } }]
  ])('after %s nobody is warned', (_, findings) => {
    expect(warningsOf({ threads: 50, durationSeconds: 600 }, findings)).toEqual([])
  })
})

describe('samples over less than 90 % of the duration', () => {
  const spans = (...ms: number[]) => {
    const csvs = ms.map(() => makeCsv())
    return makeFindings({
      collection: makeCollection({
        measurements: measure(...csvs),
        spansMs: new Map(ms.map((each, index) => [`g${index + 1}`, each]))
      }),
      // What the service says of it does not count beside the samples.
      run: makeRun({ startedMs: 0, stoppedMs: 60_000 })
    })
  }

  test.each([
    ['all of it', 60_000, 'passed'],
    ['90 % but for 2 s', 52_000, 'passed'],
    ['less', 51_900, 'inconclusive']
  ])('%s', (_, ms, verdict) => {
    expect(conclude({ ...APDEX, durationSeconds: 60 }, spans(ms)).verdict).toBe(verdict)
  })

  test('in one of two grids', () => {
    expect(conclude({ ...APDEX, durationSeconds: 60 }, spans(60_000, 20_000))).toMatchObject({
      verdict: 'inconclusive',
      reason:
        'The samples of grid g2 span 20 s of the 60 s requested: the run was stopped early, or the plan ends by itself, by a loop count or a duration of its own.'
    })
  })

  describe('in one of the nodes of a grid', () => {
    const [fast, short] = [1, 2].map((number) => ({
      ...{ grid: 'g1', region: 'eu', number, place: 'this machine', startedMs: 0, rows: 600, threads: 5 },
      ...{ cpuLimit: null, restarts: null, throttled: null, clockOffsetMs: 0, lost: null },
      ...{ firstSampleMs: 1_000, lastSampleMs: 61_000 }
    })) as [RunNode, RunNode]
    /** So that it is not known how many rows the grid must have. */
    const UNCOUNTED: RunNode = { ...short, number: 3, rows: null }
    const withNode = (node: Partial<RunNode>) => {
      const findings = spans(60_000)
      const nodes = [fast, { ...short, ...node }, UNCOUNTED]
      return { ...findings, run: { ...findings.run, nodes } as Run }
    }

    test.each<[string, Partial<RunNode>, string]>([
      ['all of it', {}, 'passed'],
      ['90 % but for 2 s', { lastSampleMs: 53_000 }, 'passed'],
      ['less', { lastSampleMs: 52_900 }, 'inconclusive'],
      ['less, without threads', { lastSampleMs: 2_000, threads: 0 }, 'passed'],
      ['less, with few samples far apart', { lastSampleMs: 41_000, rows: 3 }, 'passed'],
      ['less, with a single sample among many', { lastSampleMs: 1_100, rows: 1 }, 'inconclusive']
    ])('%s', (_, node, verdict) => {
      expect(conclude({ ...APDEX, durationSeconds: 60 }, withNode(node)).verdict).toBe(verdict)
    })

    test('is told with both numbers', () => {
      const { reason } = conclude({ ...APDEX, durationSeconds: 60 }, withNode({ lastSampleMs: 9_000 }))
      expect(reason).toMatch(/^The samples of node 2 of grid g1 span 8 s of the 60 s requested: /)
    })
  })

  test('in one grid beside another that does not say', () => {
    const collection = makeCollection({
      measurements: measure(makeCsv(), makeCsv()),
      spansMs: new Map([['g1', 20_000]])
    })
    const run = makeRun({ startedMs: 0, stoppedMs: 60_000 })
    expect(conclude({ ...APDEX, durationSeconds: 60 }, { run, collection }).reason).toMatch(
      /^The samples of grid g1 span/
    )
  })

  test('a run that took long by its own times and has samples of its first seconds only', () => {
    const findings = { ...spans(12_000), run: makeRun({ startedMs: 0, stoppedMs: 15_000 }) }
    expect(conclude({ ...APDEX, durationSeconds: 18 }, findings).verdict).toBe('inconclusive')
  })
})

describe('a run that ended before 90 % of its duration, where not each sample has a row', () => {
  const startedMs = Date.UTC(2026, 0, 5)
  const ran = (seconds: number) => ({ startedMs, stoppedMs: startedMs + seconds * 1000 })
  const seen = (seconds: number, run = makeRun()) => ({
    run,
    watched: { run, sinceMs: 0, seenEndedMs: seconds * 1000 }
  })

  test.each([
    ['by its own times', 539, 'inconclusive'],
    ['just long enough', 540, 'passed'],
    ['longer', 700, 'passed']
  ])('%s', (_, seconds, verdict) => {
    const asked = conclude({ ...APDEX, durationSeconds: 600 }, makeFindings({ run: makeRun(ran(seconds)) }))
    expect(asked.verdict).toBe(verdict)
    const told = conclude(APDEX, makeFindings({ run: makeRun({ ...ran(seconds), durationSeconds: 600 }) }))
    expect(told.verdict).toBe(verdict)
  })

  test('says how long it took, also without thresholds', () => {
    const outcome = conclude({ ...NONE, durationSeconds: 600 }, makeFindings({ run: makeRun(ran(125)) }))
    expect(outcome.reason).toBe(
      'The run ended after 2 min 5 s of the 10 min requested: it was stopped early.'
    )
  })

  test.each([
    [1, 0.86, '0.8 s of the 1 s'],
    [3, 2.65, '2.6 s of the 3 s'],
    [4, 3.5, '3.5 s of the 4 s'],
    [5, 4.4, '4 s of the 5 s']
  ])('never says that all of it was too short: %d s, %d s', (durationSeconds, seconds, words) => {
    const outcome = conclude({ ...NONE, durationSeconds }, makeFindings({ run: makeRun(ran(seconds)) }))
    expect(outcome.reason).toBe(`The run ended after ${words} requested: it was stopped early.`)
  })

  test('says that load was lost, if so, which is why', () => {
    const run = makeRun({ ...ran(2.6), remoteErrors: 'load lost: JMeter: users.csv was not found' })
    const reason = 'Part of the load was lost: JMeter: users.csv was not found'
    const settings = makeSettings({ thresholdLines: 'apdex >= 0.99', durationSeconds: 3 })
    expect(conclude(settings, makeFindings({ run }))).toMatchObject({ verdict: 'inconclusive', reason })
    const collection = makeCollection({ measurements: measure(`${CSV_HEADER}\n`) })
    expect(conclude({ ...NONE, durationSeconds: 3 }, { run, collection })).toMatchObject({ reason })
    expect(conclude(NONE, { run, collection })).toMatchObject({ verdict: 'inconclusive', reason })
  })

  test('says so too where the samples show it', () => {
    const run = makeRun({ ...ran(60), remoteErrors: 'load lost: node 2' })
    const collection = makeCollection({ spansMs: new Map([['g1', 20_000]]) })
    const outcome = conclude({ ...NONE, durationSeconds: 60 }, { run, collection })
    expect(outcome.reason).toBe('Part of the load was lost: node 2')
    expect(outcome.warnings).toEqual([expect.stringContaining('span 20 s of the 60 s requested')])
  })

  test('a lost load does not explain a CSV that could not be downloaded', () => {
    const run = makeRun({ ...ran(600), remoteErrors: 'load lost: node 2' })
    const collection = makeCollection({ grids: [makeGridResult({ path: undefined, problem: 'gone' })] })
    expect(conclude(NONE, { run, collection }).reason).toMatch(/^The CSV of grid g1 could not be downloaded/)
  })

  test('a broken threshold does not make it a verdict', () => {
    const settings = makeSettings({ thresholdLines: 'apdex >= 0.99', durationSeconds: 600 })
    expect(conclude(settings, makeFindings({ run: makeRun(ran(100)) })).verdict).toBe('inconclusive')
  })

  test.each([
    ['too short', 500, 'inconclusive'],
    ['long enough', 541, 'passed']
  ])('by what was seen where a time is missing: %s', (_, seconds, verdict) => {
    for (const times of [{}, { startedMs }, { stoppedMs: startedMs }]) {
      const findings = makeFindings(seen(seconds, makeRun(times)))
      expect(conclude({ ...APDEX, durationSeconds: 600 }, findings).verdict).toBe(verdict)
    }
  })

  test('its own times count more than what was seen', () => {
    const findings = makeFindings({ ...seen(10_000), run: makeRun(ran(100)) })
    expect(conclude({ ...APDEX, durationSeconds: 600 }, findings).verdict).toBe('inconclusive')
  })

  test('an existing run was going before it was watched: what was seen says nothing', () => {
    const run = makeRun({ durationSeconds: 600 })
    const settings = { ...APDEX, origin: { kind: 'existing', runId: 'run1' } as const }
    expect(conclude(settings, makeFindings(seen(1, run))).verdict).toBe('passed')
  })

  test('nobody knows the duration', () => {
    expect(conclude(APDEX, makeFindings(seen(1))).verdict).toBe('passed')
  })
})

describe('failure and leaving come before everything', () => {
  test.each([
    ['timed-out', 'The run did not end within the timeout of 2 h.'],
    ['cancelled', 'cancelled by SIGINT'],
    ['error', 'creating the run: the service answered 401']
  ] as const)('%s', (kind, message) => {
    const settings = makeSettings({ thresholdLines: 'apdex >= 0.99' })
    for (const findings of [{}, makeFindings(), { run: makeRun({ status: 'running' }) }])
      expect(conclude(settings, { ...findings, failure: { kind, message } })).toMatchObject({
        verdict: kind,
        reason: message
      })
  })

  test('a run that did not come to its end has no apdex to judge', () => {
    const run = makeRun({ status: 'running', apdex: '0.99 [500]' })
    const { judgements } = conclude(APDEX, { run, failure: { kind: 'timed-out', message: 'late' } })
    expect(judgements).toMatchObject([
      { verdict: 'inconclusive', reason: expect.stringContaining('the run did not finish') }
    ])
  })

  test('detached: nothing is judged', () => {
    const run = makeRun({ status: 'queued', apdex: null })
    expect(conclude(APDEX, { run, isDetached: true })).toMatchObject({
      verdict: 'detached',
      reason: 'The run was started and left running (wait: false).',
      judgements: []
    })
  })
})

test('what was found goes on to those who read it', () => {
  const run = makeRun({
    id: 'r9',
    permalink: 'https://service.example/r9',
    durationSeconds: 60,
    startedMs: 1000,
    stoppedMs: 61_000,
    threads: 5
  })
  const collection = makeCollection({
    report: { ...REPORT, rehearsal: true, warnings: [] },
    grids: [makeGridResult(), makeGridResult({ gridId: 'g2', path: undefined, bytes: 0, problem: 'gone' })]
  })
  const outcome = conclude(
    { ...APDEX, origin: { kind: 'repeat', runId: 'r1' }, unused: ['threads'] },
    { run, collection }
  )
  expect(outcome).toMatchObject({
    run: {
      id: 'r9',
      url: 'https://service.example/r9',
      status: 'finished',
      threads: 5,
      durationSeconds: 60,
      startedMs: 1000,
      stoppedMs: 61_000
    },
    apdex: { score: 0.93, targetMs: 500 },
    summary: 'all was well',
    means: { mean_response_time: 100 },
    rehearsal: true,
    grids: [
      { gridId: 'g1', bytes: 700, problem: undefined },
      { gridId: 'g2', bytes: undefined, problem: 'gone' }
    ],
    warnings: [],
    remoteErrors: [],
    notes: [
      expect.stringContaining('Ignored inputs: threads (repeat '),
      expect.stringContaining('the times in the results are whole seconds')
    ]
  })
  expect(outcome.measurements).toBe(collection.measurements)
})

describe('the rows of a grid', () => {
  const FAIL = makeSettings({ thresholdLines: 'samples < 1' })
  const g2 = (rows: number | null): RunNode => makeNode({ grid: 'g2', rows })
  const [first = 0, second = 0] = measure(makeCsv(), makeCsv())!.sources.map(({ rows }) => rows)
  const judge = (settings: Settings, ...nodes: RunNode[]): Outcome =>
    conclude(
      settings,
      makeFindings({
        run: makeRun({ nodes }),
        collection: makeCollection({ measurements: measure(makeCsv(), makeCsv()) })
      })
    )

  test.each<[string, RunNode[], string]>([
    ['as many as its nodes had', [makeNode({ rows: first }), g2(second)], 'passed'],
    ['of two nodes', [makeNode({ rows: first - 1 }), makeNode({ number: 2, rows: 1 }), g2(second)], 'passed'],
    ['one of which was not counted', [makeNode({ rows: 1 }), makeNode({ number: 2, rows: null })], 'passed'],
    ['that a service does not tell', [], 'passed'],
    ['one less', [makeNode({ rows: first + 1 }), g2(second)], 'inconclusive'],
    ['one more', [makeNode({ rows: first - 1 }), g2(second)], 'inconclusive'],
    ['a loss that another grid makes up for', [makeNode({ rows: first + 1 }), g2(second - 1)], 'inconclusive']
  ])('%s', (_, nodes, verdict) => {
    expect(judge(NONE, ...nodes).verdict).toBe(verdict)
    // The rows that are missing, or those that are too many, may be what breaks a line.
    expect(judge(FAIL, ...nodes).verdict).toBe(verdict === 'passed' ? 'failed' : verdict)
  })

  test('are told with both numbers', () => {
    expect(judge(NONE, makeNode({ rows: first - 1 })).reason).toBe(
      `The results of grid g1 have ${first} rows, and its nodes had recorded ${first - 1} when the run ended: they are not those of this run alone.`
    )
  })
})

describe('where the load came from', () => {
  const [here, pod] = [
    makeNode({ place: 'this machine', rows: null }),
    makeNode({ number: 2, throttled: 0.43, rows: null })
  ]
  const findings = makeFindings({ run: makeRun({ nodes: [here, pod] }) })
  const local = makeSettings({ target: { kind: 'local' } })
  const { regions } = parseRegions({ eu: { kubernetes: {} } })

  test('is kept, and a starved node is a warning that does not change the verdict', () => {
    const outcome = conclude(local, findings)
    expect(outcome).toMatchObject({ verdict: 'passed', nodes: [here, pod] })
    expect(outcome.warnings).toEqual([
      expect.stringMatching(/^The node eu \/ 2 was throttled 43 % of the time/)
    ])
  })

  test('the machine of a service elsewhere is not this one', () => {
    expect(conclude(NONE, findings).nodes?.map(({ place }) => place)).toEqual([
      "the service's machine",
      pod.place
    ])
  })

  test('one of many runs does not stand for all of them', () => {
    const source = { kind: 'side-by-side', parameters: '', rounds: 3 } as const
    const settings = makeSettings({ baseline: { ...NONE.baseline, source } })
    expect(conclude(settings, findings).nodes).toBeUndefined()
  })

  test.each([
    ['local without regions', local, makeFindings(), true],
    ['local with regions', { ...local, regions }, makeFindings(), false],
    ['a service', NONE, makeFindings(), false],
    ['no run', local, { failure: { kind: 'error', message: 'no' } } as const, false],
    [
      'a rehearsal',
      local,
      makeFindings({ collection: makeCollection({ report: { ...REPORT, rehearsal: true } }) }),
      false
    ]
  ])('whether it was this machine: %s', (_, settings, found, isAllHere) => {
    expect(conclude(settings, found).isAllHere).toBe(isAllHere)
  })
})
