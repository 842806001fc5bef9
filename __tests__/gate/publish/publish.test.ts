import { beforeEach, describe, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Collection } from '../../../src/gate/collect/collect.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { Findings } from '../../../src/gate/findings.js'
import { publish } from '../../../src/gate/publish/publish.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Workbench } from '../../../src/gate/ports.js'
import { makeBench, makeRun, makeSettings } from '../../support/gate/gate-bench.js'
import type { TestBench } from '../../support/gate/gate-bench.js'

let bench: TestBench

beforeEach(async () => {
  bench = await makeBench()
})

function makeCollection(): Collection {
  const path = join(bench.scratchDir, 'results', 'us-east-1-g1.csv')
  return {
    report: { summary: 'all was well', means: {}, rehearsal: false },
    reportProblem: undefined,
    run: makeRun(),
    resultsDir: join(bench.scratchDir, 'results'),
    missingGrids: [],
    spansMs: new Map(),
    grids: [
      { gridId: 'g1', region: 'us-east-1', nodeCount: 1, path, bytes: 7, problem: undefined },
      { gridId: 'g2', region: 'eu-west-1', nodeCount: 1, path: undefined, bytes: 0, problem: 'gone' }
    ],
    measurements: undefined
  }
}

interface Case {
  readonly settings?: Settings
  readonly findings?: Findings
}

async function make(known: Case = {}): Promise<void> {
  const { settings = makeSettings({ thresholdLines: 'apdex >= 0.95' }) } = known
  const findings = known.findings ?? { run: makeRun(), collection: makeCollection() }
  const outcome = conclude(settings, findings)
  await bench.clock.run(publish(bench, { settings, outcome, collection: findings.collection }))
}

function failingUpload(...messages: string[]): Workbench['uploadArtifact'] {
  return async (request) => {
    bench.uploads.push(request)
    const message = messages.shift()
    if (message !== undefined) throw new Error(message)
    return { id: '78', url: undefined }
  }
}

test('the order: files, artifact, outputs, summary, annotations', async () => {
  const seen: string[] = []
  const { uploadArtifact } = bench
  Object.assign(bench, {
    uploadArtifact: async (request: Parameters<NonNullable<typeof uploadArtifact>>[0]) => {
      for (const file of request.files.filter((path) => !path.endsWith('.csv')))
        seen.push((await readFile(file, 'utf8')).slice(0, 1))
      return uploadArtifact?.(request)
    }
  })
  await make()
  expect(seen).toEqual(['{', '<'])
  expect(bench.events[0]).toBe('artifact')
  expect(bench.events.slice(-2)).toEqual(['summary', 'annotation'])
  expect(bench.events.slice(1, -2).every((event) => event.startsWith('output '))).toBe(true)
})

test('the artifact holds the CSVs that came, verdict.json and report.html', async () => {
  await make()
  const inScratch = (name: string): string => join(bench.scratchDir, name)
  expect(bench.uploads).toEqual([
    {
      name: 'loadgate-run1',
      folder: bench.scratchDir,
      files: [inScratch('results/us-east-1-g1.csv'), inScratch('verdict.json'), inScratch('report.html')],
      retentionDays: undefined
    }
  ])
  const document = JSON.parse(await readFile(inScratch('verdict.json'), 'utf8')) as Record<string, unknown>
  expect(document).toMatchObject({
    verdict: 'failed',
    'run-id': 'run1',
    apdex: 0.93,
    'apdex-target': 500,
    summary: 'all was well'
  })
})

test('the logs of the tools, where they were kept, are in the artifact too', async () => {
  const settings = makeSettings()
  const findings = { run: makeRun(), collection: makeCollection() }
  const logs = [join(bench.scratchDir, 'logs', 'g1-1.log')]
  const { collection } = findings
  const outcome = conclude(settings, findings)
  await bench.clock.run(publish(bench, { settings, outcome, collection, logs }))
  expect(bench.uploads[0]?.files.slice(-1)).toEqual(logs)
})

test('its name and its retention are as asked for', async () => {
  await make({ settings: makeSettings({ artifactName: 'mine', retentionDays: 3 }) })
  expect(bench.uploads[0]).toMatchObject({ name: 'mine', retentionDays: 3 })
})

