import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { startService } from '../../../src/service/server.js'
import type { EmbeddedService } from '../../../src/service/server.js'
import { PLAN } from '../../service/support.js'
import { makePorts, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'
import { MEDIAN_LINE, sideBySide } from '../../support/gate/side-by-side.js'

let ports: TestPorts
let service: EmbeddedService | undefined
const lines: string[] = []

beforeEach(async () => {
  ports = await makePorts()
  const { clock: shared, scratchDir } = ports
  // Pauses are not whole milliseconds; the time of a sample is.
  const clock = {
    now: () => Math.floor(shared.now()),
    after: shared.after.bind(shared),
    sleep: shared.sleep.bind(shared)
  }
  Object.assign(ports, {
    startLocalService: async () => {
      const dataDir = join(scratchDir, 'service')
      service = await startService({ dataDir, engine: 'rehearsal', clock, log: (line) => lines.push(line) })
      return service
    }
  })
})

afterEach(() => service?.close())

async function gate(baseMeanMs: number, changes: Partial<Settings> = {}): Promise<Outcome> {
  const plan = join(ports.scratchDir, 'plan.jmx')
  await writeFile(plan, PLAN)
  const local = makeSpecification({ region: 'local', instanceType: 'local', nodeCount: 1 })
  const settings = makeSettings({
    target: { kind: 'local' },
    origin: { kind: 'files', paths: [plan], grids: [local] },
    threads: 4,
    durationSeconds: 20,
    overrideParameters: '-Jrehearsal.mean=150, -Jrehearsal.errors=0',
    thresholds: [MEDIAN_LINE],
    baseline: sideBySide(3, {
      source: { kind: 'side-by-side', parameters: `-Jrehearsal.mean=${baseMeanMs}`, rounds: 3 }
    }),
    ...changes
  })
  return ports.clock.run(runGate(ports, settings))
}

test('the embedded service runs base and head in turns on one grid', async () => {
  const outcome = await gate(100)
  expect(outcome.judgements[0]?.comparison).toMatchObject({ outcome: 'broken', baseRuns: 3 })
  expect(outcome).toMatchObject({
    verdict: 'failed',
    rehearsal: true,
    baseline: {
      state: 'compared',
      kind: 'side-by-side',
      notes: [expect.stringContaining('the load differed')]
    }
  })
  expect(outcome.baseline?.runs).toHaveLength(3)
  expect(outcome.grids).toHaveLength(1)
  expect(outcome.warnings).toEqual([])
  const folders = await readdir(join(ports.scratchDir, 'results'))
  expect(folders.sort()).toEqual(['01-base', '01-head', '02-base', '02-head', '03-base', '03-head'])
  expect(ports.log.of('info')).toContainEqual(expect.stringMatching(/^Grid \S+ was terminated\.$/))
  expect(ports.states.at(-1)?.cleanupDue).toBe(false)
  // Those of the head's runs, end to end as in the charts.
  const { details, measurements } = outcome
  expect(details?.overall).toMatchObject({
    bucketMs: measurements?.series?.bucketMs,
    p95Ms: measurements?.series?.p95Ms,
    failures: measurements?.series?.failures
  })
  // Should the step be killed, the post step knows from the start what to remove.
  expect(ports.states[0]?.serviceDir).toBe(join(ports.scratchDir, 'service'))
})

test('no difference is no breach', async () => {
  expect(await gate(150)).toMatchObject({ verdict: 'passed' })
})
