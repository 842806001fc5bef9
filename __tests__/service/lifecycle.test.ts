import { afterEach, describe, expect, test } from '@jest/globals'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { reading } from '../../src/service/plans/ask.js'
import type { Service } from '../../src/service/server.js'
import { visit, WITH_PAGES } from './pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  postForm,
  type Reply,
  runForm,
  send,
  SPEC,
  specFields,
  until,
  waitForStatus
} from './support.js'
import { ManualClock } from '../support/manual-clock.js'

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
/** Resolves when the nodes of a run have begun to write samples. */
async function hasBegun(service: { dataDir: string }, id: string, nodes = 1): Promise<void> {
  const folder = join(service.dataDir, 'runs', id, 'nodes')
  const files = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.csv'))
  await until(() => existsSync(folder) && files().length === nodes)
}

/** Below the header. */
const rowsOf = ({ text }: Reply): number => text.trimEnd().split('\n').length - 1
const refer = (...ids: string[]): FormPart[] => ids.map((id) => ['run[grids][][uuid]', id])

describe('stop_after', () => {
  test('a grid ends when its minutes are up, not before', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await startGrid(service, { stop_after: '3' })
    await clock.advance(3 * MINUTE_MS - 1)
    expect(await statusOf(service, `/grids/${id}`)).toBe('started')
    await clock.advance(1)
    expect(await statusOf(service, `/grids/${id}`)).toBe('stopped')
  })

  test('the log counts its minutes', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await startGrid(service, { stop_after: '1' })
    await clock.advance(MINUTE_MS)
    expect(service.lines.join('\n')).toContain(`grid ${id} stops: its time of 1 minute is up`)
  })

  test('what runs on the grid ends with it, and what was measured is kept', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await createRun(service, runForm(REAL_TIME, specFields({ stop_after: '2' })))
    await hasBegun(service, id)
    await clock.advance(MINUTE_MS)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await statusOf(service, `/runs/${id}`)).toBe('running')
    await clock.advance(MINUTE_MS)
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    const grid = run.json._embedded.grids[0]!.uuid
    const reason = `Grid ${grid} was cut off after 2 min by its stop_after of 2 min`
    expect(run.json).toMatchObject({ status: 'problem', remote_errors: reason })
    expect(Date.parse(run.json.stopped) - Date.parse(run.json.started)).toBe(2 * MINUTE_MS)
    const report = await get(service, `/runs/${id}/report`)
    expect(report.json.summary).toContain(`The run failed: ${reason}. `)
    expect(report.json.mean_throughput).toBeGreaterThan(0)
    expect(rowsOf(await get(service, `/runs/${id}/result.csv?grid_id=${grid}`))).toBeGreaterThan(0)
  })

  test('the time is that of the run, where the grid was there before it', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const grid = await startGrid(service, { stop_after: '1' })
    await clock.advance(48_000)
    const id = await createRun(service, runForm(REAL_TIME, refer(grid)))
    await hasBegun(service, id)
    await clock.advance(12_000)
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json).toMatchObject({
      status: 'problem',
      remote_errors: `Grid ${grid} was cut off after 12 s by its stop_after of 1 min`
    })
  })

  test('a run on two grids of which one is cut off goes on with the other, and is a problem at its end', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const grids = [
      ...specFields({ stop_after: '1' }),
      ...specFields({ stop_after: '9', region: 'eu-west-1' })
    ]
    const id = await createRun(service, runForm({ ...REAL_TIME, duration: '120' }, grids))
    await hasBegun(service, id, 2)
    await clock.advance(MINUTE_MS)
    expect(await statusOf(service, `/runs/${id}`)).toBe('running')
    await clock.advance(MINUTE_MS)
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toMatch(/^Grid \w+ was cut off after 60 s by its stop_after of 1 min$/)
    for (const { uuid } of run.json._embedded.grids)
      expect(rowsOf(await get(service, `/runs/${id}/result.csv?grid_id=${uuid}`))).toBeGreaterThan(0)
  })

  test('a terminated grid has no clock left', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const id = await startGrid(service)
    await send(service, 'DELETE', `/grids/${id}`)
    await clock.advance(60 * MINUTE_MS)
    expect(service.lines).toEqual([])
  })
})

