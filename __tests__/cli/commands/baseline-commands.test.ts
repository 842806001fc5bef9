import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { BaselineDocument } from '../../../src/contract/baseline.js'
import { decodeBaseline, encodeBaseline } from '../../../src/analysis/baseline/document/baseline-document.js'
import { UsageError } from '../../../src/cli/arguments.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { makeDocument, makeRun, makeRuns, makeScope } from '../../support/baseline/make-recorded.js'
import { sampleCsv } from '../../support/fake-service.js'
import { makeCommandPorts } from '../command-ports.js'

const COMMIT = 'a514cef'.padEnd(40, '1')
const VERDICT = {
  schema: 1,
  verdict: 'passed',
  reason: 'All held.',
  rehearsal: false,
  'run-id': 'run00000001',
  run: { startedMs: 1_700_000_000_000 },
  apdex: 0.8,
  'apdex-target': 500,
  metrics: { overall: { samples: 10 } },
  thresholds: [{ text: 'p97{label="checkout"} < 2s' }],
  grids: [{ gridId: 'g1', region: 'us east' }],
  baseline: { fingerprint: { plan: 'aa', threads: '5' } }
}

let workspace: string

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'loadgate-baseline-'))
})
afterEach(() => rm(workspace, { recursive: true }))

/** A folder as `loadgate run --output` leaves it. */
async function makeResult(changes: object = {}, csv = sampleCsv(), name = 'us_east-g1.csv'): Promise<void> {
  await mkdir(join(workspace, 'out/results'), { recursive: true })
  await writeFile(join(workspace, 'out/results', name), csv)
  await writeFile(join(workspace, 'out/verdict.json'), JSON.stringify({ ...VERDICT, ...changes }))
}

async function type(...args: string[]): Promise<string> {
  const ports = makeCommandPorts({ workspace })
  expect(await runCommandLine(args, ports)).toBe(0)
  return ports.screen.out.text
}

function firstMs(csv: string): number {
  return Number(/^\d{13}/m.exec(csv)?.[0])
}

const record = (...args: string[]): Promise<string> =>
  type('baseline', 'record', 'out', '--baseline', 'main.json.gz', '--commit', COMMIT, ...args)

async function refusal(doing: Promise<unknown>): Promise<string> {
  const thrown: unknown = await doing.catch((error: unknown) => error)
  expect(thrown).toBeInstanceOf(UsageError)
  return (thrown as Error).message
}

async function readDocument(): Promise<BaselineDocument> {
  return decodeBaseline(await readFile(join(workspace, 'main.json.gz')))
}

function writeDocument(document: BaselineDocument): Promise<void> {
  return writeFile(join(workspace, 'main.json.gz'), encodeBaseline(document))
}

