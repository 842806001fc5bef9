import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAddress } from '../../../src/client/http/address.js'
import '../../../src/gate/after-run.js'
import { runGate } from '../../../src/gate/run-gate.js'
import { readSettings, type Settings } from '../../../src/gate/settings/settings.js'
import { createLoopbackFront, type Front } from '../../../src/service/http/front.js'
import { createServices, get, PLAN } from '../../service/support.js'
import { makePorts, makeSettings } from '../../support/gate/gate-ports.js'
import { makeSources } from '../../support/gate/settings-sources.js'

// What a gate leaves to a service of our own, and demands of its user for any other.

const folder = mkdtempSync(join(tmpdir(), 'loadgate-own-'))
const plan = join(folder, 'plan.jmx')
writeFileSync(plan, PLAN)
const services = createServices()
afterEach(() => services.closeAll())
afterAll(() => rmSync(folder, { recursive: true }))

/** A service that says what it is, or not, with every request that it got. */
async function start(isOurs: boolean) {
  const front = await createLoopbackFront()
  const requests: string[] = []
  const listening: Front = {
    ...front,
    listen: (app) => {
      app.addHook('onRequest', async ({ method, url }, reply) => {
        requests.push(`${method} ${url}`)
        if (!isOurs) reply.raw.removeHeader('x-loadgate-version')
        return Promise.resolve()
      })
      return front.listen(app)
    }
  }
  return { service: await services.start({ front: listening }), requests }
}

type Started = Awaited<ReturnType<typeof start>>

async function gate({ service }: Started, grids: string, changes: Partial<Settings> = {}) {
  const given = {
    'base-url': 'https://load.example',
    token: 'secret',
    files: 'plan.jmx',
    grids,
    duration: '5'
  }
  const read = (await readSettings(makeSources(given))) as Settings
  const { origin } = read
  if (origin.kind !== 'files') throw new Error('no files')
  const ports = await makePorts()
  const settings = makeSettings({
    ...{ target: { kind: 'remote', address: readAddress(service.url), token: service.token } },
    ...{ origin: { ...origin, paths: [plan] }, durationSeconds: 5, ...changes }
  })
  const outcome = await ports.clock.run(runGate(ports, settings))
  return { outcome, ports }
}

describe('grids with keys left out', () => {
  test.each([
    ['none', '', [['local', 1, 'default', 120]]],
    ['a number', '- instance_quantity: 2', [['local', 2, 'default', 120]]],
    ['a region', '- { region: eu, stop_after: 7 }', [['eu', 1, 'default', 7]]]
  ])('%s: a service of ours fills them in', async (_, grids, made) => {
    const started = await start(true)
    const { outcome } = await gate(started, grids)
    expect([outcome.verdict, outcome.reason]).toEqual(['passed', expect.any(String)])
    const { json } = await get(started.service, `/runs/${outcome.run!.id}`)
    expect(
      (json._embedded.grids as unknown as Record<string, unknown>[]).map((grid) =>
        ['region', 'instance_quantity', 'instance_type', 'stop_after'].map((key) => grid[key])
      )
    ).toEqual(made)
  })

  test('another service needs them, and nothing is created', async () => {
    const started = await start(false)
    const { outcome } = await gate(started, '- { region: eu, instance_quantity: 1 }')
    expect(outcome).toMatchObject({
      verdict: 'error',
      reason: expect.stringContaining(
        'grids: element 1: missing infrastructure, instance_type, stop_after. Nothing was created. This service needs infrastructure, region, instance_quantity, instance_type, stop_after of each grid'
      )
    })
    expect(started.requests.filter((request) => !request.startsWith('GET '))).toEqual([])
  })

  test('another service that gets all of them is asked nothing more', async () => {
    const started = await start(false)
    const all =
      '- { region: eu, instance_quantity: 1, instance_type: m, infrastructure: demand, stop_after: 9 }'
    expect((await gate(started, all)).outcome.verdict).toBe('passed')
  })
})

describe('the project', () => {
  const projectOf = async (isOurs: boolean, changes: Partial<Settings> = {}): Promise<unknown> => {
    const started = await start(isOurs)
    const all =
      '- { region: eu, instance_quantity: 1, instance_type: m, infrastructure: demand, stop_after: 9 }'
    const { outcome } = await gate(started, all, changes)
    return started.service.store.run(outcome.run!.id)?.request.project
  }

  test.each<[string, boolean, Partial<Settings>, string | null]>([
    ['is the repository', true, {}, 'octo/shop'],
    ['is what was given', true, { project: 'mine' }, 'mine'],
    ['is none with another service', false, {}, null]
  ])('%s', async (_, isOurs, changes, project) => {
    expect(await projectOf(isOurs, changes)).toBe(project)
  })
})
