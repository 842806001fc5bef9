import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Outcome } from '../../../src/analysis/outcome.js'
import type { BaselineDocument } from '../../../src/contract/baseline.js'
import { systemClock } from '../../../src/contract/clock.js'
import { addRun } from '../../../src/analysis/baseline/document/baseline-document.js'
import { CancelledError } from '../../../src/gate/errors.js'
import { nameSources } from '../../../src/gate/results/result-sources.js'
import { runGate } from '../../../src/gate/run-gate.js'
import type { Ports } from '../../../src/gate/ports.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import { ManualClock } from '../../support/manual-clock.js'
import { makePorts, makeSettings, type TestPorts } from '../../support/gate/gate-ports.js'

const K6_CSV = readFileSync('__tests__/fixtures/results/k6.csv')
const START_MS = 1_700_000_000_000

let folder: string
let made: TestPorts[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-results-'))
  made = []
})
afterEach(() => {
  for (const each of [folder, ...made.map(({ scratchDir }) => scratchDir)]) rmSync(each, { recursive: true })
})

/** A row every 100 ms, of 1 to 100 ms, by two threads. */
function makeJtl({ rows = 100, laterMs = 0, users = 2 } = {}): string {
  const lines = Array.from({ length: rows }, (_, i) => {
    return `${START_MS + laterMs + i * 100},${(i % 100) + 1},home,true,users 1-${(i % users) + 1},${users}`
  })
  return ['timeStamp,elapsed,label,success,threadName,allThreads', ...lines, ''].join('\n')
}

/** Long enough ago that nobody waits for more. */
function put(name: string, content: string | Uint8Array, atMs = Date.now() - 60_000): void {
  writeFileSync(join(folder, name), content)
  utimesSync(join(folder, name), atMs / 1000, atMs / 1000)
}

interface Judging {
  readonly settings?: Partial<Settings> & { thresholdLines?: string }
  readonly ports?: Partial<Ports>
}

async function judge(names: readonly string[], { settings = {}, ports: changes = {} }: Judging = {}) {
  const files = nameSources(names.map((name) => ({ path: join(folder, name), shown: name })))
  const ports = await makePorts({ clock: new ManualClock(Date.now()), ...changes })
  made.push(ports)
  const outcome: Outcome = await runGate(
    ports,
    makeSettings({ origin: { kind: 'results', files }, target: { kind: 'none' }, ...settings })
  )
  return { outcome, ports }
}

const LINE = { thresholdLines: 'p95 < 1s' }