describe('grids of a run', () => {
  test('those made for it and those referred to stay started after it', async () => {
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
    const grid = own.json._embedded.grids[0]!
    expect(grid).toMatchObject({ status: 'started', batch_id: own.json.batch_id })
    expect(await statusOf(service, `/grids/${grid.uuid}`)).toBe('started')
  })

  test('one made for a run serves others until its own minutes are up, each with rows of its own', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const first = await createRun(service, runForm({ duration: '5' }, specFields({ stop_after: '3' })))
    const [grid] = (await waitForStatus(service, `/runs/${first}`, ['finished'])).json._embedded.grids
    const csv = async (id: string): Promise<string> =>
      (await get(service, `/runs/${id}/result.csv?grid_id=${grid!.uuid}`)).text
    const before = await csv(first)
    await clock.advance(2 * MINUTE_MS)
    const second = await createRun(service, runForm({ duration: '5' }, refer(grid!.uuid)))
    const run = await waitForStatus(service, `/runs/${second}`, ['finished'])
    expect(run.json._embedded.grids.map(({ uuid }) => uuid)).toEqual([grid!.uuid])
    expect(run.json._embedded.grids[0]!.batch_id).not.toBe(run.json.batch_id)
    const rows = (await csv(second)).trimEnd().split('\n').slice(1)
    expect(rows.length).toBeGreaterThan(0)
    for (const row of rows)
      expect(Number(row.split(',')[0])).toBeGreaterThanOrEqual(Date.parse(run.json.started))
    expect(await csv(first)).toBe(before)
    await clock.advance(MINUTE_MS - 1)
    expect(await statusOf(service, `/grids/${grid!.uuid}`)).toBe('started')
    await clock.advance(1)
    expect(await statusOf(service, `/grids/${grid!.uuid}`)).toBe('stopped')
  })

  test('two runs on one grid at the same time have their own rows, and both end if it is deleted', async () => {
    const service = await services.start()
    const grid = await startGrid(service)
    const ids = [
      await createRun(service, runForm(REAL_TIME, refer(grid))),
      await createRun(service, runForm(REAL_TIME, refer(grid)))
    ]
    for (const id of ids) await hasBegun(service, id)
    await send(service, 'DELETE', `/grids/${grid}`)
    for (const id of ids) {
      const { json } = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
      expect(json).toMatchObject({ status: 'problem' })
      expect(json.remote_errors).toContain(`Grid ${grid} was deleted`)
    }
  })

  test('one whose run is over before it has started never starts', async () => {
    const service = await services.start()
    const asBefore = { ...reading }
    // Its source is being read.
    Object.assign(reading, { url: new URL('./plans/never-answers.mjs', import.meta.url), limitMs: 5000 })
    try {
      const plan = { name: 'run_files[]', fileName: 'Plan.java', content: 'class Plan {}' }
      const id = await createRun(service, [['run[tool]', 'gatling'], ...specFields(), plan])
      await get(service, `/runs/${id}/stop`)
      const { json } = await get(service, `/runs/${id}`)
      expect([json.started, json._embedded.grids[0]!.status]).toEqual([null, 'stopped'])
    } finally {
      Object.assign(reading, asBefore)
    }
  })

  test('a repeat gets new grids for those made for the run, and the same of the others', async () => {
    const service = await services.start()
    const own = (await finishRun(service)).json
    const repeat = (await get(service, `/runs/${own.uuid}/repeat`)).json.uuid
    const [grid] = (await waitForStatus(service, `/runs/${repeat}`, ['finished'])).json._embedded.grids
    expect(grid!.uuid).not.toBe(own._embedded.grids[0]!.uuid)
    const other = (await finishRun(service, runForm({}, refer(grid!.uuid)))).json.uuid
    const again = (await get(service, `/runs/${other}/repeat`)).json.uuid
    const { json } = await waitForStatus(service, `/runs/${again}`, ['finished'])
    expect(json._embedded.grids.map(({ uuid }) => uuid)).toEqual([grid!.uuid])
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

  test('deleting a grid ends its part of the run, which did not finish then', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const grid = await startGrid(service)
    const id = await createRun(service, runForm(REAL_TIME, refer(grid)))
    await hasBegun(service, id)
    await clock.advance(5000)
    expect((await send(service, 'DELETE', `/grids/${grid}`)).json.status).toBe('stopped')
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json).toMatchObject({
      status: 'problem',
      remote_errors: `Grid ${grid} was deleted after 5 s`
    })
    expect(rowsOf(await get(service, `/runs/${id}/result.csv`))).toBeGreaterThan(0)
  })

  test('deleting it after the run has ended changes nothing', async () => {
    const service = await services.start()
    const grid = await startGrid(service)
    const { uuid } = (await finishRun(service, runForm({}, refer(grid)))).json
    await send(service, 'DELETE', `/grids/${grid}`)
    expect((await get(service, `/runs/${uuid}`)).json).toMatchObject({
      status: 'finished',
      remote_errors: null
    })
  })
})

