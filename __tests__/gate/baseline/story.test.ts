import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Findings } from '../../../src/gate/findings.js'
import type { BaselineDocument, RecordedRun } from '../../../src/contract/baseline.js'
import { encodeBaseline, decodeBaseline } from '../../../src/analysis/baseline/document/baseline-document.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import { recordBaseline } from '../../../src/gate/baseline/record-baseline.js'
import { CancelledError } from '../../../src/gate/errors.js'
import { runGate } from '../../../src/gate/run-gate.js'
import type { Artifact, ArtifactRequest } from '../../../src/gate/ports.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { BaselineSource } from '../../../src/gate/settings/baseline-settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readAddress } from '../../../src/client/http/address.js'
import type { BaselineThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { MemoryStore } from '../../support/baseline/memory-store.js'
import { makeDocument } from '../../support/baseline/make-document.js'
import { noisyCsv } from '../../support/baseline/noisy-csv.js'
import {
  TOKEN,
  makePorts,
  makeSettings,
  makeSpecification,
  type TestPorts
} from '../../support/gate/gate-ports.js'
import { GateService } from '../../support/gate/gate-service.js'

const LINE: BaselineThreshold = {
  text: 'p95 <= baseline + 10%',
  line: 1,
  level: 'fail',
  metric: 'percentile',
  name: 'p95',
  percentile: 95,
  selector: {},
  operator: '<=',
  allowance: { ratio: 0.1 }
}
const ON_PULL_REQUEST = { branch: 'main', recordedUnder: undefined }

let service: GateService
let store: MemoryStore
let ports: TestPorts
let plan: string
let runs: number

beforeEach(async () => {
  service = new GateService()
  store = new MemoryStore()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, '<jmeterTestPlan/>')
  runs = 0
})

afterEach(() => service.close())

interface Use extends Partial<Omit<Settings, 'baseline'>> {
  readonly commit?: string
  readonly slower?: number
  /** So many of the 600 samples fail. */
  readonly failures?: number
  readonly startMs?: number
  readonly source?: BaselineSource
  readonly baseline?: Partial<Settings['baseline']>
  readonly ports?: Partial<TestPorts>
}

/** One step, on the branch unless the store's place says otherwise. */
async function gate(use: Use = {}): Promise<Outcome> {
  runs++
  const { commit = (runs % 16).toString(16).repeat(40), slower = 1, failures = 0, ...more } = use
  // The service gives the times of its runs; a day apart.
  const { source = { kind: 'auto' }, startMs = Date.UTC(2025, 11, runs), ...changes } = more
  service.now = () => startMs
  let failed = 0
  service.csvs.set(
    'grid1',
    noisyCsv(runs, slower, { startMs }).replace(/,true,/g, (yes) => (failed++ < failures ? ',false,' : yes))
  )
  const started = new Date(startMs).toISOString()
  service.nextDocument = { started, ...service.nextDocument }
  ports = await makePorts({
    occasion: { repository: 'octo/shop', ref: 'main', commit, url: undefined },
    openBaselines: () => Promise.resolve(store),
    uploadArtifact: store.upload,
    ...changes.ports
  })
  const settings = {
    ...makeSettings({
      target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
      origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
      githubToken: 'ghs_x',
      thresholds: [LINE]
    }),
    ...changes
  }
  const baseline = { ...makeSettings().baseline, source, ...changes.baseline }
  const outcome = await ports.clock.run(runGate(ports, { ...settings, baseline }))
  service.nextDocument = {}
  if (!store.ancestors.includes(commit)) store.ancestors = [commit, ...store.ancestors]
  return outcome
}

const recorded = (): readonly RecordedRun[] => store.documents[0]?.runs ?? []
const outputOf = (): Record<string, unknown> =>
  JSON.parse(ports.outputs.get('baseline') ?? 'null') as Record<string, unknown>

/** The branch with so many recorded runs. */
async function recordRuns(count: number): Promise<void> {
  for (let run = 0; run < count; run++) await gate()
}