describe('files of another step are judged as a run', () => {
  test('with outputs, summary and an artifact that has them as CSVs', async () => {
    put('k6.csv', K6_CSV)
    const { outcome, ports } = await judge(['k6.csv'], {
      settings: { thresholdLines: 'p95 < 30s\nsamples == 36' }
    })
    expect(outcome).toMatchObject({ verdict: 'passed', reason: 'All 2 thresholds hold.' })
    expect(outcome.run).toMatchObject({ tool: 'k6', status: 'finished', name: 'a run' })
    const [upload] = ports.uploads
    expect(upload!.name).toMatch(/^loadgate-results-[0-9a-f]{12}-[0-9a-f]{6}$/)
    const csv = join(ports.scratchDir, 'results/local-k6.csv')
    expect(upload!.files).toEqual([
      csv,
      join(ports.scratchDir, 'verdict.json'),
      join(ports.scratchDir, 'report.html')
    ])
    expect(readFileSync(csv, 'utf8')).toMatch(/^timeStamp,elapsed,label,.*\n(.*\n)+$/)
    expect(ports.outputs.get('verdict')).toBe('passed')
    expect(ports.outputs.get('results-dir')).toBe(join(ports.scratchDir, 'results'))
    expect([...ports.outputs.keys()]).not.toContain('run-id')
    expect(JSON.parse(ports.outputs.get('metrics')!)).toMatchObject({ overall: { samples: 36 } })
    expect(ports.summaries.join()).toContain('Load gate: passed')
    expect(ports.states).toEqual([])
  })

  test('several are several grids, and JMeter CSVs stay as they are', async () => {
    put('eu.csv', makeJtl())
    put('us.jtl', makeJtl({ laterMs: 50 }))
    const { outcome, ports } = await judge(['eu.csv', 'us.jtl'], {
      settings: { thresholdLines: 'samples{grid="eu"} == 100\nsamples == 200' }
    })
    expect(outcome.verdict).toBe('passed')
    expect(readFileSync(join(ports.scratchDir, 'results/local-eu.csv'), 'utf8')).toBe(makeJtl())
    expect(outcome.grids.map(({ gridId, region }) => [gridId, region])).toEqual([
      ['eu', 'local'],
      ['us', 'local']
    ])
  })

  test('gzip is read as it is', async () => {
    put('plain.csv', makeJtl())
    put('packed.csv.gz', gzipSync(makeJtl()))
    put('k6.json.gz', gzipSync(readFileSync('__tests__/fixtures/results/k6.json')))
    const [plain, packed, k6] = await Promise.all(
      ['plain.csv', 'packed.csv.gz', 'k6.json.gz'].map(async (name) => judge([name]))
    )
    expect(packed!.outcome.measurements!.figures({})).toMatchObject({
      samples: plain!.outcome.measurements!.figures({})!.samples
    })
    expect(packed!.outcome.run!.id).toBe(plain!.outcome.run!.id)
    expect(k6!.outcome.measurements!.figures({})!.samples).toBe(36)
    expect(readdirSync(join(packed!.ports.scratchDir, 'results'))).toEqual(['local-packed.csv'])
  })

  test('apdex is computed from the samples with the target', async () => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], {
      settings: { apdexTargetMs: 50, thresholdLines: 'apdex >= 0.7' }
    })
    expect(outcome).toMatchObject({ verdict: 'passed', apdex: { score: 0.75, targetMs: 50 } })
    const stricter = await judge(['a.csv'], {
      settings: { apdexTargetMs: 10, thresholdLines: 'apdex >= 0.7' }
    })
    expect(stricter.outcome.verdict).toBe('failed')
  })

  test('with notes on what k6 wrote', async () => {
    put('k6.csv', K6_CSV.toString().replaceAll(/vu=\d+/g, ''))
    const { outcome } = await judge(['k6.csv'])
    expect(outcome.notes.join()).toContain('add vu to --system-tags')
  })
})

