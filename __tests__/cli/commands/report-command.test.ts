import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  appendFile,
  lstat,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { UsageError } from '../../../src/cli/arguments.js'
import { systemClock, type Clock } from '../../../src/contract/clock.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { csvOf } from '../../support/stalls/closed-loop.js'
import { makeCommandPorts } from '../command-ports.js'

let workspace: string

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'loadgate-report-'))
})
afterEach(async () => {
  clock = IMPATIENT
  await rm(workspace, { recursive: true })
})

/** A hundred samples of 1 to 100 ms; the last `failures` of them failed. No two grids have the same. */
function makeJtl(failures = 0, laterMs = 0): string {
  const rows = Array.from({ length: 100 }, (_, i) => {
    return `${1_700_000_000_000 + laterMs + i * 100},${i + 1},${i % 2 === 0 ? 'home' : 'cart'},${i < 100 - failures}`
  })
  return ['timeStamp,elapsed,label,success', ...rows, ''].join('\n')
}

/** Nobody waits for tools that do not write. */
const IMPATIENT: Clock = { ...systemClock, sleep: () => Promise.resolve() }
let clock = IMPATIENT

async function type(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const ports = makeCommandPorts({ workspace, clock })
  const code = await runCommandLine(['report', ...args], ports)
  return { code, out: ports.screen.out.text, err: ports.screen.err.text }
}

async function readVerdict(folder = 'out'): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(join(workspace, folder, 'verdict.json'), 'utf8')) as Record<
    string,
    unknown
  >
}