describe('the branch itself', () => {
  test('the first run has no baseline, passes with a word about it, and is recorded', async () => {
    const outcome = await gate({ baseline: { onMissing: 'fail' } })
    expect(outcome.baseline).toMatchObject({ state: 'no baseline', reason: 'nothing is recorded' })
    expect(outcome.judgements[0]?.comparison).toMatchObject({ outcome: 'no baseline', ifNotJudged: 'warn' })
    expect(recorded()).toMatchObject([{ commit: '1'.repeat(40), runId: 'run1', unusable: null }])
    expect(outputOf()).toMatchObject({ state: 'no baseline', branch: 'main', commit: null, runs: [] })
    expect(ports.log.of('info')).toContain('The run was recorded for main.')
    expect(store.uploads.at(-1)).toMatchObject({ name: 'loadgate-baseline-main', isReplacing: true })
  })

  test('later runs are compared with the earlier ones, and the document grows', async () => {
    await recordRuns(3)
    const outcome = await gate()
    expect(outcome.baseline).toMatchObject({ state: 'compared', commit: '3'.repeat(40) })
    expect(outcome.baseline?.runs).toEqual(['run1', 'run2', 'run3'])
    expect(outcome.trend?.points.map(({ runId }) => runId)).toEqual(['run1', 'run2', 'run3', 'run4'])
    expect(outcome.trend?.points.at(-1)).toMatchObject({ isHead: true, commit: '4'.repeat(40) })
    expect(recorded()).toHaveLength(4)
  })

  test('a parameter that does not count, also in runs that were recorded with it', async () => {
    await gate({ overrideParameters: '-Jbuild=1' })
    const addressed = { overrideParameters: '-Jbuild=2, -Jport=8124' }
    const refused = await gate(addressed)
    expect(refused.baseline).toMatchObject({
      state: 'not comparable',
      reason: expect.stringMatching(
        /^the parameter `build` changed, compared .*; a parameter that does not change the load can be listed in ignore-parameters$/
      )
    })
    const outcome = await gate({ ...addressed, baseline: { ignoredParameters: ['build'] } })
    expect(outcome.baseline).toMatchObject({ state: 'compared', runs: ['run1', 'run2'] })
    expect(outcome.trend?.points.map(({ isAfterChange }) => isAfterChange)).toEqual([false, false, false])
    // What was recorded stays as it was.
    expect(recorded().map(({ fingerprint }) => Object.keys(fingerprint).includes('parameter build'))).toEqual(
      [true, true, false]
    )
    expect(JSON.stringify(recorded())).not.toContain('parameter port')
  })

  test('two recorders that raced lose nothing', async () => {
    await recordRuns(2)
    const [before] = store.documents.splice(0, 1)
    await gate()
    store.documents.unshift(before!)
    await gate()
    expect(recorded().map(({ runId }) => runId)).toEqual(['run1', 'run2', 'run3', 'run4'])
  })

  test('nor do two gates of one workflow run, where the second replaces the artifact of the first', async () => {
    await recordRuns(2)
    const [other] = store.documents.splice(0, 1)
    const uploadArtifact = async (request: ArtifactRequest): Promise<Artifact> => {
      // The name is taken: the other gate was quicker.
      if (request.isReplacing) store.documents.unshift(other!)
      await request.beforeReplacing?.()
      return store.upload(request)
    }
    await gate({ ports: { uploadArtifact } })
    expect(recorded().map(({ runId }) => runId)).toEqual(['run1', 'run2', 'run3'])
  })

  test('what cannot be read is not replaced', async () => {
    const uploadArtifact = async (request: ArtifactRequest): Promise<Artifact> => {
      store.reason = 'GitHub is down'
      await request.beforeReplacing?.()
      return store.upload(request)
    }
    await gate({ ports: { uploadArtifact } })
    expect(store.documents).toEqual([])
    expect(ports.log.of('info')).toContain(
      'The run could not be recorded for later comparisons: GitHub is down'
    )
  })

  test('a failed run stays usable, an inconclusive one does not', async () => {
    await recordRuns(6)
    expect((await gate({ slower: 2 })).verdict).toBe('failed')
    service.nextDocument = { status: 'problem' }
    await gate()
    expect(recorded().map(({ unusable }) => unusable)).toEqual([
      ...Array<null>(7).fill(null),
      expect.stringContaining('inconclusive: The run ended as "problem"')
    ])
    expect((await gate()).baseline?.runs).toHaveLength(7)
  })

  test('one bad run, red itself, opens no gate for the next', async () => {
    await recordRuns(9)
    expect((await gate({ slower: 2 })).verdict).toBe('failed')
    store.place = ON_PULL_REQUEST
    const outcome = await gate({ slower: 1.5 })
    expect(outcome.judgements[0]?.comparison?.outcome).toBe('unsure')
    expect(outcome.reason).toMatch(
      /; but the newest run of main is \d+(\.\d)? % slower than the nine before it, and no second run confirms it; against those, /
    )
    expect((await gate({ slower: 1.5, baseline: { onUnsure: 'fail' } })).verdict).toBe('inconclusive')
  })

  test('nor does one with 40 % errors, of quick failures or of errors alone', async () => {
    const rate: BaselineThreshold = {
      ...{ text: 'error_rate <= baseline + 0.5pp', line: 2, level: 'fail', selector: {}, operator: '<=' },
      ...{ metric: 'error_rate', name: 'error_rate', allowance: { amount: 0.005 } }
    }
    await recordRuns(9)
    expect((await gate({ failures: 240, thresholds: [rate] })).verdict).toBe('failed')
    store.place = ON_PULL_REQUEST
    const same = await gate({ failures: 240, thresholds: [rate] })
    expect(same.judgements[0]?.comparison?.outcome).toBe('unsure')
    const slower = await gate({ slower: 1.5 })
    expect(slower.verdict).toBe('failed')
    expect(slower.reason).toContain('; 1 of 10 recorded runs is left out, as more samples of the base failed')
  })

  test('one in which most samples failed is never recorded', async () => {
    await gate({ failures: 300 })
    await gate({ failures: 301, baseline: { onMissing: 'pass' } })
    expect(recorded().map(({ runId }) => runId)).toEqual(['run1'])
    expect(ports.log.of('info')).toContain(
      'The run could not be recorded for later comparisons: 301 of 600 samples failed, and a baseline is made of runs that work'
    )
  })

  test('a line that is unsure does not make the run unusable: there would never be a baseline', async () => {
    await gate()
    const tight = { ...LINE, allowance: { ratio: 0.001 } }
    const outcome = await gate({ thresholds: [tight], baseline: { onUnsure: 'fail' } })
    expect(outcome.judgements[0]?.comparison?.outcome).toBe('unsure')
    expect(recorded().map(({ unusable }) => unusable)).toEqual([null, null])
  })

  test('an earlier document that cannot be read: not recorded, so that it is not hidden', async () => {
    store.reason = 'GitHub is down'
    await gate()
    expect(store.documents).toEqual([])
    expect(ports.log.of('info')).toContain(
      'The run could not be recorded for later comparisons: GitHub is down'
    )
  })

  test('nor is it recorded in an outage, and that is a warning: nothing needs to be changed', async () => {
    await recordRuns(2)
    store.reason = 'the runs recorded before could not be downloaded (404)'
    store.isOutage = true
    await gate()
    expect(recorded()).toHaveLength(2)
    expect(ports.log.of('warning')).toContain(
      'The run could not be recorded for later comparisons: the runs recorded before could not be downloaded (404)'
    )
  })

  test('a run of a service whose clock is ahead is recorded as of now', async () => {
    await gate({ startMs: Date.UTC(2099, 0, 1) })
    expect(recorded()[0]!.atMs).toBeLessThanOrEqual(ports.clock.now())
    await gate()
    expect((await gate()).baseline?.runs).toHaveLength(2)
  })

  test('an upload that fails is a warning', async () => {
    const uploadArtifact = (): Promise<never> => Promise.reject(new Error('the service is down'))
    const outcome = await gate({ thresholds: [], ports: { uploadArtifact } })
    expect(outcome.verdict).toBe('passed')
    expect(ports.log.of('warning').at(-1)).toBe(
      'The run could not be recorded for later comparisons: the service is down'
    )
  })
})

