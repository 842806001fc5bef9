import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readAddress } from '../../../src/client/http/address.js'
import { type VerdictDocument, verdictSchema } from '../../../src/contract/verdict.js'
import type { Progress } from '../../../src/gate/ports.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { PageDocument } from '../../../src/report/page/build-document.js'
import { JMETER_COLUMNS } from '../../support/data/sample-csv.js'
import { makePorts, makeSettings, makeSpecification, TOKEN } from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'
import { GateService } from '../../support/gate/gate-service.js'
import { QUIET_PLAN } from '../../support/quiet-plan.js'

const NOW_MS = 1_760_000_000_000
const SECRET = 'Tr0ub4dor&3-of-ours'

let service: GateService
let ports: TestPorts
let plan: string

beforeEach(async () => {
  service = new GateService()
  ports = await makePorts()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, QUIET_PLAN)
})

afterEach(() => service.close())

/** Ten seconds, of which the first five are of `home` and each fifth sample fails. */
function makeCsv(): string {
  const rows = Array.from({ length: 50 }, (_, i) => {
    const isFailure = i % 5 === 4
    const values = [
      ...[NOW_MS + i * 200, 100, i < 25 ? 'home' : 'pay', isFailure ? 503 : 200],
      ...[isFailure ? `no ${SECRET}` : 'OK', `${SECRET} 1-1`, 'text', !isFailure, '', 1000, 100, 1, 1],
      ...[`http://shop.example/${SECRET}?key=${SECRET}`, 60, 0, 20]
    ]
    return values.join(',')
  })
  return `${[JMETER_COLUMNS.join(','), ...rows].join('\n')}\n`
}

function gate(changes: Partial<Settings> & { thresholdLines?: string } = {}): Promise<Outcome> {
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
    origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
    thresholdLines: 'p95{label="pay"} < 1s',
    overrideParameters: `-Jpassword=secret:${SECRET}`,
    ...changes
  })
  return ports.clock.run(runGate(ports, settings))
}

async function readVerdict(): Promise<VerdictDocument> {
  const text = await readFile(join(ports.scratchDir, 'verdict.json'), 'utf8')
  return v.parse(verdictSchema, JSON.parse(text))
}

async function readPage(): Promise<PageDocument> {
  const html = await readFile(join(ports.scratchDir, 'report.html'), 'utf8')
  const [, json] = /<script type="application\/json" id="data"[^>]*>(.*?)<\/script>/s.exec(html) ?? []
  return JSON.parse(json ?? '') as PageDocument
}

const sum = (list: readonly (number | null)[] = []) => list.reduce<number>((all, one) => all + (one ?? 0), 0)

test('verdict.json, page and summary have the details of the run, without secrets', async () => {
  service.csvOf = makeCsv
  const outcome = await gate()
  expect(outcome.verdict).toBe('passed')
  const { details, series } = await readVerdict()
  expect(details?.overall).toMatchObject({ bucketMs: series?.bucketMs, atMs: series?.atMs })
  expect(details?.overall.codes.map(({ code, counts }) => [code, sum(counts)])).toEqual([
    ['200', 40],
    ['503', 10]
  ])
  expect([
    details?.overall.connectMs?.[0],
    details?.overall.ttfbMs?.[0],
    details?.overall.downloadMs?.[0]
  ]).toEqual([20, 40, 40])
  expect(details?.labels.map(({ label, why }) => [label, why])).toEqual([
    ['pay', 'named'],
    ['home', 'slowest']
  ])
  expect(details?.failures).toHaveLength(6)
  const page = await readPage()
  expect(page.details).toMatchObject({ offsetMs: 0, overall: details?.overall, failures: details?.failures })
  expect(page.details?.labels[0]).toMatchObject({
    label: 'pay',
    figures: { samples: 25, failures: 5 },
    errors: [{ count: 5, share: 1, code: '503' }],
    histogram: { shares: expect.any(Array) },
    zones: { satisfied: 0.8 }
  })
  expect(page.details?.labels[0]?.histogram?.edgesMs).toEqual(page.views[0]?.histogram?.edgesMs)
  const summary = ports.summaries.join('')
  expect(summary).toContain('#### First failed samples')
  expect(summary.match(/^\| 0:0\d \| (?:home|pay) \| 503 /gm)).toHaveLength(5)
  for (const name of ['verdict.json', 'report.html'])
    expect(await readFile(join(ports.scratchDir, name), 'utf8')).not.toContain(SECRET)
  expect(summary).not.toContain(SECRET)
  expect(JSON.stringify(details)).toMatch(/\*{6}/)
})

test('a warm-up is left out of them, and the page knows where they begin', async () => {
  service.csvOf = makeCsv
  await gate({ warmUpMs: 3000 })
  const { details, metrics } = await readVerdict()
  expect(sum(details?.overall.codes.flatMap(({ counts }) => counts))).toBe(metrics.overall?.samples)
  const page = await readPage()
  expect(page.details?.offsetMs).toBe(3000)
  const at = (page.details?.offsetMs ?? 0) / (page.series?.bucketMs ?? 1)
  expect(page.details?.overall.p50Ms.slice(1)).toEqual(page.series?.p50Ms.slice(at + 1))
})

test('without the CSV on disk there are none: the verdict is the same, and the log says why', async () => {
  service.csvOf = makeCsv
  Object.assign(ports, {
    onProgress: ({ status }: Progress) => {
      // The first reading is over, and the second has not begun.
      if (status === 'finishing') rmSync(join(ports.scratchDir, 'results'), { recursive: true })
    }
  })
  const outcome = await gate()
  expect(outcome).toMatchObject({ verdict: 'passed' })
  expect(outcome.details).toBeUndefined()
  expect(ports.log.of('debug')).toContainEqual(expect.stringMatching(/^The report has no details: .*ENOENT/))
  expect((await readVerdict()).details).toBeNull()
  expect((await readPage()).details).toBeNull()
})
