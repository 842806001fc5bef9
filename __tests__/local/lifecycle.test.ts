import { afterEach, describe, expect, test } from '@jest/globals'
import type { Service } from '../../src/local/server.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  ManualClock,
  postForm,
  runForm,
  send,
  SPEC,
  specFields,
  waitForStatus
} from './support.js'

const services = createServices()
afterEach(() => services.closeAll())

const MINUTE_MS = 60_000
const REAL_TIME = { duration: '3600', override_parameters: '-Jrehearsal.realtime=true' }

async function startGrid(service: Service, overrides: Record<string, string> = {}): Promise<string> {
  const parts = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, overrides[key] ?? value])
  const id = (await postForm(service, '/grids', parts)).json.uuid
  await waitForStatus(service, `/grids/${id}`, ['started'])
  return id
}

const statusOf = async (service: Service, path: string): Promise<string> =>
  (await get(service, path)).json.status
const refer = (...ids: string[]): FormPart[] => ids.map((id) => ['run[grids][][uuid]', id])

describe('stop_after', () => {
  test('a grid ends when its minutes are over, not before', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await startGrid(service, { stop_after: '3' })
    clock.advance(3 * MINUTE_MS - 1)
    expect(await statusOf(service, `/grids/${id}`)).toBe('started')
    clock.advance(1)
    expect(await statusOf(service, `/grids/${id}`)).toBe('stopped')
  })

  test('what runs on the grid ends with it, and what was measured is kept', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await createRun(service, runForm(REAL_TIME, specFields({ stop_after: '2' })))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    clock.advance(MINUTE_MS)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await statusOf(service, `/runs/${id}`)).toBe('running')
    clock.advance(MINUTE_MS)
    const run = await waitForStatus(service, `/runs/${id}`, ['finished'])
    expect(Date.parse(run.json.stopped) - Date.parse(run.json.started)).toBe(2 * MINUTE_MS)
    const report = await get(service, `/runs/${id}/report`)
    expect(report.json.summary).toContain(
      `Grid ${run.json._embedded.grids[0]!.uuid} ended before the run did.`
    )
    expect(report.json.mean_throughput).toBeGreaterThan(0)
  })

  test('a terminated grid has no clock left', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await startGrid(service)
    await send(service, 'DELETE', `/grids/${id}`)
    clock.advance(60 * MINUTE_MS)
    expect(service.lines).toEqual([])
  })
})

describe('grids of a run', () => {
  test('those made for it end with it, those referred to stay', async () => {
    const service = await services.start()
    const [first, second] = [await startGrid(service), await startGrid(service, { region: 'eu-west-1' })]
    const run = await finishRun(service, runForm({}, refer(first, second)))
    expect(run.json._embedded.results.map((result: { region: string }) => result.region)).toEqual([
      'us-east-1',
      'eu-west-1'
    ])
    expect(await statusOf(service, `/grids/${first}`)).toBe('started')
    expect(run.json._embedded.grids[0]!.batch_id).toBeUndefined()
    const own = await finishRun(service)
    expect(await statusOf(service, `/grids/${own.json._embedded.grids[0]!.uuid}`)).toBe('stopped')
  })

  test('a grid that is not started cannot be referred to, nor repeated on', async () => {
    const service = await services.start()
    const id = await startGrid(service)
    const run = await finishRun(service, runForm({}, refer(id)))
    await send(service, 'DELETE', `/grids/${id}`)
    const reply = await postForm(service, '/runs', runForm({}, refer(id)))
    expect([reply.status, reply.json.error]).toEqual([422, `grid ${id} is stopped, not started`])
    expect((await get(service, `/runs/${run.json.uuid}/repeat`)).status).toBe(422)
  })

  test('terminating a grid ends its part of the run', async () => {
    const service = await services.start()
    const grid = await startGrid(service)
    const id = await createRun(service, runForm(REAL_TIME, refer(grid)))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    expect((await send(service, 'DELETE', `/grids/${grid}`)).json.status).toBe('stopped')
    await waitForStatus(service, `/runs/${id}`, ['finished'])
  })
})

describe('closing', () => {
  test('a run under way is a problem afterwards, and the folder can be opened again', async () => {
    const service = await services.start()
    const id = await createRun(service, runForm(REAL_TIME))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    await service.close()
    const next = await services.start({ dataDir: service.dataDir })
    const run = await get(next, `/runs/${id}`)
    expect(run.json).toMatchObject({
      status: 'problem',
      remote_errors: expect.stringContaining('was closed')
    })
    expect(run.json._embedded.grids[0]!.status).toBe('stopped')
  })
})

describe('the threads of nodes', () => {
  test.each([
    { infrastructure: 'demand', quantity: '2', threads: '5', users: '5' },
    { infrastructure: 'demand', quantity: '3', threads: '2', users: '2' },
    { infrastructure: 'hosted', quantity: '2', threads: '5', users: '10' }
  ])('$threads on $quantity nodes of a $infrastructure grid make $users users', async (row) => {
    const service = await services.start()
    const grid = specFields({ infrastructure: row.infrastructure, instance_quantity: row.quantity })
    const run = await finishRun(service, runForm({ threads: row.threads, duration: '5' }, grid))
    const report = await get(service, `/runs/${run.json.uuid}/report`)
    expect(report.json.summary).toContain(`Up to ${row.users} users across 1 grid`)
  })
})

describe('apdex', () => {
  test.each([
    { parameters: '-Jrehearsal.mean=1 -Jrehearsal.errors=0', apdex: '1.0 [500]' },
    { parameters: '-Jrehearsal.mean=1 -Jrehearsal.errors=100', apdex: '0.0 [500]' },
    {
      parameters:
        '-Jrehearsal.mean=300 -Jrehearsal.errors=0 -Jjmeter.reportgenerator.apdex_satisfied_threshold=100',
      apdex: expect.stringMatching(/^0\.\d+ \[100\]$/)
    }
  ])('$parameters', async ({ parameters, apdex }) => {
    const service = await services.start()
    expect((await finishRun(service, runForm({ override_parameters: parameters }))).json.apdex).toEqual(apdex)
  })
})

describe('rehearsals', () => {
  const csvOf = async (seed: number): Promise<string> => {
    const service = await services.start({ seed, clock: new ManualClock() })
    const run = await finishRun(service)
    return (await get(service, `/runs/${run.json.uuid}/result.csv`)).text
  }

  test('the same seed makes the same samples, another one others', async () => {
    const [first, same, other] = [await csvOf(7), await csvOf(7), await csvOf(8)]
    expect(first.split('\n').length).toBeGreaterThan(100)
    expect(same).toBe(first)
    expect(other).not.toBe(first)
  })
})