describe('a pull request', () => {
  let six: readonly BaselineDocument[] | undefined

  beforeEach(async () => {
    if (six === undefined) await recordRuns(6)
    else for (; runs < 6; runs++) service.addRun()
    six ??= store.documents
    store.documents.splice(0, Infinity, ...six)
    store.ancestors = ['6', '5', '4', '3', '2', '1'].map((digit) => digit.repeat(40))
    store.place = ON_PULL_REQUEST
    store.baseCommit = '6'.repeat(40)
    store.uploads.length = 0
  })

  const uploadedBaselines = (): string[] =>
    store.uploads.map(({ name }) => name).filter((name) => name.startsWith('loadgate-baseline'))

  test('that is slower fails, one that is not passes, and neither is recorded', async () => {
    const slower = await gate({ slower: 1.5 })
    expect(slower.judgements[0]?.comparison?.outcome).toBe('broken')
    expect(slower.verdict).toBe('failed')
    const same = await gate()
    expect(same.judgements[0]?.comparison?.outcome).toBe('holds')
    expect(same.verdict).toBe('passed')
    expect(same.baseline).toMatchObject({ state: 'compared', commit: '6'.repeat(40), notes: [] })
    expect(uploadedBaselines()).toEqual([])
  })

  test('that is slower says first which requests got slower, by the recorded labels and their histograms', async () => {
    const { labelChanges } = await gate({ slower: 1.5 })
    expect(labelChanges?.rows).toHaveLength(1)
    expect(labelChanges).toMatchObject({ metric: 'p95', rows: [{ label: 'checkout', outcome: 'slower' }] })
    const [row] = labelChanges?.rows ?? []
    expect(row?.interval?.[0]).toBeGreaterThan(0)
    expect(row?.changePct).toBeGreaterThan(30)
    expect(labelChanges?.times.map(({ label }) => label)).toEqual([null, 'checkout'])
    expect(ports.summaries[0]).toMatch(
      /### Which requests got slower\n\nThe p95 of each label, .*\n\n\| Label .*\n.*\n\| checkout \|/
    )
    const held = await gate({ slower: 1 })
    expect(held.labelChanges?.rows[0]).toMatchObject({ label: 'checkout', outcome: 'no clear change' })
    expect(ports.summaries[0]).toContain('<details><summary>Base and head by label</summary>')
  })

  test('with another plan is not comparable, and says why', async () => {
    await writeFile(plan, '<jmeterTestPlan version="2"/>')
    const outcome = await gate({ baseline: { onMissing: 'fail' } })
    expect(outcome.baseline).toMatchObject({ state: 'not comparable' })
    expect(outcome.baseline?.reason).toContain('the plan changed')
    expect(outcome.judgements[0]?.comparison).toMatchObject({
      outcome: 'not comparable',
      ifNotJudged: 'fail'
    })
  })

  test('with another version of the tool is not comparable, and says so', async () => {
    expect(recorded().map(({ fingerprint }) => fingerprint['tool version'])).toEqual(Array(6).fill('5.6.3'))
    service.nextDocument = { tool: 'jmeter-5.7' }
    const outcome = await gate()
    expect(outcome.judgements[0]?.comparison?.outcome).toBe('not comparable')
    expect(outcome.baseline?.reason).toContain("the tool's version changed (5.7, was 5.6.3)")
  })

  test('after a force push is compared with the newest run, and is told so', async () => {
    store.ancestors = ['f'.repeat(40)]
    store.baseCommit = 'f'.repeat(40)
    const outcome = await gate()
    expect(outcome.baseline).toMatchObject({ state: 'compared', commit: '6'.repeat(40), runs: ['run6'] })
    expect(outcome.baseline?.notes[0]).toContain('other changes may be in between')
  })

  test('without a line that names baseline is compared all the same, and never judged by it', async () => {
    const outcome = await gate({ thresholds: [], slower: 1.5 })
    expect(outcome.verdict).toBe('passed')
    expect(outcome.judgements).toEqual([])
    expect(outcome.shownComparisons?.map(({ comparison }) => comparison?.outcome)).toContain('broken')
  })

  test('of which a grid is missing is not compared: half the load would look like a change', async () => {
    const outcome = await gate({
      origin: { kind: 'files', paths: [plan], grids: [makeSpecification(), makeSpecification()] }
    })
    expect(outcome.verdict).toBe('inconclusive')
    expect(outcome.baseline?.reason).toBe('not all results of the run could be read')
  })

  test('whose run-id was given is not comparable, and nothing is looked for', async () => {
    store.asked.length = 0
    const { id } = service.addRun()
    const outcome = await gate({ origin: { kind: 'existing', runId: id } })
    expect(outcome.baseline).toMatchObject({ state: 'not comparable' })
    expect(outcome.judgements[0]?.comparison?.outcome).toBe('not comparable')
    expect(store.asked).toEqual([])
  })

  test('that does not wait is neither compared nor recorded', async () => {
    store.asked.length = 0
    store.place = { branch: 'main', recordedUnder: 'main' }
    const outcome = await gate({ wait: false })
    expect(outcome.baseline).toBeUndefined()
    expect(ports.outputs.has('baseline')).toBe(false)
    expect([store.asked, uploadedBaselines()]).toEqual([[], []])
  })

  test('with baseline: off neither', async () => {
    store.asked.length = 0
    const outcome = await gate({ source: { kind: 'off' }, thresholds: [] })
    expect(outputOf()).toMatchObject({ state: 'off' })
    expect(outcome.shownComparisons).toBeUndefined()
    expect(store.asked).toEqual([])
  })
})