describe('evidence', () => {
  test.each<[string, string | Uint8Array, RegExp]>([
    ['an empty file', '', /^Not every result file can be judged: a\.csv is empty\.$/],
    ['a header alone', 'timeStamp,elapsed,label,success\n', /contain no samples/],
    ["Locust's statistics", 'Type,Name,Request Count\nGET,/,5\n', /a\.csv is one of Locust's statistics/],
    ['a JMeter CSV cut in a row', makeJtl().slice(0, -20), /^The last row of a\.csv has no line break/],
    ['a JMeter CSV cut in its last column', makeJtl().slice(0, -1), /the file may have been cut there/],
    [
      'k6 JSON cut at the end of a row',
      readFileSync('__tests__/fixtures/results/k6.json').subarray(0, -1),
      /the file may have been cut there/
    ],
    [
      'a k6 CSV cut in a row',
      K6_CSV.subarray(0, -20),
      /a\.csv cannot be read completely: row \d+: the file ends/
    ],
    ['a gzip that was cut', gzipSync(makeJtl({ rows: 20_000 })).subarray(0, 9_000), /cannot be unpacked/],
    ['a gzip of nothing', gzipSync(''), /a\.csv is empty/],
    [
      'a gzip with more behind its padding',
      Buffer.concat([gzipSync(makeJtl()), Buffer.alloc(16), gzipSync(makeJtl({ laterMs: 10_000 }))]),
      /cannot be unpacked to its end: \d+ bytes that are not gzip follow/
    ],
    ['seconds', makeJtl().replaceAll(/^(\d{10})\d{3}/gm, '$1'), /they are probably in seconds/],
    [
      'times in the future',
      makeJtl({ laterMs: Date.now() + 2 * 3_600_000 - START_MS }),
      /^The times in a\.csv go up to .*: the clock of a machine is wrong/
    ],
    [
      'two formats in one file',
      Buffer.concat([K6_CSV, Buffer.from(makeJtl())]),
      /a\.csv cannot be read completely: row \d+: it has \d+ columns/
    ],
    [
      'a k6 that has negative times',
      K6_CSV.toString().replace(/^(http_req_duration,\d+,)/m, '$1-'),
      /cannot be read completely/
    ],
    [
      'a k6 that has endless ones',
      K6_CSV.toString().replace(/^(http_req_duration,\d+,)/m, '$199999999999999999999'),
      /cannot be read completely/
    ],
    [
      'a k6 of another age',
      K6_CSV.toString().replace(/^(http_req_duration,)\d+/m, '$19999999999999999999'),
      /./
    ],
    ['JMeter rows and then others', `${makeJtl()}${K6_CSV.toString()}`, /cannot be read completely/]
  ])('%s is inconclusive', async (_, content, words) => {
    put('a.csv', content)
    const { outcome } = await judge(['a.csv'], { settings: LINE })
    expect(outcome.reason).toMatch(words)
    expect(outcome.verdict).toBe('inconclusive')
  })

  test('one refused file among others leaves nothing green', async () => {
    put('a.csv', makeJtl())
    put('b.csv', '')
    const { outcome } = await judge(['a.csv', 'b.csv'], { settings: LINE })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: 'Not every result file can be judged: b.csv is empty.'
    })
  })

  test('the same file twice is inconclusive', async () => {
    put('a.csv', makeJtl())
    put('b.csv', makeJtl())
    const { outcome } = await judge(['a.csv', 'b.csv'], { settings: LINE })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('begin with the same rows as those of grid a')
  })

  test('two formats of one tool are the same run twice', async () => {
    put('k6.csv', K6_CSV)
    put('k6.json', readFileSync('__tests__/fixtures/results/k6.json'))
    const { outcome } = await judge(['k6.csv', 'k6.json'], { settings: { thresholdLines: 'samples == 72' } })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringContaining(
        'The files k6.csv and k6.json are both of k6, in two formats'
      ) as unknown
    })
  })

  test('what loadgate wrote may end without a line break, and is of any time', async () => {
    put('verdict.json', JSON.stringify({ schema: 1, verdict: 'passed' }))
    put('a.csv', makeJtl({ laterMs: 1_000_000 - START_MS }).trimEnd())
    const { outcome } = await judge(['a.csv'], { settings: LINE })
    expect([outcome.reason, outcome.verdict]).toEqual(['The threshold holds.', 'passed'])
  })

  test('another file called verdict.json vouches for nothing', async () => {
    put('verdict.json', '{}')
    put('a.csv', makeJtl().trimEnd())
    expect((await judge(['a.csv'], { settings: LINE })).outcome.verdict).toBe('inconclusive')
  })

  test('no verdict.json of the repository takes a thread group out of the figures', async () => {
    put('jmeter.csv', makeJtl().replaceAll('true', 'false'))
    put(
      'verdict.json',
      JSON.stringify({ schema: 1, verdict: 'passed', sources: [{ aside_groups: ['users'] }] })
    )
    const { outcome } = await judge(['jmeter.csv'], { settings: { thresholdLines: 'error_rate < 1%' } })
    expect(outcome).toMatchObject({ verdict: 'failed' })
    expect(outcome.measurements!.figures({})).toMatchObject({ samples: 100, failures: 100 })
  })

  test('a signal during the counting cancels', async () => {
    put('a.csv', makeJtl())
    const cancellation = new AbortController()
    const { outcome, ports } = await judge(['a.csv'], {
      settings: LINE,
      ports: {
        cancelled: cancellation.signal,
        clock: {
          ...systemClock,
          // It is asked just before the rows are counted.
          now: () => {
            setImmediate(() => cancellation.abort(new CancelledError('SIGTERM')))
            return START_MS + 3_600_000
          }
        }
      }
    })
    expect(outcome).toMatchObject({ verdict: 'cancelled', reason: 'cancelled by SIGTERM' })
    expect(ports.outputs.get('verdict')).toBe('cancelled')
  })

  test('a file is left alone for 3 s before it counts as complete', async () => {
    put('a.csv', makeJtl(), START_MS)
    const slept: number[] = []
    const judgeAt = (nowMs: number) => {
      const clock = new ManualClock(nowMs)
      const sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
        ms > 3000 ? clock.sleep(ms, signal) : Promise.resolve(void slept.push(ms))
      return judge(['a.csv'], { ports: { clock: Object.assign(clock, { sleep }) } })
    }
    for (const ageMs of [2000, 3000, -5000]) await judgeAt(START_MS + ageMs)
    expect(slept).toEqual([1000])
  })

  test('a file that grows while it is read is inconclusive', async () => {
    const nowMs = Date.now()
    put('a.csv', makeJtl(), nowMs)
    const path = join(folder, 'a.csv')
    const { outcome } = await judge(['a.csv'], {
      settings: LINE,
      ports: {
        readWorkflowBegin: () => Promise.resolve({ ms: 0 }),
        clock: {
          ...systemClock,
          now: () => nowMs,
          // As a tool does that has just written, and writes again before anybody has looked twice.
          sleep: () => {
            appendFileSync(path, `${START_MS + 10_000},5,home,true,users 1-1,2\n`)
            return Promise.resolve()
          }
        }
      }
    })
    expect(outcome).toMatchObject({
      verdict: 'inconclusive',
      reason:
        'The file a.csv was written to while it was read. Judge it when the tool that writes it has ended.'
    })
  })

  test('a pipe is not waited for', async () => {
    execFileSync('mkfifo', [join(folder, 'a.csv')])
    const { outcome } = await judge(['a.csv'], { settings: LINE })
    expect(outcome.reason).toBe('Not every result file can be judged: a.csv is not a regular file.')
  })

  test.each([
    [10, 'passed', /./],
    [11, 'passed', /./],
    [60, 'inconclusive', /span 10 s of the 60 s requested/]
  ])('of %d s that were asked for, 10 s: %s', async (durationSeconds, verdict, words) => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], { settings: { ...LINE, durationSeconds } })
    expect(outcome.verdict).toBe(verdict)
    expect(outcome.reason).toMatch(words)
  })

  test('fewer threads than asked for are a warning', async () => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], { settings: { ...LINE, threads: 50 } })
    expect(outcome.warnings.join()).toContain('The load reached 2 threads of the 50 threads requested')
  })

  test('threads that no file shows are a note', async () => {
    put('a.csv', makeJtl().replaceAll(/,[^,\n]*$/gm, ''))
    const { outcome } = await judge(['a.csv'], { settings: { ...LINE, threads: 50 } })
    expect(outcome).toMatchObject({
      verdict: 'passed',
      notes: [expect.stringMatching(/^Could not check that the load had 50 threads: /)]
    })
    expect((await judge(['a.csv'], { settings: LINE })).outcome.notes).toEqual([])
  })

  test('a duration that rows without times cannot show is inconclusive', async () => {
    put('a.csv', makeJtl().replaceAll(/^[^,\n]*,/gm, ''))
    const { outcome } = await judge(['a.csv'], { settings: { ...LINE, durationSeconds: 10 } })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(/^The rows of a\.csv have no times, .* the 10 s requested\. Save /)
  })

  test('a warm-up is left out', async () => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], {
      settings: { warmUpMs: 5000, thresholdLines: 'samples == 50\napdex >= 0.9' }
    })
    expect(outcome.verdict).toBe('passed')
  })

  test('dropped iterations of k6 are lost load', async () => {
    const [header = '', ...rows] = K6_CSV.toString().trimEnd().split('\n')
    const [first = ''] = rows
    const dropped = first.replace(/^[^,]*,([^,]*),[^,]*/, 'dropped_iterations,$1,1000.000000')
    put('k6.csv', [header, ...rows, dropped, ''].join('\n'))
    const { outcome } = await judge(['k6.csv'], { settings: { thresholdLines: 'p95 < 30s' } })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(/^Part of the load was lost: k6: 1000 of \d+ iterations/)
  })
})

