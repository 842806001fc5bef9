import { beforeEach, describe, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Collection } from '../../../src/gate/collect/collect.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { Findings } from '../../../src/gate/findings.js'
import { publish } from '../../../src/gate/publish/publish.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Ports } from '../../../src/gate/ports.js'
import { makePorts, makeRun, makeSettings } from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'

let ports: TestPorts

beforeEach(async () => {
  ports = await makePorts()
})

function makeCollection(): Collection {
  const path = join(ports.scratchDir, 'results', 'us-east-1-g1.csv')
  return {
    report: { summary: 'all was well', means: {}, rehearsal: false, warnings: [] },
    reportProblem: undefined,
    run: makeRun(),
    resultsDir: join(ports.scratchDir, 'results'),
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
  await ports.clock.run(publish(ports, { settings, outcome, collection: findings.collection }))
}

function failingUpload(...messages: string[]): Ports['uploadArtifact'] {
  return async (request) => {
    ports.uploads.push(request)
    const message = messages.shift()
    if (message !== undefined) throw new Error(message)
    return { id: '78', url: undefined }
  }
}

test('the order: files, artifact, outputs, summary, annotations', async () => {
  const seen: string[] = []
  const { uploadArtifact } = ports
  Object.assign(ports, {
    uploadArtifact: async (request: Parameters<NonNullable<typeof uploadArtifact>>[0]) => {
      for (const file of request.files.filter((path) => !path.endsWith('.csv')))
        seen.push((await readFile(file, 'utf8')).slice(0, 1))
      return uploadArtifact?.(request)
    }
  })
  await make()
  expect(seen).toEqual(['{', '<'])
  expect(ports.events[0]).toBe('artifact')
  expect(ports.events.slice(-2)).toEqual(['summary', 'annotation'])
  expect(ports.events.slice(1, -2).every((event) => event.startsWith('output '))).toBe(true)
})

test('the artifact holds the CSVs that came, verdict.json and report.html', async () => {
  await make()
  const inScratch = (name: string): string => join(ports.scratchDir, name)
  expect(ports.uploads).toEqual([
    {
      name: 'loadgate-run1',
      folder: ports.scratchDir,
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
  const logs = [join(ports.scratchDir, 'logs', 'g1-1.log')]
  const { collection } = findings
  const outcome = conclude(settings, findings)
  await ports.clock.run(publish(ports, { settings, outcome, collection, logs }))
  expect(ports.uploads[0]?.files.slice(-1)).toEqual(logs)
})

test('its name and its retention are as asked for', async () => {
  await make({ settings: makeSettings({ artifactName: 'mine', retentionDays: 3 }) })
  expect(ports.uploads[0]).toMatchObject({ name: 'mine', retentionDays: 3 })
})

describe('the outputs', () => {
  test('of a run that was judged', async () => {
    await make()
    const { metrics, thresholds, ...others } = Object.fromEntries(ports.outputs)
    expect(others).toEqual({
      status: 'finished',
      verdict: 'failed',
      apdex: '0.93',
      'apdex-target': '500',
      summary: 'all was well',
      'results-dir': join(ports.scratchDir, 'results'),
      'artifact-id': '77',
      'artifact-url': 'https://git.example/artifacts/77'
    })
    expect(JSON.parse(metrics ?? '')).toBeInstanceOf(Object)
    expect(JSON.parse(thresholds ?? '')).toEqual([
      expect.objectContaining({ text: 'apdex >= 0.95', level: 'fail', verdict: 'failed', actual: 0.93 })
    ])
  })

  test('of a run that never was', async () => {
    await make({ findings: { failure: { kind: 'error', message: 'no' } }, settings: makeSettings() })
    expect([...ports.outputs.keys()].sort()).toEqual(['metrics', 'thresholds', 'verdict'])
    expect(ports.outputs.get('verdict')).toBe('error')
  })

  test('a summary of any size fits', async () => {
    const collection = {
      ...makeCollection(),
      report: { summary: 'ü'.repeat(100_000), means: {}, rehearsal: false, warnings: [] }
    }
    await make({ findings: { run: makeRun(), collection } })
    expect(Buffer.byteLength(ports.outputs.get('summary') ?? '')).toBeLessThanOrEqual(64 * 1024)
  })
})

describe('an upload that fails', () => {
  test('is tried again', async () => {
    Object.assign(ports, { uploadArtifact: failingUpload('ECONNRESET', 'ECONNRESET') })
    await make()
    expect(ports.uploads).toHaveLength(3)
    expect(ports.outputs.get('artifact-id')).toBe('78')
    expect(ports.outputs.has('artifact-url')).toBe(false)
    expect(ports.log.of('warning')).toEqual([])
  })

  test('in the end is a warning that says where the files are; the verdict stands', async () => {
    Object.assign(ports, { uploadArtifact: failingUpload('a', 'b', 'c', 'd') })
    await make()
    expect(ports.uploads).toHaveLength(3)
    const warning = `The artifact loadgate-run1 could not be uploaded (c); the files are in ${ports.scratchDir} on the runner.`
    expect(ports.log.of('warning')).toContain(warning)
    expect(ports.outputs.get('verdict')).toBe('failed')
    expect(ports.outputs.has('artifact-id')).toBe(false)
    expect(ports.summaries[0]).toContain('could not be uploaded')
  })

  test.each(['Failed request: (409) Conflict: an artifact with this name already exists', 'CONFLICT'])(
    'because the name is taken is not tried again: %s',
    async (message) => {
      Object.assign(ports, { uploadArtifact: failingUpload(message, message) })
      await make()
      expect(ports.uploads).toHaveLength(1)
    }
  )
})

test('where there is nowhere to upload to, nothing is said', async () => {
  Object.assign(ports, { uploadArtifact: undefined })
  await make()
  expect(ports.log.of('warning')).toEqual([])
  expect(ports.outputs.get('verdict')).toBe('failed')
})

test.each<{ name: string; findings: Findings }>([
  { name: 'there was no run', findings: { failure: { kind: 'error', message: 'no java' } } },
  {
    name: 'the job was cancelled',
    findings: { run: makeRun(), failure: { kind: 'cancelled', message: 'x' } }
  },
  { name: 'the run goes on by itself', findings: { run: makeRun(), isDetached: true } }
])('nothing is uploaded where $name', async ({ findings }) => {
  await make({ findings })
  expect(ports.uploads).toEqual([])
})

test('a summary that cannot be written is a warning; outputs and annotations are there', async () => {
  Object.assign(ports, { writeSummary: () => Promise.reject(new Error('ENOSPC')) })
  await make()
  expect(ports.log.of('warning')).toContain('The job summary could not be written: ENOSPC')
  expect(ports.annotations).toEqual([{ level: 'error', message: expect.stringContaining('apdex is 0.93') }])
  expect(ports.outputs.get('verdict')).toBe('failed')
})

test('files that cannot be written cost the files, not the verdict', async () => {
  Object.assign(ports, { scratchDir: '/dev/null/nowhere' })
  await make()
  expect(ports.log.of('warning')).toContainEqual(
    expect.stringContaining('verdict.json and report.html could not be written')
  )
  expect(ports.outputs.get('verdict')).toBe('failed')
  expect(ports.summaries).toHaveLength(1)
})

describe('an upload that is never answered', () => {
  const hang = (): Promise<never> => new Promise(() => undefined)

  test('is given up after a while, and the verdict is told', async () => {
    Object.assign(ports, { uploadArtifact: hang })
    await make()
    expect(ports.log.of('warning').join()).toContain('could not be uploaded (no response within 15 minutes)')
    expect(ports.outputs.get('verdict')).toBeDefined()
  })

  test('is given up at once when the job is cancelled', async () => {
    const cancellation = new AbortController()
    Object.assign(ports, {
      cancelled: cancellation.signal,
      uploadArtifact: () => {
        cancellation.abort(new Error('cancelled by SIGINT'))
        return hang()
      }
    })
    const startedMs = ports.clock.now()
    await make()
    expect(ports.clock.now() - startedMs).toBeLessThan(5_000)
    expect(ports.outputs.get('verdict')).toBeDefined()
  })
})