describe('at a terminal, where nothing is kept,', () => {
  const atTerminal = { ports: { openBaselines: undefined } as unknown as Partial<TestPorts> }

  test('a run that nobody asked to compare has the fingerprint that recording it later needs', async () => {
    const outcome = await gate({ ...atTerminal, thresholds: [] })
    expect(outcome.baseline).toMatchObject({ state: 'off', reason: undefined })
    expect(outcome.baseline?.fingerprint).toMatchObject({
      tool: 'jmeter',
      plan: expect.any(String)
    })
    expect(outcome.judgements).toEqual([])
  })

  test('a line that names baseline says what to set', async () => {
    const { judgements } = await gate(atTerminal)
    expect(judgements[0]).toMatchObject({ verdict: 'inconclusive', comparison: { outcome: 'no baseline' } })
    expect(judgements[0]?.reason).toContain('set "baseline" to the path')
  })
})

describe('the search', () => {
  test('starts while the load runs', async () => {
    let polls = -1
    store.pause = async () => void (polls = service.count('report'))
    await gate()
    expect(polls).toBe(0)
  })

  test('that gets no answer delays the gate by at most a minute', async () => {
    const hang = async ({ signal }: { signal: AbortSignal }): Promise<void> => {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    }
    await gate()
    const usualMs = ports.clock.elapsedMs
    store.pause = hang
    const outcome = await gate()
    expect(outcome.baseline?.reason).toBe('GitHub did not answer within 60 s')
    expect(ports.clock.elapsedMs - usualMs).toBeLessThanOrEqual(61_000)
  })

  test('ends with a cancelled job, and nothing is recorded', async () => {
    store.pause = async ({ signal }) => {
      ports.cancellation.abort(new CancelledError('SIGINT'))
      signal.throwIfAborted()
    }
    expect((await gate()).verdict).toBe('cancelled')
    expect(store.documents).toEqual([])
  })
})

