import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runGate } from '../../../src/gate/run-gate.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { discardOnClose, startService } from '../../../src/service/server.js'
import { systemClock } from '../../../src/contract/clock.js'
import { writeJMeter, writeSample } from '../../service/stand-in.js'
import { PLAN } from '../../service/support.js'
import { MemoryStore } from '../../support/baseline/memory-store.js'
import { makePorts, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'

let folder: string
let store: MemoryStore
const closings: (() => Promise<void>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tool-version-'))
  store = new MemoryStore()
  await writeFile(join(folder, 'plan.jmx'), PLAN)
})

afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** A push to main, with the embedded service and this version of JMeter. */
async function push(version: string, commit: string): Promise<Outcome> {
  const home = writeJMeter(join(folder, version), [writeSample('home')], version)
  const ports = await makePorts({
    // The tool is a real process.
    clock: systemClock,
    occasion: { repository: 'octo/shop', ref: 'main', commit, url: undefined },
    openBaselines: () => Promise.resolve(store),
    uploadArtifact: store.upload,
    startLocalService: async () => {
      const dataDir = await mkdtemp(join(folder, 'service-'))
      const env = { PATH: process.env.PATH, JMETER_HOME: home }
      const service = await startService({ dataDir, engine: 'real', env, log: () => undefined })
      closings.push(() => service.close())
      return discardOnClose(service, dataDir)
    }
  })
  const local = makeSpecification({ region: 'local', instanceType: 'local', nodeCount: 1 })
  const outcome = await runGate(
    ports,
    makeSettings({
      target: { kind: 'local' },
      origin: { kind: 'files', paths: [join(folder, 'plan.jmx')], grids: [local] },
      pollIntervalMs: 50,
      baseline: { ...makeSettings().baseline, source: { kind: 'auto' } }
    })
  )
  store.ancestors = [commit, ...store.ancestors]
  return outcome
}

test('runs of the embedded service are comparable while its tool has the same version', async () => {
  await push('5.5', 'a'.repeat(40))
  const same = await push('5.5', 'b'.repeat(40))
  expect(same.baseline).toMatchObject({ state: 'compared', commit: 'a'.repeat(40) })
  const updated = await push('5.6.3', 'c'.repeat(40))
  expect(updated.baseline?.state).toBe('not comparable')
  expect(updated.baseline?.reason).toContain("the tool's version changed (5.6.3, was 5.5)")
  const versions = store.documents[0]?.runs.map(({ fingerprint }) => fingerprint['tool version'])
  expect(versions).toEqual(['5.5', '5.5', '5.6.3'])
})