describe('recording a run', () => {
  test('creates the document', async () => {
    await makeResult()
    expect(await record()).toBe(
      `Recorded run run00000001 of a514cef on main. ${join(workspace, 'main.json.gz')} has 1 run, 1 usable.\n`
    )
    expect(await readDocument()).toMatchObject({
      branch: 'main',
      runs: [
        {
          commit: COMMIT,
          runId: 'run00000001',
          atMs: 1_700_000_000_000,
          unusable: null,
          fingerprint: VERDICT.baseline.fingerprint,
          apdex: { score: 0.8, targetMs: 500 },
          scopes: [
            { samples: 10, failures: 0, percentilesMs: { '50': 500, '95': 1000 } },
            { region: 'us east', samples: 10 },
            { label: 'checkout', named: true, histogram: { counts: Array(10).fill(1) as number[] } }
          ]
        }
      ]
    })
  })

  test('leaves out the warm-up that its verdict left out', async () => {
    // Ten samples, one a second.
    const changes = { warm_up: { seconds: 4, samples: 4, failures: 0 }, metrics: { overall: { samples: 6 } } }
    await makeResult(changes)
    await record()
    const [run] = (await readDocument()).runs
    expect(run?.scopes[0]).toMatchObject({ samples: 6, meanMs: 750 })
    await makeResult({ ...changes, warm_up: { seconds: '4' } })
    expect(await refusal(record())).toContain('does not say how long `warm_up` was')
    await makeResult({ ...changes, warm_up: { seconds: 5 } })
    expect(await refusal(record())).toContain('have 5 samples, and verdict.json says 6')
  })

  test('counts samples of setUp groups as its verdict did', async () => {
    const [header = '', first = '', ...rows] = sampleCsv().split('\n')
    const csv = [header, first.replace('t 1-1', 'log in 1-1'), ...rows].join('\n')
    await makeResult({ sources: [{ aside_groups: ['log in'] }], metrics: { overall: { samples: 9 } } }, csv)
    await record()
    expect((await readDocument()).runs[0]?.scopes[0]).toMatchObject({ samples: 9 })
    await makeResult({ metrics: { overall: { samples: 9 } } }, csv)
    expect(await refusal(record())).toContain('have 10 samples, and verdict.json says 9')
  })

  test('knows a clock that is off, as the gate did: then there is no throughput over all grids', async () => {
    const startedMs = firstMs(sampleCsv())
    const run = { startedMs, stoppedMs: startedMs + 11_000, durationSeconds: 10 }
    const grids = [...VERDICT.grids, { gridId: 'g2', region: 'us east' }]
    const late = sampleCsv().replaceAll(/^\d{13}/gm, (ms) => String(Number(ms) + 600_000))
    await makeResult({ run, grids, metrics: { overall: { samples: 20 } } }, late, 'us_east-g2.csv')
    await writeFile(join(workspace, 'out/results/us_east-g1.csv'), sampleCsv())
    await record()
    expect((await readDocument()).runs[0]?.scopes[0]).toMatchObject({ samples: 20, throughput: null })
  })

  test('neither a run from the future in the document nor its own stays the newest', async () => {
    const atMs = Date.UTC(2099, 0, 1)
    await writeDocument(makeDocument([makeRun({ runId: 'future', atMs })]))
    await makeResult({ run: { startedMs: atMs } })
    const ports = makeCommandPorts({ workspace })
    const args = ['baseline', 'record', 'out', '--baseline', 'main.json.gz', '--commit', COMMIT]
    expect(await runCommandLine(args, ports)).toBe(0)
    expect(ports.screen.err.text).toMatch(
      /^warning: .+a recorded run is from the future .+ left out: future of/
    )
    const { runs } = await readDocument()
    expect(runs.map(({ runId }) => runId)).toEqual(['run00000001'])
    expect(runs[0]!.atMs).toBeLessThanOrEqual(Date.now())
  })

  test('adds to the document, once, and leaves nothing else', async () => {
    await writeDocument(makeDocument(makeRuns(3), 'next'))
    await makeResult()
    await record()
    expect(await record()).toContain(' on next. ')
    expect((await readDocument()).runs.map(({ runId }) => runId)).toEqual([
      'run0',
      'run00000001',
      'run1',
      'run2'
    ])
    expect((await readdir(workspace)).sort()).toEqual(['main.json.gz', 'out'])
  })

  test('takes commit and branch as they are given, or the commit that is checked out', async () => {
    await makeResult({ verdict: 'failed' })
    const git = (...args: string[]) => execFileSync('git', args, { cwd: workspace, stdio: 'pipe' })
    git('init', '-q')
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'x')
    const head = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: workspace, encoding: 'utf8' }).trim()
    await type('baseline', 'record', 'out', '--baseline', 'main.json.gz', '--branch', 'release/1')
    const { branch, runs } = await readDocument()
    expect([branch, runs[0]!.commit]).toEqual(['release/1', head])
  })

  test('in which most samples failed is refused', async () => {
    await makeResult({}, sampleCsv().replaceAll(',true,', ',false,'))
    expect(await refusal(record())).toMatch(
      /^the run is not recorded: (\d+) of \1 samples failed, and a baseline is made of runs that work$/
    )
  })

  test('tells a script what was recorded', async () => {
    await makeResult()
    expect(JSON.parse(await record('--json'))).toEqual({
      runId: 'run00000001',
      commit: COMMIT,
      unusable: null,
      branch: 'main',
      file: join(workspace, 'main.json.gz'),
      runs: 1,
      usableRuns: 1
    })
  })

  test('of a rehearsal marks it', async () => {
    await makeResult({ rehearsal: true })
    expect(await record()).toContain('marked as not usable (a rehearsal with synthetic samples)')
    expect((await readDocument()).runs[0]!.unusable).toBe('a rehearsal with synthetic samples')
  })

  test('leaves out the runs that confirmed it', async () => {
    await makeResult()
    await mkdir(join(workspace, 'out/results/confirm-1'))
    await writeFile(join(workspace, 'out/results/confirm-1/us_east-g1.csv'), sampleCsv())
    await record()
    expect((await readDocument()).runs[0]!.scopes[0]!.samples).toBe(10)
  })

  const UNSURE = {
    text: 'p95 <= baseline + 10%',
    level: 'fail',
    verdict: 'inconclusive',
    outcome: 'unsure',
    reason: 'p95 is 12 % above its baseline'
  }
  const OPEN = { ...UNSURE, text: 'p99 < 2s', outcome: undefined, reason: 'p99 needs more samples' }
  const INCONCLUSIVE = {
    verdict: 'inconclusive',
    reason: `1 threshold is inconclusive: ${UNSURE.reason}`,
    thresholds: [UNSURE]
  }

  test('that is inconclusive only against its baseline is recorded: the baseline must be able to grow', async () => {
    await makeResult(INCONCLUSIVE)
    expect(await record()).toContain('has 1 run, 1 usable.')
  })

  test.each<[string, object, string]>([
    [
      'an absolute line that is open as well',
      {
        ...INCONCLUSIVE,
        reason: `2 thresholds are inconclusive: ${UNSURE.reason}`,
        thresholds: [UNSURE, OPEN]
      },
      'ended as "inconclusive"'
    ],
    [
      'an absolute line that is open, and one broken against the baseline',
      {
        verdict: 'failed',
        reason: `1 threshold is broken: ${UNSURE.reason}`,
        thresholds: [{ ...UNSURE, verdict: 'failed', outcome: 'broken' }, OPEN]
      },
      'so it is not recorded'
    ],
    [
      'a gap besides an unsure line',
      { ...INCONCLUSIVE, reason: 'Part of the load was lost: "node 2 died"' },
      'ended as "inconclusive" (Part of the load was lost'
    ],
    [
      'inconclusive',
      { verdict: 'inconclusive', reason: 'No samples.' },
      '"inconclusive" (No samples.), so it is not'
    ],
    ['timed out', { verdict: 'timed-out' }, 'ended as "timed-out"'],
    ['cancelled', { verdict: 'cancelled' }, 'ended as "cancelled"'],
    ['lost load', { verdict: 'failed', remote_errors: ['load lost: node 2 died'] }, 'lost part of its load'],
    ['stopped early', { verdict: 'failed', stopped_early: { afterSeconds: 2 } }, 'was stopped early'],
    ['side by side', { baseline: { kind: 'side-by-side' } }, 'comes from runs side by side'],
    ['no run', { 'run-id': null }, 'names no run'],
    ['no fingerprint', { baseline: undefined }, 'has no `baseline.fingerprint`'],
    [
      'a fingerprint that is none',
      { baseline: { fingerprint: { plan: 5 } } },
      'has no `baseline.fingerprint`'
    ],
    ['other samples', { metrics: { overall: { samples: 11 } } }, 'have 10 samples, and verdict.json says 11'],
    [
      'another grid',
      { grids: [{ gridId: 'g2', region: 'us east' }] },
      'does not belong to a grid in verdict.json'
    ]
  ])('with %s is refused, and the document stays as it was', async (_, changes, words) => {
    await makeResult(changes)
    await writeDocument(makeDocument())
    expect(await refusal(record())).toContain(words)
    expect(await readDocument()).toEqual(makeDocument())
  })

  test('of CSVs that were cut is refused', async () => {
    await makeResult({}, sampleCsv().slice(0, -20))
    expect(await refusal(record())).toMatch(/^the CSVs in .*out are not complete: /)
  })

  test.each<[string, string[], string]>([
    [
      'no folder',
      ['nowhere', '--baseline', 'b.gz', '--commit', COMMIT],
      'give the folder that `loadgate run --output`'
    ],
    ['no document', ['out', '--commit', COMMIT], 'give the baseline document with --baseline <file>'],
    ['a short commit', ['out', '--baseline', 'b.gz', '--commit', 'a514cef'], '--commit takes a full SHA'],
    ['no commit', ['out', '--baseline', 'b.gz'], 'is not a git working directory; give the commit that ran'],
    [
      'two folders',
      ['out', 'in', '--baseline', 'b.gz'],
      '`loadgate baseline record` takes one path, <folder>, found 2'
    ],
    [
      'another branch',
      ['out', '--baseline', 'main.json.gz', '--commit', COMMIT, '--branch', 'x'],
      'of branch main, not x'
    ],
    ['a folder as document', ['out', '--baseline', 'out', '--commit', COMMIT], 'out is not a file'],
    [
      'a place that is not there',
      ['out', '--baseline', 'no/b.gz', '--commit', COMMIT],
      'no/b.gz cannot be written: the folder '
    ]
  ])('with %s is a usage error', async (_, args, words) => {
    await makeResult()
    await writeDocument(makeDocument())
    expect(await refusal(type('baseline', 'record', ...args))).toContain(words)
    expect((await readdir(workspace)).sort()).toEqual(['main.json.gz', 'out'])
  })
})