describe('the outputs', () => {
  test('of a run that was judged', async () => {
    await make()
    const { metrics, thresholds, ...others } = Object.fromEntries(bench.outputs)
    expect(others).toEqual({
      status: 'finished',
      verdict: 'failed',
      apdex: '0.93',
      'apdex-target': '500',
      summary: 'all was well',
      'results-dir': join(bench.scratchDir, 'results'),
      'artifact-id': '77',
      'artifact-url': 'https://git.example/artifacts/77'
    })
    expect(JSON.parse(metrics ?? '')).toBeInstanceOf(Object)
    expect(JSON.parse(thresholds ?? '')).toEqual([
      expect.objectContaining({ text: 'apdex >= 0.95', level: 'fail', verdict: 'failed', actual: 0.93 })
    ])
  })

  test('of a run that never was', async () => {
    await make({ findings: { trouble: { kind: 'error', message: 'no' } }, settings: makeSettings() })
    expect([...bench.outputs.keys()].sort()).toEqual(['metrics', 'thresholds', 'verdict'])
    expect(bench.outputs.get('verdict')).toBe('error')
  })

  test('a summary of any size fits', async () => {
    const collection = {
      ...makeCollection(),
      report: { summary: 'ü'.repeat(100_000), means: {}, rehearsal: false }
    }
    await make({ findings: { run: makeRun(), collection } })
    expect(Buffer.byteLength(bench.outputs.get('summary') ?? '')).toBeLessThanOrEqual(64 * 1024)
  })
})

describe('an upload that fails', () => {
  test('is tried again', async () => {
    Object.assign(bench, { uploadArtifact: failingUpload('ECONNRESET', 'ECONNRESET') })
    await make()
    expect(bench.uploads).toHaveLength(3)
    expect(bench.outputs.get('artifact-id')).toBe('78')
    expect(bench.outputs.has('artifact-url')).toBe(false)
    expect(bench.log.of('warning')).toEqual([])
  })

  test('in the end is a warning that says where the files lie; the verdict stands', async () => {
    Object.assign(bench, { uploadArtifact: failingUpload('a', 'b', 'c', 'd') })
    await make()
    expect(bench.uploads).toHaveLength(3)
    const warning = `The artifact loadgate-run1 could not be uploaded (c); the files lie in ${bench.scratchDir} on the runner.`
    expect(bench.log.of('warning')).toContain(warning)
    expect(bench.outputs.get('verdict')).toBe('failed')
    expect(bench.outputs.has('artifact-id')).toBe(false)
    expect(bench.summaries[0]).toContain('could not be uploaded')
  })

  test.each(['Failed request: (409) Conflict: an artifact with this name already exists', 'CONFLICT'])(
    'because the name is taken is not tried again: %s',
    async (message) => {
      Object.assign(bench, { uploadArtifact: failingUpload(message, message) })
      await make()
      expect(bench.uploads).toHaveLength(1)
    }
  )
})

test('where there is nowhere to upload to, nothing is said', async () => {
  Object.assign(bench, { uploadArtifact: undefined })
  await make()
  expect(bench.log.of('warning')).toEqual([])
  expect(bench.outputs.get('verdict')).toBe('failed')
})

test.each<{ name: string; findings: Findings }>([
  { name: 'there was no run', findings: { trouble: { kind: 'error', message: 'no java' } } },
  {
    name: 'the job was cancelled',
    findings: { run: makeRun(), trouble: { kind: 'cancelled', message: 'x' } }
  },
  { name: 'the run goes on by itself', findings: { run: makeRun(), isDetached: true } }
])('nothing is uploaded where $name', async ({ findings }) => {
  await make({ findings })
  expect(bench.uploads).toEqual([])
})

test('a summary that cannot be written is a warning; outputs and annotations are there', async () => {
  Object.assign(bench, { writeSummary: () => Promise.reject(new Error('ENOSPC')) })
  await make()
  expect(bench.log.of('warning')).toContain('The job summary could not be written: ENOSPC')
  expect(bench.annotations).toEqual([{ level: 'error', message: expect.stringContaining('apdex is 0.93') }])
  expect(bench.outputs.get('verdict')).toBe('failed')
})

test('files that cannot be written cost the files, not the verdict', async () => {
  Object.assign(bench, { scratchDir: '/dev/null/nowhere' })
  await make()
  expect(bench.log.of('warning')).toContainEqual(
    expect.stringContaining('verdict.json and report.html could not be written')
  )
  expect(bench.outputs.get('verdict')).toBe('failed')
  expect(bench.summaries).toHaveLength(1)
})

describe('an upload that is never answered', () => {
  const hang = (): Promise<never> => new Promise(() => undefined)

  test('is given up after a while, and the verdict is told', async () => {
    Object.assign(bench, { uploadArtifact: hang })
    await make()
    expect(bench.log.of('warning').join()).toContain('could not be uploaded (no answer within 15 minutes)')
    expect(bench.outputs.get('verdict')).toBeDefined()
  })

  test('is given up at once when the job is cancelled', async () => {
    const cancellation = new AbortController()
    Object.assign(bench, {
      cancelled: cancellation.signal,
      uploadArtifact: () => {
        cancellation.abort(new Error('cancelled by SIGINT'))
        return hang()
      }
    })
    const startedMs = bench.clock.now()
    await make()
    expect(bench.clock.now() - startedMs).toBeLessThan(5_000)
    expect(bench.outputs.get('verdict')).toBeDefined()
  })
})
