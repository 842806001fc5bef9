import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runGate } from '../../../src/gate/run-gate.js'
import { type Shop, startShop } from '../../../src/service/demo-shop.js'
import { readAddress } from '../../../src/client/http/address.js'
import { systemClock } from '../../../src/contract/clock.js'
import { createServices, get } from '../../service/support.js'
import { makePorts, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'

const hasJava = spawnSync('java', ['-version']).status === 0
const describeWithJava = hasJava ? describe : describe.skip
/** JMeter is installed the first time. */
const INSTALL_AND_RUN_MS = 15 * 60_000
const DURATION_SECONDS = 180

const example = (name: string): string =>
  fileURLToPath(new URL(`../../../examples/shop/${name}`, import.meta.url))

describeWithJava('real JMeter on two nodes and a slow shop', () => {
  const services = createServices()
  let shop: Shop

  beforeAll(async () => {
    shop = await startShop({ slow: true })
  })
  afterAll(async () => {
    await services.closeAll()
    await shop.close()
  })

  test(
    'is stopped early: failed, JMeter is gone, and every row is complete',
    async () => {
      const service = await services.start({ engine: 'real' })
      const ports = await makePorts({ clock: systemClock })
      const settings = makeSettings({
        target: { kind: 'remote', address: readAddress(service.url), token: service.token },
        origin: {
          kind: 'files',
          paths: [example('plan.jmx'), example('users.csv')],
          grids: [makeSpecification({ region: 'local', nodeCount: 2 })]
        },
        threads: 4,
        rampupSeconds: 1,
        durationSeconds: DURATION_SECONDS,
        overrideParameters: `-Jport=${shop.port}`,
        thresholdLines: 'error_rate < 100%\nmedian < 20ms',
        pollIntervalMs: 2000,
        stopEarly: true
      })
      const outcome = await runGate(ports, settings)
      expect({ said: ports.log.lines, ...outcome }).toMatchObject({
        verdict: 'failed',
        stoppedEarly: { ofSeconds: DURATION_SECONDS, threshold: 'median < 20ms' },
        remoteErrors: []
      })
      expect(outcome.reason).toMatch(/^Stopped early after \d+ s of 3 min: median /)
      expect(outcome.stoppedEarly!.savedSeconds).toBeGreaterThan(60)
      expect(outcome.measurements!.sources).toMatchObject([{ shape: 'samples', problems: [] }])
      const csv = readFileSync(
        join(ports.scratchDir, 'results', `local-${outcome.grids[0]!.gridId}.csv`),
        'utf8'
      )
      expect(csv.endsWith('\n')).toBe(true)
      expect(outcome.measurements!.figures({})!.samples).toBe(csv.trimEnd().split('\n').length - 1)
      expect((await get(service, `/runs/${outcome.run!.id}`)).json.status).toBe('finished')
      const { stdout } = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
      expect(stdout.split('\n').filter((line) => line.includes(outcome.run!.id))).toEqual([])
    },
    INSTALL_AND_RUN_MS
  )
})