test('a folder that may not be written to is named', async () => {
  await makeResult()
  // Not even root may create a file there.
  expect(
    await refusal(type('baseline', 'record', 'out', '--baseline', '/sys/b.json.gz', '--commit', COMMIT))
  ).toBe('/sys/b.json.gz cannot be written: the folder /sys is not writable')
})

describe('showing a document', () => {
  test('lists runs, figures, what cannot be used and what changed', async () => {
    const runs = makeRuns(3, (i) => ({
      unusable: i === 1 ? 'it was\ncancelled\u001b[2J' : null,
      fingerprint: i < 2 ? { threads: '5' } : { threads: '10' }
    }))
    await writeDocument(makeDocument(runs))
    const text = await type('baseline', 'show', 'main.json.gz')
    expect(text.split('\n')).toEqual([
      `${join(workspace, 'main.json.gz')}: 3 runs on main, 2 usable`,
      '',
      expect.stringMatching(/^started +commit +run +samples +errors +p95 +throughput +apdex +usable$/),
      expect.stringMatching(/^2023-11-14 22:13 +c0e0000 +run0 +1,000 +1 % +200 ms +50\/s +0.91 +yes$/),
      expect.stringMatching(/ no: it was cancelled \[2J$/),
      expect.stringMatching(/ yes$/),
      '',
      'Not comparable before c2e0000: threads: 10, was 5',
      ''
    ])
  })

  test('as JSON is the document, harmless for a terminal', async () => {
    const document = makeDocument([makeRun({ scopes: [makeScope({ label: '\u009b2J\u202e\u001b[0m' })] })])
    await writeDocument(document)
    const text = await type('baseline', 'show', 'main.json.gz', '--json')
    expect(text).not.toMatch(/[^\n -~]/)
    expect(JSON.parse(text)).toEqual(document)
  })

  test('without figures', async () => {
    await writeDocument(makeDocument([makeRun({ scopes: [], apdex: null })]))
    expect(await type('baseline', 'show', 'main.json.gz')).toMatch(/ run1 +– +– +– +– +– +yes$/m)
  })
})

describe.each(['baseline show', 'trend'])('`loadgate %s`', (command) => {
  const look = (place: string): Promise<string> => refusal(type(...command.split(' '), place))

  test.each<[string, Uint8Array, string]>([
    ['was changed', gzipSync('{"schema":1,"branch":"main","runs":[{}]}'), 'runs[0].commit is not a text'],
    ['is too large', new Uint8Array(3_000_000), 'is too large'],
    ['is of another schema', gzipSync('{"schema":7}'), 'has schema 7, and this version reads schema 1'],
    ['is something else', Buffer.from('hello'), 'is not a complete gzip file']
  ])('refuses a document that %s', async (_, bytes, words) => {
    await writeFile(join(workspace, 'b.json.gz'), bytes)
    const message = await look('b.json.gz')
    expect(message).toContain(`${join(workspace, 'b.json.gz')} cannot be used. The baseline document `)
    expect(message).toContain(words)
    // It may be anything, and precious.
    expect(message).not.toMatch(/remove/i)
    expect(message).toContain('Give a file that `loadgate baseline record` or a gate wrote.')
  })

  test('refuses what is not there, and what is no file', async () => {
    expect(await look('b.json.gz')).toContain('`loadgate baseline record` creates a baseline document')
    await symlink('/dev/zero', join(workspace, 'zero'))
    expect(await look('zero')).toContain('is not a file')
    expect(await look('.')).toContain('there is no baseline document (.json.gz) in')
    await writeFile(join(workspace, 'a.json.gz'), '')
    await writeFile(join(workspace, 'b.json.gz'), '')
    expect(await look('.')).toContain('has 2 documents (a.json.gz, b.json.gz); name one of them')
  })
})