describe('the exit code of the tool', () => {
  const files = { 'k6.csv': K6_CSV, 'a.csv': makeJtl() }
  test.each<[keyof typeof files, number | undefined, string, RegExp]>([
    ['k6.csv', undefined, 'passed', /./],
    ['k6.csv', 0, 'passed', /./],
    ['k6.csv', 99, 'failed', /1 threshold is broken: .*k6: thresholds of the script/],
    ['k6.csv', 107, 'inconclusive', /exit code 107 \(tool-exit-code\), which means that the script threw/],
    ['k6.csv', 3, 'inconclusive', /ended with exit code 3 \(tool-exit-code\)\. Its log says why\./],
    ['a.csv', 99, 'inconclusive', /exit code 99/]
  ])('%s with %s: %s', async (name, toolExitCode, verdict, words) => {
    put(name, files[name])
    const { outcome } = await judge([name], { settings: { thresholdLines: 'p95 < 30s', toolExitCode } })
    expect(outcome.reason).toMatch(words)
    expect(outcome.verdict).toBe(verdict)
  })
})

describe('when the workflow run began', () => {
  const began = (ms: number): Judging => ({
    settings: LINE,
    ports: { readWorkflowBegin: () => Promise.resolve({ ms }) }
  })

  test('rows after it are its own', async () => {
    put('a.csv', makeJtl())
    expect((await judge(['a.csv'], began(START_MS - 1000))).outcome).toMatchObject({
      verdict: 'passed',
      notes: []
    })
  })

  test('a file from before it is of another run', async () => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], began(START_MS + 3_600_000))
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(
      /^The results of grid a are not from this run: .* and the workflow run began at 2023-11-14T23:13:20\.000Z/
    )
  })

  test('single rows from before it are left out, and told', async () => {
    const [header = '', ...rows] = makeJtl().split('\n')
    put('a.csv', [header, `${START_MS - 3_600_000},5,home,true,users 1-1,2`, ...rows].join('\n'))
    const { outcome } = await judge(['a.csv'], began(START_MS))
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('1 of the 101 rows of grid a is not from this run and left out')
  })

  test('where it is not known, a note says that nothing was checked', async () => {
    put('a.csv', makeJtl())
    const { outcome } = await judge(['a.csv'], {
      settings: LINE,
      ports: { readWorkflowBegin: () => Promise.resolve({ reason: 'actions: read is missing' }) }
    })
    expect(outcome).toMatchObject({
      verdict: 'passed',
      notes: [
        'Could not check that the rows were measured during this workflow run: actions: read is missing.'
      ]
    })
  })

  test('a verdict.json that says when its run was does not make it one of now', async () => {
    put('verdict.json', JSON.stringify({ run: { startedMs: START_MS, stoppedMs: START_MS + 10_500 } }))
    put('a.csv', makeJtl())
    expect((await judge(['a.csv'], began(START_MS - 1000))).outcome.verdict).toBe('passed')
    const { outcome } = await judge(['a.csv'], began(START_MS + 3_600_000))
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toContain('and the workflow run began at 2023-11-14T23:13:20.000Z')
  })

  test.each([
    ['rows without times', makeJtl().replaceAll(/^[^,\n]*,/gm, ''), 'they have no times; save the column'],
    [
      'rows of hey',
      readFileSync('__tests__/fixtures/results/hey.csv'),
      'hey writes no time of day, so only the time of the file was compared.'
    ]
  ])('%s: a note says that they were not compared with it', async (_, content, words) => {
    put('a.csv', content)
    const { outcome } = await judge(['a.csv'], began(START_MS))
    expect(outcome.notes[0]).toContain(
      `Could not check that the rows of a.csv were measured during this workflow run: ${words}`
    )
  })

  test('a file of hey that was written before it is old', async () => {
    put('a.csv', readFileSync('__tests__/fixtures/results/hey.csv'))
    expect((await judge(['a.csv'], began(Date.now() + 3_600_000))).outcome.reason).toContain(
      'The results of grid a are not from this run'
    )
  })

  const zoneless = (): string => {
    const rows = Array.from({ length: 20 }, (_, i) => `2020/01/01 10:00:${String(i + 10)}.100,5,home,true`)
    return ['timeStamp,elapsed,label,success', ...rows, ''].join('\n')
  }

  test('a file without a zone does not hide that another one is old', async () => {
    put('z.csv', zoneless())
    put('old.csv', makeJtl())
    const { outcome } = await judge(['z.csv', 'old.csv'], began(START_MS + 3_600_000))
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.reason).toMatch(/^The results of grid old are not from this run: /)
    expect(outcome.notes.join()).toContain('Could not check that the rows of z.csv were measured')
  })

  test('times without a zone are not compared with it', async () => {
    put('a.csv', zoneless())
    const { outcome } = await judge(['a.csv'], began(START_MS))
    expect(outcome.notes.join()).toContain('do not say in which zone they are')
    expect(outcome.verdict).toBe('passed')
  })
})