describe('a report of local CSVs', () => {
  test('of one JTL: page, verdict and a table of labels', async () => {
    await writeFile(join(workspace, 'load.jtl'), makeJtl())
    const { code, out } = await type('load.jtl', '--output', 'out')
    expect(code).toBe(0)
    expect(out).toMatch(/^times in ms +samples +errors +throughput +mean +median +p95 +p99 +max$/m)
    expect(out).toMatch(/^all samples +100 +0 % +\S+\/s +50.5 +50 +95 +99 +100$/m)
    expect(out).toMatch(/^cart +50 /m)
    expect(out).toContain('PASSED: No thresholds were given, so this is only a report.')
    expect(await readFile(join(workspace, 'out/report.html'), 'utf8')).toContain('Load gate: passed')
    expect(await readVerdict()).toMatchObject({ verdict: 'passed', apdex: 1, 'apdex-target': 500 })
    expect(await readVerdict()).toMatchObject({ details: { overall: {}, labels: [{}, {}], failures: [] } })
  })

  test('without a warm-up', async () => {
    await writeFile(join(workspace, 'load.jtl'), makeJtl())
    const { code } = await type(
      'load.jtl',
      '--output',
      'out',
      '--warm-up',
      '5s',
      '--thresholds',
      'samples == 50',
      '--thresholds',
      'min >= 51ms'
    )
    expect(code).toBe(0)
    expect(await readVerdict()).toMatchObject({ metrics: { overall: { samples: 50 } } })
    const short = await type('load.jtl', '--output', 'short', '--warm-up', '1m')
    expect(short.code).toBe(2)
    expect(await readVerdict('short')).toMatchObject({
      reason:
        'The run is not longer than its warm-up: all 100 samples start within the first 60 s, and the last one ends after 10 s. Make the run longer, or warm-up shorter.'
    })
    await expect(type('load.jtl', '--output', 'odd', '--warm-up', 'soon')).rejects.toThrow(
      /--warm-up: "soon" is invalid; expected a duration/
    )
  })

  test('without a warm-up whose start a stray sample hides', async () => {
    const [header = '', ...rows] = makeJtl().split('\n')
    const stray = `${1_700_000_000_000 - 5 * 86_400_000},20,home,true`
    await writeFile(join(workspace, 'load.jtl'), [header, stray, ...rows].join('\n'))
    const { code, out } = await type(
      ...['load.jtl', '--output', 'out', '--warm-up', '2s', '--thresholds', 'p95 < 8s']
    )
    expect(code).toBe(2)
    expect(out).toContain('INCONCLUSIVE: The warm-up of 2 s is counted from the first sample')
  })

  test('with a label that is in the warm-up only', async () => {
    const [header = '', ...rows] = makeJtl().split('\n')
    const login = '1700000000000,20,login,true'
    await writeFile(join(workspace, 'load.jtl'), [header, login, ...rows].join('\n'))
    const { code } = await type(
      ...['load.jtl', '--output', 'out', '--warm-up', '2s', '--thresholds', 'p95{label="*"} < 8s']
    )
    expect(code).toBe(0)
    expect(await readVerdict()).toMatchObject({
      warnings: ['Samples within the warm-up only, so no threshold was judged on this label: "login".']
    })
  })

  test('says why samples failed, without letting them control the terminal', async () => {
    const header = 'timeStamp,elapsed,label,responseCode,responseMessage,success,failureMessage'
    const rows = Array.from({ length: 9 }, (_, i) => [
      `${1_700_000_000_000 + i},5,pay,503,Service Unavailable,false,`,
      `${1_700_000_000_000 + i},5,home,200,OK,${i > 0},\u001b[31mtext expected`,
      `${1_700_000_000_000 + i},5,other ${i},,refused,false,`
    ])
    await writeFile(join(workspace, 'load.jtl'), [header, ...rows.flat(), ''].join('\n'))
    const { out } = await type('load.jtl', '--output', 'out')
    expect(out).toMatch(/^failed +code +message +label\n9 +503 +Service Unavailable +pay$/m)
    expect(out).toMatch(/^1 +200 +\[31mtext expected +home$/m)
    expect(out).toMatch(/^6 +other errors$/m)
    expect(out).not.toContain('\u001b')
    expect(await readVerdict()).toMatchObject({
      errors: expect.arrayContaining([
        { label: 'pay', code: '503', message: 'Service Unavailable', count: 9 }
      ]) as unknown
    })
    expect(await readFile(join(workspace, 'out/report.html'), 'utf8')).toContain('Service Unavailable</th>')
  })

  test('of a rehearsal: it says so, as its verdict beside it does', async () => {
    await mkdir(join(workspace, 'artifact/results'), { recursive: true })
    await writeFile(join(workspace, 'artifact/results/local-abc.csv'), makeJtl())
    await writeFile(join(workspace, 'artifact/verdict.json'), JSON.stringify({ rehearsal: true }))
    const { out } = await type('artifact', '--output', 'out')
    expect(out).toContain('PASSED (rehearsal, synthetic samples)')
    expect(await readVerdict()).toMatchObject({ rehearsal: true })
  })

  describe('beside the verdict of their run', () => {
    const judge = async (verdict: object | string, threshold = 'p95 < 8s'): Promise<string> => {
      await mkdir(join(workspace, 'artifact/results'), { recursive: true })
      await writeFile(join(workspace, 'artifact/results/local-abc.csv'), makeJtl())
      const text = typeof verdict === 'string' ? verdict : JSON.stringify(verdict)
      await writeFile(join(workspace, 'artifact/verdict.json'), text)
      await type('artifact', '--thresholds', threshold, '--output', 'out')
      const told = await readVerdict()
      return `${String(told.verdict)}: ${String(told.reason)}`
    }
    const undecided = { verdict: 'inconclusive', level: 'fail', reason: 'there is no label x' }
    const byThreshold = {
      verdict: 'inconclusive',
      reason: '1 threshold is inconclusive: there is no label x',
      thresholds: [undecided]
    }
    const lost = ['load lost: node 2 of 4 died']

    test.each<[string, object | string, string]>([
      ['cancelled', { verdict: 'cancelled', reason: 'SIGINT came.' }, 'ended as cancelled: "SIGINT came."'],
      ['timed out', { verdict: 'timed-out', reason: 'After 2 s.' }, 'ended as timed-out: "After 2 s."'],
      ['an error', { verdict: 'error', reason: 'Refused.' }, 'ended as error: "Refused."'],
      [
        'inconclusive for its evidence',
        { ...byThreshold, reason: 'Part of the load was lost: node 2' },
        'was inconclusive: "Part of the load was lost: node 2"'
      ],
      [
        'with a threshold of its plan that its tool saw broken',
        {
          verdict: 'failed',
          reason: '1 threshold is broken: k6: checks rate>0.9 is broken',
          thresholds: [
            { text: 'k6: checks rate>0.9', verdict: 'failed', reason: 'k6: checks rate>0.9 is broken' }
          ]
        },
        'did not keep to a threshold of its plan: "k6: checks rate>0.9 is broken"'
      ],
      [
        'with lost load',
        { ...byThreshold, remote_errors: lost },
        'lost part of its load: "node 2 of 4 died"'
      ],
      ['failed with lost load', { verdict: 'failed', remote_errors: lost }, 'lost part of its load'],
      [
        'failed with a shortfall',
        { verdict: 'failed', remote_errors: ['node 2 died'], warnings: ['2 of 4 threads.'] },
        'did not reach its load: "2 of 4 threads.", and the service said: "node 2 died"'
      ],
      [
        'failed without a CSV',
        { verdict: 'failed', grids: [{ gridId: 'a' }, { gridId: 'b', problem: '404' }] },
        'has no complete CSV of grid b: "404"'
      ],
      ['broken off', '{"verdict": "pass', 'is not JSON']
    ])('that was %s: never green', async (_, verdict, words) => {
      const told = await judge(verdict)
      expect(told).toMatch(/^inconclusive: /)
      expect(told).toContain(words)
      expect(told).toContain(join(workspace, 'artifact/verdict.json'))
    })

    test('that is a pipe: as if there was none', async () => {
      execFileSync('mkfifo', [join(workspace, 'verdict.json')])
      await writeFile(join(workspace, 'load.csv'), makeJtl())
      expect((await type('load.csv', '--output', 'out')).code).toBe(0)
    })

    test('that is much too large: never green', async () => {
      await writeFile(join(workspace, 'verdict.json'), '')
      await truncate(join(workspace, 'verdict.json'), 65 * 1024 * 1024)
      await writeFile(join(workspace, 'load.csv'), makeJtl())
      const { code, out } = await type('load.csv', '--output', 'out')
      expect([code, out]).toEqual([2, expect.stringContaining('or larger than 64 MiB')])
    })

    test('that was cancelled: a broken threshold is still broken', async () => {
      expect(await judge({ verdict: 'cancelled', reason: 'SIGINT came.' }, 'p95 < 1ms')).toMatch(/^failed: /)
    })

    test.each<[string, object]>([
      ['passed', { verdict: 'passed', remote_errors: ['a warning'], grids: [{ gridId: 'a' }] }],
      ['failed', { verdict: 'failed', reason: '1 threshold is broken: p95' }],
      ['inconclusive for a threshold only', byThreshold]
    ])('that was %s: the CSVs are complete, and judged again', async (_, verdict) => {
      expect(await judge(verdict)).toMatch(/^passed: /)
    })
  })

  describe('beside the verdict of a run that says when it took place', () => {
    const run = { startedMs: 1_700_000_000_000, stoppedMs: 1_700_000_011_000, durationSeconds: 10 }
    const lay = async (baseline: object = {}): Promise<void> => {
      await mkdir(join(workspace, 'artifact/results'), { recursive: true })
      await writeFile(join(workspace, 'artifact/results/us-east-1-g1.csv'), makeJtl())
      await writeFile(join(workspace, 'artifact/results/us-east-1-g2.csv'), makeJtl(0, -600_000))
      await writeFile(
        join(workspace, 'artifact/verdict.json'),
        JSON.stringify({ verdict: 'passed', run, baseline })
      )
    }
    const report = () => type('artifact', '--output', 'out', '--thresholds', 'throughput > 0.1/s')

    test('knows a clock that is off, as the gate did', async () => {
      await lay()
      expect((await report()).code).toBe(2)
      expect(await readVerdict()).toMatchObject({
        reason: expect.stringContaining('the clocks of the grids differ'),
        warnings: [expect.stringMatching(/^The times in the results of grid g2 are about 10 min behind /)]
      })
    })

    test.each([
      ['a run that confirmed it', () => mkdir(join(workspace, 'artifact/results/confirm-1')), {}],
      ['runs side by side', () => undefined, { kind: 'side-by-side' }]
    ])('but not of %s', async (_, prepare, baseline) => {
      await lay(baseline)
      await prepare()
      await rename(
        join(workspace, 'artifact/results/us-east-1-g2.csv'),
        join(workspace, 'artifact/results', 'kind' in baseline ? 'g2.csv' : 'confirm-1/g2.csv')
      )
      expect((await report()).code).toBe(0)
    })
  })

  test('beside the verdict of a run with setUp groups: their samples count for their labels only', async () => {
    await mkdir(join(workspace, 'artifact/results'), { recursive: true })
    const [header = '', ...rows] = makeJtl().trimEnd().split('\n')
    const named = rows.map((row, i) => `${row},${i < 10 ? 'node1-log in' : 'users'} 1-1`)
    const csv = [`${header},threadName`, ...named, ''].join('\n')
    await writeFile(join(workspace, 'artifact/results/local-abc.csv'), csv)
    const sources = [{ grid: 'abc', aside_groups: ['log in', 7, ''] }]
    const put = (verdict: object): Promise<void> =>
      writeFile(join(workspace, 'artifact/verdict.json'), JSON.stringify({ ...verdict, sources }))
    // One that loadgate did not write decides nothing.
    await put({ verdict: 'passed' })
    await type('artifact', '--output', 'other')
    expect(await readVerdict('other')).toMatchObject({ metrics: { overall: { samples: 100 } } })
    await put({ verdict: 'passed', schema: 1 })
    await type('artifact', '--output', 'out')
    expect(await readVerdict('out')).toMatchObject({
      metrics: {
        overall: { samples: 90 },
        labels: [
          { label: 'cart', samples: 50 },
          { label: 'home', samples: 50 }
        ]
      },
      sources: [{ rows: 100, aside_groups: ['log in'] }],
      notes: ['10 samples of setUp and tearDown thread groups count for their labels only, not overall.']
    })
  })

  describe('beside the verdict of a run with a warm-up', () => {
    const lay = async (folder: string, verdict: object): Promise<void> => {
      await mkdir(join(workspace, folder, 'results'), { recursive: true })
      await writeFile(join(workspace, folder, 'results/local-abc.csv'), makeJtl(0, folder.length))
      await writeFile(join(workspace, folder, 'verdict.json'), JSON.stringify(verdict))
    }
    const passed = { verdict: 'passed', warm_up: { seconds: 5, samples: 50, failures: 0 } }

    test('leaves it out too, and says so, unless another is given', async () => {
      await lay('artifact', passed)
      const { err, out } = await type('artifact', '--output', 'out', '--json')
      const note = `The warm-up of 5 s is that of the run (${join(workspace, 'artifact/verdict.json')}); to choose another, give --warm-up (0 for none).`
      expect(err).toBe(`${note}\n`)
      expect(JSON.parse(out)).toMatchObject({ metrics: { overall: { samples: 50 } }, notes: [note] })
      const all = await type('artifact', '--output', 'all', '--warm-up', '0')
      expect(all.err).toBe('')
      expect(await readVerdict('all')).toMatchObject({ metrics: { overall: { samples: 100 } }, notes: [] })
    })

    test.each([
      ['none', { verdict: 'passed' }, / has 5 s, and .* has none; give --warm-up/],
      ['another', { ...passed, warm_up: { seconds: 6 } }, / has 5 s, and .* has 6 s; give --warm-up/],
      ['an odd one', { ...passed, warm_up: {} }, / does not say how long it was; give --warm-up/]
    ])('and of one with %s: asks which', async (_, other, words) => {
      await lay('one', passed)
      await lay('other', other)
      await expect(type('one', 'other', '--output', 'out')).rejects.toThrow(words)
      expect((await type('one', 'other', '--output', 'out', '--warm-up', '1s')).code).toBe(0)
    })

    test('that left nothing: a shorter one is judged', async () => {
      await lay('artifact', { verdict: 'passed', warm_up: { seconds: 60 } })
      expect((await type('artifact', '--output', 'long')).code).toBe(2)
      const { verdict, reason, warm_up } = await readVerdict('long')
      expect(reason).toMatch(/^The run is not longer than its warm-up/)
      await lay('artifact', { verdict, reason, warm_up })
      expect((await type('artifact', '--output', 'short', '--warm-up', '5s')).code).toBe(0)
      expect((await type('artifact', '--output', 'same')).code).toBe(2)
      const lost = { remote_errors: ['node 2 died'], warnings: ['2 of 4 threads.'] }
      await lay('artifact', { verdict, reason, warm_up, ...lost })
      expect((await type('artifact', '--output', 'lost', '--warm-up', '5s')).code).toBe(2)
    })
  })

  test('of a folder: the grids and regions that the artifact names', async () => {
    await mkdir(join(workspace, 'artifact/results'), { recursive: true })
    await writeFile(join(workspace, 'artifact/results/us-east-1-abc.csv'), makeJtl())
    await writeFile(join(workspace, 'artifact/results/eu-west-1-d-e.csv'), makeJtl(0, 1))
    await writeFile(join(workspace, 'artifact/notes.txt'), 'no results')
    const { code } = await type(
      'artifact',
      '--output',
      'out',
      '--thresholds',
      'samples{region="us-*"} == 100'
    )
    expect(code).toBe(0)
    const { metrics } = (await readVerdict()) as {
      metrics: Record<string, { grid: string; region: string }[]>
    }
    expect(metrics.grids!.map(({ grid }) => grid)).toEqual(['abc', 'd-e'])
    expect(metrics.regions!.map(({ region }) => region)).toEqual(['eu-west-1', 'us-east-1'])
  })

  test('of a file that grows is inconclusive', async () => {
    await writeFile(join(workspace, 'load.jtl'), makeJtl())
    const { mtimeMs } = await stat(join(workspace, 'load.jtl'))
    const append = () => appendFile(join(workspace, 'load.jtl'), '1700000011000,9000,home,false\n')
    clock = { ...systemClock, now: () => mtimeMs, sleep: append }
    const { code, out } = await type('load.jtl', '--output', 'out')
    expect([code, out]).toEqual([2, expect.stringContaining('load.jtl was written to while it was read')])
  })

  test('of one CSV under two names is inconclusive: it cannot be the results of two grids', async () => {
    for (const name of ['a.csv', 'b.csv']) await writeFile(join(workspace, name), makeJtl())
    const { code } = await type(
      'a.csv',
      'b.csv',
      '--output',
      'out',
      '--thresholds',
      'apdex < 0.1\nsamples == 7'
    )
    expect(code).toBe(2)
    expect(await readVerdict()).toMatchObject({
      verdict: 'inconclusive',
      reason:
        'The results of grid b begin with the same rows as those of grid a, and cannot be the results of both. Check where the CSVs come from.'
    })
  })

  test('of CSVs that were never measured at the same time: a warning', async () => {
    await writeFile(join(workspace, 'a.csv'), makeJtl())
    await writeFile(join(workspace, 'b.csv'), makeJtl(0, 3_600_000))
    expect((await type('a.csv', 'b.csv', '--output', 'out', '--thresholds', 'throughput > 0/s')).code).toBe(0)
    expect(await readVerdict()).toMatchObject({
      warnings: [
        'The first sample of grid b starts 1 h after the first of all, when the others had ended. Check that all are of the same run.'
      ]
    })
  })

  test('of a plan that pauses for more than half of its time: inconclusive, or a warning with --on-stall warn', async () => {
    const [header, ...later] = makeJtl(0, 60_000).trimEnd().split('\n')
    await writeFile(join(workspace, 'a.csv'), `${[makeJtl().trimEnd(), ...later].join('\n')}\n`)
    expect([header, (await type('a.csv', '--output', 'out')).code]).toEqual([expect.any(String), 2])
    expect((await type('a.csv', '--output', 'warned', '--on-stall', 'warn')).code).toBe(0)
  })

  test('keeps files of the same name apart', async () => {
    for (const folder of ['a', 'b']) {
      await mkdir(join(workspace, folder))
      await writeFile(join(workspace, folder, 'load.jtl'), makeJtl())
    }
    await type('a', 'b/load.jtl', '--output', 'out')
    const { metrics } = (await readVerdict()) as {
      metrics: { grids: object[]; overall: { samples: number } }
    }
    expect(metrics.grids).toHaveLength(2)
    expect(metrics.overall.samples).toBe(200)
  })

  test.each<[string, string[], number, string]>([
    ['a threshold that holds', ['--thresholds', 'p95 < 96ms'], 0, 'passed'],
    ['a broken one', ['--thresholds', 'p95 < 95ms'], 1, 'failed'],
    ['one of several', ['--thresholds', 'p95 < 96ms', '--thresholds', 'error_rate < 2%'], 1, 'failed'],
    ['an apdex by a target', ['--thresholds', 'apdex >= 0.7', '--apdex-target', '50'], 0, 'passed'],
    ['an apdex that falls short', ['--thresholds', 'apdex >= 0.75', '--apdex-target', '50'], 1, 'failed'],
    ['a label that is not there', ['--thresholds', 'p95{label="x"} < 1s'], 2, 'inconclusive']
  ])('judges %s', async (_, flags, code, verdict) => {
    await writeFile(join(workspace, 'load.csv'), makeJtl(3))
    expect((await type('load.csv', '--output', 'out', ...flags)).code).toBe(code)
    expect((await readVerdict()).verdict).toBe(verdict)
  })

  test.each<[string, string]>([
    ['no known columns', 'a,b\n1,2\n'],
    ['no rows', 'timeStamp,elapsed,label,success\n'],
    ['half a row', `${makeJtl()}1700000000000,`]
  ])('is never green with %s', async (_, csv) => {
    await writeFile(join(workspace, 'load.csv'), csv)
    expect((await type('load.csv', '--output', 'out')).code).toBe(2)
    expect((await readVerdict()).verdict).toBe('inconclusive')
  })

  test('writes JUnit XML, in a folder that it makes, and over an earlier one', async () => {
    await writeFile(join(workspace, 'load.csv'), makeJtl())
    const judge = async (threshold: string): Promise<string> => {
      const flags = ['--thresholds', threshold, '--output', 'out', '--junit', 'reports/load.xml']
      await type('load.csv', ...flags)
      return readFile(join(workspace, 'reports/load.xml'), 'utf8')
    }
    expect(await judge('p95 < 8s')).toContain('tests="1" failures="0" errors="0"')
    expect(await judge('p95 < 8ms')).toContain('tests="1" failures="1" errors="0"')
    await expect(judge('p95 < 8')).rejects.toThrow(UsageError)
    const after = await readFile(join(workspace, 'reports/load.xml'), 'utf8')
    expect(after).toContain('tests="1" failures="0" errors="1"')
    expect(after).toContain('p95 &#60; 8')
  })

  describe('--junit replaces nothing but its own file', () => {
    const put = (name: string, text: string): Promise<void> => writeFile(join(workspace, name), text)
    const read = (name: string): Promise<string> => readFile(join(workspace, name), 'utf8')
    beforeEach(() => put('load.csv', makeJtl()))

    test.each([
      ['load.csv', 'exists and is not a JUnit file of loadgate'],
      ['notes.txt', 'exists and is not a JUnit file of loadgate'],
      ['other-tool.xml', 'exists and is not a JUnit file of loadgate'],
      ['linked.xml', 'exists and is not a JUnit file of loadgate'],
      ['.', 'is a folder'],
      // As a device is; one that a broken test would replace is no one's to risk.
      ['pipe', 'is not a regular file']
    ])('%s %s', async (file, words) => {
      await put('notes.txt', 'mine')
      await put('other-tool.xml', '<?xml version="1.0"?>\n<testsuites name="jest"/>')
      await symlink('notes.txt', join(workspace, 'linked.xml'))
      execFileSync('mkfifo', [join(workspace, 'pipe')])
      const before = await readdir(workspace)
      const refused = type('load.csv', '--output', 'out', '--junit', file)
      await expect(refused).rejects.toThrow(new RegExp(`^--junit: .* ${words}.*`))
      expect(await readdir(workspace)).toEqual(before)
      expect([await read('load.csv'), await read('notes.txt')]).toEqual([makeJtl(), 'mine'])
    })

    test('an empty file is replaced, behind a link too, and one beside the report is fine', async () => {
      await put('empty.xml', '')
      await symlink('empty.xml', join(workspace, 'link.xml'))
      const judge = ['load.csv', '--thresholds', 'p95 < 8s', '--output', 'out', '--junit']
      for (const name of ['link.xml', 'link.xml', 'out/junit.xml', 'out/junit.xml'])
        expect(await type(...judge, name)).toMatchObject({ code: 0 })
      expect(await read('empty.xml')).toContain('tests="1" failures="0" errors="0"')
      expect((await lstat(join(workspace, 'link.xml'))).isSymbolicLink()).toBe(true)
      expect(await read('out/junit.xml')).toContain('tests="1" failures="0" errors="0"')
    })

    test.each([
      ['--bogus', '--junit', 'junit.xml'],
      ['--junit=junit.xml', '--thresholds'],
      ['--junit', 'junit.xml', '--base-url', 'http://127.0.0.1:1'],
      ['--junit', 'junit.xml', '']
    ])('a mistake in the arguments leaves no green file: %s %s %s', async (...mistake) => {
      await type('load.csv', '--thresholds', 'p95 < 8s', '--output', 'out', '--junit', 'junit.xml')
      expect(await read('junit.xml')).toContain('errors="0"')
      await expect(type('load.csv', ...mistake)).rejects.toThrow(UsageError)
      expect(await read('junit.xml')).toContain('tests="1" failures="0" errors="1"')
    })

    test('a mistake in the command leaves none either', async () => {
      const mistyped = runCommandLine(['rnu', '--junit', 'junit.xml'], makeCommandPorts({ workspace }))
      await expect(mistyped).rejects.toThrow('did you mean run?')
      expect(await read('junit.xml')).toContain('unknown command')
    })

    test('a line that holds for failures only is not green', async () => {
      await put('load.csv', makeJtl(60))
      const lines = ['--thresholds', 'p95 < 8s', '--thresholds', 'error_rate < 1%', '--warm-up', '1s']
      await type('load.csv', ...lines, '--output', 'out', '--junit', 'junit.xml')
      expect(await read('junit.xml')).toMatch(
        /tests="2" failures="1" errors="0"[^]*<skipped>It holds, which means nothing: [^]*Warm-up: 1 s/
      )
    })

    test('a mistake in the arguments replaces nothing else either', async () => {
      await expect(type('load.csv', '--bogus', '--junit', 'load.csv')).rejects.toThrow(UsageError)
      await expect(type('load.csv', '--junit', '--output')).rejects.toThrow(UsageError)
      await expect(type('load.csv', '--bogus', '--', '--junit', 'x.xml')).rejects.toThrow(UsageError)
      expect([await readdir(workspace), await read('load.csv')]).toEqual([['load.csv'], makeJtl()])
    })
  })

  test('prints verdict.json', async () => {
    await writeFile(join(workspace, 'load.csv'), makeJtl())
    const { out } = await type('load.csv', '--output', 'out', '--json')
    expect(JSON.parse(out)).toEqual(await readVerdict())
  })

  describe('of a folder with other files', () => {
    beforeEach(async () => {
      await mkdir(join(workspace, 'artifact/results'), { recursive: true })
      await writeFile(join(workspace, 'artifact/results/us-east-1-abc.csv'), makeJtl())
    })
    const countSamples = async (): Promise<number> => {
      expect((await type('artifact', '--output', 'out')).code).toBe(0)
      return ((await readVerdict()) as { metrics: { overall: { samples: number } } }).metrics.overall.samples
    }

    test('folders, pipes and sockets are skipped, whatever they are called', async () => {
      await mkdir(join(workspace, 'artifact/x.csv'))
      execFileSync('mkfifo', [join(workspace, 'artifact/y.csv')])
      const server = createServer()
      await new Promise<void>((resolve) => server.listen(join(workspace, 'artifact/z.jtl'), resolve))
      expect(await countSamples()).toBe(100)
      server.close()
    })

    test('files in a folder that is named like a result count', async () => {
      await mkdir(join(workspace, 'artifact/x.csv'))
      await writeFile(join(workspace, 'artifact/x.csv/eu-west-1-d.csv'), makeJtl(0, 1))
      expect(await countSamples()).toBe(200)
    })

    test('circular links, and broken links that are not results, do no harm', async () => {
      await symlink('..', join(workspace, 'artifact/results/back'))
      await symlink('self', join(workspace, 'artifact/self'))
      await symlink('nowhere', join(workspace, 'artifact/dangling'))
      expect(await countSamples()).toBe(100)
    })

    test('a file reachable by several paths counts once', async () => {
      await symlink('results', join(workspace, 'artifact/again'))
      await symlink('us-east-1-abc.csv', join(workspace, 'artifact/results/other-name.csv'))
      expect(await countSamples()).toBe(100)
    })

    test.each([
      ['a result that is a link to nowhere', 'nowhere', /x\.csv cannot be read: there is no such file/],
      ['a result that is a link to itself', 'x.csv', /x\.csv cannot be read: it is a circular link/]
    ])('refuses %s: it may be the one that fails', async (_, target, words) => {
      await symlink(target, join(workspace, 'artifact/x.csv'))
      const refusal = await type('artifact', '--output', 'out').catch((thrown: unknown) => thrown)
      expect(refusal).toBeInstanceOf(UsageError)
      expect((refusal as Error).message).toMatch(words)
    })
  })

  test('refuses a pipe that was named, at once', async () => {
    execFileSync('mkfifo', [join(workspace, 'x.csv')])
    const refusal = await type('x.csv', '--output', 'out').catch((thrown: unknown) => thrown)
    expect(refusal).toBeInstanceOf(UsageError)
    expect((refusal as Error).message).toMatch(
      /x\.csv is a pipe, not a file; write its content to a file first/
    )
  })

  test('may be created again, and never replaces the verdict of a run', async () => {
    await writeFile(join(workspace, 'load.csv'), makeJtl())
    await type('load.csv', '--output', 'out', '--thresholds', 'p95 < 1ms')
    expect((await type('load.csv', '--output', 'out')).code).toBe(0)
    const verdict = JSON.stringify({ verdict: 'failed', run: { id: 'abc' } })
    await writeFile(join(workspace, 'out/verdict.json'), verdict)
    const refusal = await type('load.csv', '--output', 'out').catch((thrown: unknown) => thrown)
    expect(refusal).toBeInstanceOf(UsageError)
    expect((refusal as Error).message).toMatch(
      /out\/verdict\.json already exists, .*; give --output another folder/
    )
    expect(await readFile(join(workspace, 'out/verdict.json'), 'utf8')).toBe(verdict)
  })

  test.each<[string, string[], RegExp]>([
    ['a file that is not there', ['missing.csv'], /missing\.csv cannot be read/],
    ['an empty word', [''], /an argument of `loadgate report` is empty; is a variable not set\?/],
    ['an empty word among others', ['.', ''], /an argument of `loadgate report` is empty/],
    ['no word at all', [], /`loadgate report` takes the id of a run, a folder or CSVs, found nothing/],
    ['a folder without results', ['.'], /no \.csv and no \.jtl in/],
    ['a threshold that does not parse', ['.', '--thresholds', 'p95 < 1'], /p95/],
    [
      'a line that nothing here can judge',
      ['.', '--thresholds', 'p95 < 1s', '--thresholds', 'p95 <= baseline + 10%'],
      /line 2, "p95 <= baseline \+ 10%": there is no baseline for CSVs/
    ],
    [
      'a target that is none',
      ['.', '--apdex-target', '0.5s'],
      /"0\.5s" is invalid; expected a whole number of ms/
    ]
  ])('refuses %s', async (_, args, words) => {
    const refusal = await type(...args).catch((thrown: unknown) => thrown)
    expect(refusal).toBeInstanceOf(UsageError)
    expect((refusal as Error).message).toMatch(words)
  })
})

describe('files of other tools', () => {
  const fixture = (name: string): Promise<Buffer> => readFile(`__tests__/fixtures/results/${name}`)

  test.each([
    ['k6.csv', 36],
    ['k6.json', 36],
    ['vegeta.csv', 5],
    ['hey.csv', 4]
  ])('%s is read as it is, and as gzip', async (name, samples) => {
    const bytes = await fixture(name)
    await writeFile(join(workspace, name), bytes)
    await writeFile(join(workspace, `${name}.gz`), gzipSync(bytes))
    for (const file of [name, `${name}.gz`]) {
      const { code } = await type(file, '--output', 'out', '--thresholds', `samples == ${samples}`)
      expect([file, code]).toEqual([file, 0])
      expect(await readVerdict()).toMatchObject({ metrics: { overall: { samples } }, run: null })
      expect((await readdir(join(workspace, 'out'))).sort()).toEqual(['report.html', 'verdict.json'])
    }
  })

  test('k6 and its losses, which make it inconclusive', async () => {
    const [header = '', first = '', ...rows] = (await fixture('k6.csv')).toString().split('\n')
    const dropped = first.replace(/^[^,]*,([^,]*),[^,]*/, 'dropped_iterations,$1,1000.000000')
    await writeFile(join(workspace, 'k6.csv'), [header, dropped, first, ...rows].join('\n'))
    const { code, out } = await type('k6.csv', '--output', 'out')
    expect([code, out]).toEqual([
      2,
      expect.stringContaining('INCONCLUSIVE: Part of the load was lost: k6: 1000 of')
    ])
  })

  test('a file without samples says what to write instead', async () => {
    await writeFile(join(workspace, 'stats.csv'), 'Type,Name,Request Count\nGET,/,5\n')
    const { code, out } = await type('stats.csv', '--output', 'out')
    expect([code, out]).toEqual([2, expect.stringContaining('events.request')])
  })
})

describe('CSVs of a server that stood still', () => {
  const args = ['load.jtl', '--output', 'out', '--thresholds', 'p95{label="home"} < 1s']
  beforeEach(() => writeFile(join(workspace, 'load.jtl'), csvOf({ stalls: [[8000, 5000]] })))

  test('break a line that the requests that were sent meet', async () => {
    const { code, out } = await type(...args)
    expect(code).toBe(1)
    expect(out).toContain(
      'p95 of home is 150 ms for the requests that were sent, but at least 3.7 s over time'
    )
    expect(out).toMatch(/^At 0:08 nothing was answered for 5 s while 12 users waited\.$/m)
    expect(await readVerdict()).toMatchObject({ verdict: 'failed', stalls: { count: 1 } })
  })

  test('are a warning with --on-stall warn, and nothing with ignore', async () => {
    const warned = await type(...args, '--on-stall', 'warn')
    expect([warned.code, warned.out]).toEqual([
      0,
      expect.stringMatching(/^Warning: p95 of home is 150 ms for /m)
    ])
    await rm(join(workspace, 'out'), { recursive: true })
    const ignored = await type(...args, '--on-stall', 'ignore')
    expect([ignored.code, ignored.out]).toEqual([0, expect.not.stringContaining('Warning')])
  })

  test('--on-stall says what it takes', async () => {
    await expect(type(...args, '--on-stall', 'pass')).rejects.toThrow(
      '--on-stall: "pass" is invalid; expected one of fail, warn, ignore'
    )
  })
})