describe('a job that is cancelled', () => {
  test('while the gate waits for the search is never passed, and nothing is recorded', async () => {
    store.pause = async ({ signal }) => {
      await ports.clock.sleep(50_000)
      ports.cancellation.abort(new CancelledError('SIGINT'))
      signal.throwIfAborted()
    }
    const outcome = await gate()
    expect(outcome).toMatchObject({ verdict: 'cancelled', reason: 'cancelled by SIGINT' })
    expect(outcome.measurements).toBeDefined()
    expect(store.documents).toEqual([])
  })

  test('after the verdict does not wait for the recording', async () => {
    const uploadArtifact = (request: ArtifactRequest): Promise<Artifact> => {
      ports.cancellation.abort(new CancelledError('SIGTERM'))
      return store.upload(request)
    }
    await gate({ ports: { uploadArtifact } })
    expect(store.uploads.map(({ name }) => name)).toEqual(['loadgate-run1'])
    expect(store.asked).toEqual(['find main'])
  })
})

describe('a path', () => {
  const pathOf = (): string => join(dirname(plan), 'kept', 'baseline.json.gz')
  const use = (): Use => ({ source: { kind: 'file', path: pathOf() } })

  test('is created, read and rewritten in place', async () => {
    const { baseline } = await gate(use())
    expect(baseline?.state).toBe('no baseline')
    expect(baseline?.reason).toContain('there is no file')
    expect((await gate(use())).baseline).toMatchObject({ state: 'compared', runs: ['run1'] })
    expect(decodeBaseline(await readFile(pathOf())).runs).toHaveLength(2)
    expect(await readdir(dirname(pathOf()))).toEqual(['baseline.json.gz'])
    expect(store.asked).toEqual([])
  })

  test('that has a run from the future: it is left out, named, and no longer the newest', async () => {
    await gate(use())
    const [run] = decodeBaseline(await readFile(pathOf())).runs
    const future = { ...run!, runId: 'future', atMs: Date.UTC(2099, 0, 1) }
    await writeFile(pathOf(), encodeBaseline(makeDocument([run!, future])))
    expect((await gate(use())).baseline).toMatchObject({ state: 'compared', runs: ['run1'] })
    const warnings = ports.log.of('warning').filter((line) => line.includes('from the future'))
    expect(warnings).toEqual([
      expect.stringContaining(
        'is from the future (after 2026-01-05 12:00:00) and left out: future of 1111111'
      )
    ])
    expect(decodeBaseline(await readFile(pathOf())).runs.map(({ runId }) => runId)).toEqual(['run1', 'run2'])
  })

  test('of another branch is left alone', async () => {
    await gate(use())
    const before = await readFile(pathOf())
    store.place = { branch: 'main', recordedUnder: 'feature' }
    expect((await gate(use())).baseline?.state).toBe('compared')
    expect((await readFile(pathOf())).equals(before)).toBe(true)
    expect(ports.log.of('info').at(-1)).toContain('is the document of main, and this is a run of feature')
  })

  test('is only read for a pull request', async () => {
    await gate(use())
    store.place = ON_PULL_REQUEST
    expect((await gate(use())).baseline?.state).toBe('compared')
    expect(decodeBaseline(await readFile(pathOf())).runs).toHaveLength(1)
  })

  test.each([
    ['too large', Buffer.alloc(1024 * 1024 + 1), 'too large'],
    ['something else', Buffer.from('{}'), 'is not a complete gzip file']
  ])('that is %s is not used and not overwritten', async (_, bytes, words) => {
    await gate(use())
    await writeFile(pathOf(), bytes)
    const outcome = await gate(use())
    expect(outcome.baseline?.reason).toContain(words)
    expect((await readFile(pathOf())).equals(bytes)).toBe(true)
    expect(ports.log.of('warning').at(-1)).toContain('could not be recorded')
  })
})