describe('a baseline of files', () => {
  const BRANCH = 'main'
  const recorded = (document: BaselineDocument | undefined): Partial<Ports> => ({
    openBaselines: () =>
      Promise.resolve({
        locate: () => Promise.resolve({ branch: BRANCH, recordedUnder: BRANCH }),
        find: () =>
          Promise.resolve(
            document === undefined
              ? { reason: 'there is none' }
              : { document, baseCommit: undefined, ancestors: document.runs.map(({ commit }) => commit) }
          ),
        readNewest: () => Promise.resolve(document === undefined ? [] : [document]),
        artifactName: () => 'baseline'
      })
  })
  const settings: NonNullable<Judging['settings']> = {
    thresholdLines: 'p95 <= baseline + 20%',
    baseline: { ...makeSettings().baseline, source: { kind: 'auto' } }
  }
  const slower = (factor: number, laterMs: number): string =>
    makeJtl({ laterMs, rows: 1000 }).replace(
      /,(\d+),home/g,
      (_, ms) => `,${Math.round(Number(ms) * factor)},home`
    )

  async function record(content: string, document: BaselineDocument | undefined) {
    put('a.csv', content)
    const { outcome, ports } = await judge(['a.csv'], { settings, ports: recorded(document) })
    const upload = ports.uploads.find(({ name }) => name === 'baseline')
    const next = JSON.parse(gunzipSync(readFileSync(upload!.files[0]!)).toString()) as BaselineDocument
    return { outcome, next }
  }

  test('is recorded, and a slower file is found', async () => {
    let document: BaselineDocument | undefined
    for (let run = 0; run < 4; run++)
      ({ next: document } = await record(slower(1, run * 1_000_000), document))
    expect(document!.runs).toHaveLength(4)
    put('a.csv', slower(2, 9_000_000))
    const slow = await judge(['a.csv'], { settings, ports: recorded(document) })
    expect(slow.outcome).toMatchObject({ verdict: 'failed', baseline: { state: 'compared' } })
    put('a.csv', slower(1, 10_000_000))
    const same = await judge(['a.csv'], { settings, ports: recorded(document) })
    expect(same.outcome).toMatchObject({ verdict: 'passed', baseline: { state: 'compared' } })
  })

  test('has a file that is judged again once', async () => {
    const { next: first } = await record(slower(1, 0), undefined)
    const { next: again } = await record(slower(1, 0), first)
    expect(again.runs.map(({ runId }) => runId)).toEqual(first.runs.map(({ runId }) => runId))
    expect(addRun(first, first.runs[0]!, BRANCH).runs).toHaveLength(1)
  })

  test('of another tool is not comparable', async () => {
    const { next: document } = await record(slower(1, 0), undefined)
    put('k6.csv', K6_CSV)
    const { outcome } = await judge(['k6.csv'], { settings, ports: recorded(document) })
    expect(outcome.baseline).toMatchObject({ state: 'not comparable' })
  })
})
