import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readAddress } from '../../src/client/http/address.js'
import { ServiceClient } from '../../src/client/client.js'
import { systemClock } from '../../src/contract/clock.js'
import type { GridSpecification, RunRequest } from '../../src/client/documents/requests.js'
import { vocabularyOf } from '../../src/contract/vocabulary.js'
import { createServices, PLAN } from './support.js'

const services = createServices()
const clients: ServiceClient[] = []
let dir: string
beforeAll(() => {
  dir = services.folder()
  writeFileSync(join(dir, 'plän.jmx'), PLAN)
  writeFileSync(join(dir, 'users.csv'), 'a,b\n')
})
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()))
  await services.closeAll()
})

const GRID: GridSpecification = {
  infrastructure: 'demand',
  region: 'eu-west-1',
  nodeCount: 2,
  instanceType: 'm5.large',
  stopAfterMinutes: 10,
  options: { aws_tags: 'team=shop' }
}

const makeRequest = (overrides: Partial<RunRequest> = {}): RunRequest => ({
  tool: 'jmeter',
  files: [join(dir, 'plän.jmx'), join(dir, 'users.csv')],
  grids: [GRID, { ...GRID, region: 'us-east-1' }],
  name: 'Nächtlich',
  tags: ['one', 'loadgate-marker'],
  privacy: 'private',
  threads: 4,
  rampupSeconds: 0,
  durationSeconds: 20,
  ...overrides
})

async function waitFor<T extends { status: string }>(look: () => Promise<T>, status: string): Promise<T> {
  for (let tries = 0; tries < 1000; tries++) {
    const found = await look()
    if (found.status === status) return found
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error(`it never was ${status}`)
}

describe.each([{ serviceName: undefined }, { serviceName: 'acme' }])(
  'the client and the embedded service, by the word $serviceName',
  ({ serviceName }) => {
    let client: ServiceClient
    beforeAll(async () => {
      const service = await services.start(serviceName === undefined ? {} : { serviceName })
      const address = readAddress(`${service.url}/api`)
      client = new ServiceClient({
        address,
        token: service.token,
        words: vocabularyOf(serviceName),
        clock: systemClock
      })
      clients.push(client)
    })

    test('create, show, report, results, list, repeat, stop, pin', async () => {
      const created = await client.createRun(makeRequest())
      expect(created).toMatchObject({
        status: 'queued',
        name: 'Nächtlich',
        tags: ['one', 'loadgate-marker'],
        threads: 4,
        rampupSeconds: 0,
        durationSeconds: 20,
        files: ['plän.jmx', 'users.csv']
      })
      expect(created.grids.map((grid) => [grid.region, grid.nodeCount])).toEqual([
        ['eu-west-1', 2],
        ['us-east-1', 2]
      ])
      const run = await waitFor(() => client.showRun(created.id), 'finished')
      // Each of the four nodes starts in its own millisecond.
      expect(run.stoppedMs! - run.startedMs!).toBeGreaterThanOrEqual(20_000)
      expect((await client.report(run.id)).rehearsal).toBe(true)
      expect(run.results.map((result) => result.region)).toEqual(['eu-west-1', 'us-east-1'])
      const whole = await client.openResult(run.results[0]!.href)
      const text = await whole.text()
      const version = whole.header('etag')
      const rest = await client.openResult(run.results[0]!.href, { range: { fromByte: 100, version } })
      expect([rest.status, await rest.text()]).toEqual([206, text.slice(100)])
      const fallback = await client.openResult(client.resultHref(run.id, run.grids[0]!.id))
      expect(await fallback.text()).toBe(text)
      const page = await client.listRuns()
      expect(page.runs.map((listed) => listed.id)).toEqual([run.id])
      const repeated = await client.repeatRun(run.id)
      expect(repeated.status).toBe('queued')
      expect((await client.stopRun(repeated.id)).status).toBe('finished')
      expect((await client.pinRun(run.id)).id).toBe(run.id)
      expect(client.latestBody).toContain('"pinned":true')
      expect((await client.unpinRun(run.id)).id).toBe(run.id)
      expect(client.latestBody).not.toContain('"pinned"')
    })

    test('grids: create, show, refer to, terminate', async () => {
      const grid = await client.createGrid(GRID)
      expect(grid).toMatchObject({ status: 'queued', nodes: [], stopAfterMinutes: 10 })
      const started = await waitFor(() => client.showGrid(grid.id), 'started')
      expect(started.nodes.map((node) => node.state)).toEqual(['running', 'running'])
      const run = await client.createRun(makeRequest({ grids: [{ id: grid.id }] }))
      await waitFor(() => client.showRun(run.id), 'finished')
      expect(await client.terminateGrid(grid.id)).toMatchObject({ status: 'stopped' })
    })

    test('the account', async () => {
      const account = await client.account()
      // It is the caller's own token, and that is never read back.
      expect(account.users[0]?.authenticationToken).toBe('***')
      expect(account.credentials).toHaveLength(1)
    })

    test('paging by the links', async () => {
      for (let n = 0; n < 50; n++)
        await client.createRun(makeRequest({ durationSeconds: 1, grids: [{ ...GRID, nodeCount: 1 }] }))
      const first = await client.listRuns()
      expect(first.next).toBeDefined()
      const second = await client.listRuns(first.next)
      expect([first.runs.length + second.runs.length, second.next]).toEqual([first.total, undefined])
    })

    test('a rejection lists every problem', async () => {
      const wrong = { ...GRID, stopAfterMinutes: 9999, region: '../x' }
      await expect(client.createGrid(wrong)).rejects.toThrow(/region must be .*stop_after must be/)
      const overrideParameters = '-l /etc/passwd'
      await expect(client.createRun(makeRequest({ overrideParameters }))).rejects.toThrow(
        'is not -Jname=value'
      )
    })
  }
)