describe('what makes a run unusable', () => {
  test.each([
    ['timed out', { failure: { kind: 'timed-out', message: 'x' } }, {}],
    [
      'stopped early',
      { stoppedEarly: { afterSeconds: 1, ofSeconds: 9, savedSeconds: 8, threshold: 'x' } },
      {}
    ],
    ['a rehearsal, with synthetic samples', {}, { rehearsal: true }]
  ] as const)('%s', async (words, findings, alone) => {
    await gate()
    const { measurements } = await gate()
    store.documents.length = 0
    const settings = makeSettings({
      origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
      baseline: { ...makeSettings().baseline, source: { kind: 'auto' } }
    })
    const run = { ...service.runs[0]!, grids: [], apdex: null } as never
    await recordBaseline(ports, {
      settings,
      findings: { run, collection: { measurements } as never, ...(findings as Findings) },
      alone: { verdict: 'passed', reason: '', rehearsal: false, ...alone }
    })
    expect(recorded().map(({ unusable }) => unusable)).toEqual([words])
  })

  test('errors of the service, although it finished; a run with them is compared with a note', async () => {
    await gate()
    service.nextDocument = { remote_errors: 'node 3: java.lang.OutOfMemoryError\nnode 4: lost' }
    const outcome = await gate()
    const errors = 'the service reported errors: "node 3: java.lang.OutOfMemoryError" and 1 more'
    expect(outcome.baseline).toMatchObject({
      state: 'compared',
      notes: [`${errors}; part of this run's load may be missing`]
    })
    expect(recorded().map(({ unusable }) => unusable)).toEqual([null, errors])
  })

  test('a document of other runs is kept as it is', async () => {
    store.documents.push(makeDocument([{ runId: 'older', atMs: 1 }]))
    await gate()
    expect(recorded().map(({ runId }) => runId)).toEqual(['older', 'run1'])
  })
})