describe('a stop', () => {
  const STOPPED = 'load lost: stopped by a caller after 12 s'

  async function startAndWait(): Promise<{ service: Service; id: string }> {
    const clock = new ManualClock()
    const service = await services.start({ clock, ...WITH_PAGES })
    const id = await createRun(service, runForm(REAL_TIME))
    await hasBegun(service, id)
    await clock.advance(12_000)
    return { service, id }
  }

  test('by the API leaves the run finished, and is noted as a loss of load', async () => {
    const { service, id } = await startAndWait()
    const reply = await get(service, `/runs/${id}/stop`)
    expect(reply.json).toMatchObject({ status: 'finished', remote_errors: STOPPED })
    const report = await get(service, `/runs/${id}/report`)
    expect(report.json.summary).toMatch(/^(?:Rehearsal[^.]*\. )?Stopped after 12 s\. /)
    expect(rowsOf(await get(service, `/runs/${id}/result.csv`))).toBeGreaterThan(0)
  })

  test("by the page's button is noted too", async () => {
    const { service, id } = await startAndWait()
    const cookie = await visit(service)
    const headers = { cookie, origin: service.url }
    expect((await send(service, 'POST', `/runs/${id}/stop`, { token: null, headers })).status).toBe(204)
    expect((await get(service, `/runs/${id}`)).json).toMatchObject({
      status: 'finished',
      remote_errors: STOPPED
    })
  })

  test('after the end changes nothing', async () => {
    const service = await services.start()
    const { uuid } = (await finishRun(service)).json
    expect((await get(service, `/runs/${uuid}/stop`)).json).toMatchObject({
      status: 'finished',
      remote_errors: null
    })
  })
})

describe('closing', () => {
  test('a run in progress is a problem afterwards, and the folder can be opened again', async () => {
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
    // It has nothing to do with this run's end: it is there until its minutes are up.
    expect(run.json._embedded.grids[0]!.status).toBe('started')
  })

  test('grids go on with the next service, with the minutes that they have left', async () => {
    const clock = new ManualClock()
    const service = await services.start({ clock })
    const [idle, deleted] = [await startGrid(service, { stop_after: '5' }), await startGrid(service)]
    await send(service, 'DELETE', `/grids/${deleted}`)
    const [used] = (await finishRun(service, runForm({}, specFields({ stop_after: '9' })))).json._embedded
      .grids
    await clock.advance(2 * MINUTE_MS)
    await service.close()
    await clock.advance(2 * MINUTE_MS)
    const next = await services.start({ dataDir: service.dataDir, clock })
    expect(await statusOf(next, `/grids/${deleted}`)).toBe('stopped')
    await clock.advance(MINUTE_MS - 1)
    expect(await statusOf(next, `/grids/${idle}`)).toBe('started')
    await clock.advance(1)
    expect(await statusOf(next, `/grids/${idle}`)).toBe('stopped')
    const again = await createRun(next, runForm({ duration: '5' }, refer(used!.uuid)))
    await waitForStatus(next, `/runs/${again}`, ['finished'])
    await next.close()
    await clock.advance(4 * MINUTE_MS)
    const last = await services.start({ dataDir: service.dataDir, clock })
    await clock.advance(0)
    expect(await statusOf(last, `/grids/${used!.uuid}`)).toBe('stopped')
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
