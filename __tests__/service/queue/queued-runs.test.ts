import { afterEach, describe, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { cpSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { Queue } from '../../../src/service/queue/queue.js'
import type { EmbeddedService, ServiceOptions } from '../../../src/service/server.js'
import { createSurvivingPlaces, gridsWithNodes } from '../../support/surviving-place.js'
import { ManualClock } from '../../support/manual-clock.js'
import {
  createRun,
  createServices,
  formOf,
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
} from '../support.js'

const services = createServices()
afterEach(() => services.closeAll())

const REAL_TIME = { duration: '3600', override_parameters: '-Jrehearsal.realtime=true' }
const ENDED = ['finished', 'problem']
type Doc = Reply['json'] & { readonly queue_position: number | null }

function withQueue(
  maxNodes: number | undefined,
  { clock = new ManualClock(), ...options }: Partial<ServiceOptions> & { clock?: ManualClock } = {}
): Partial<ServiceOptions> {
  return {
    clock,
    ...options,
    queue: (placeOf) =>
      new Queue({ maxNodes, placeOf, cores: 2, clock, log: options.log ?? (() => undefined) })
  }
}

const long = (nodes = 1): FormPart[] => runForm(REAL_TIME, specFields({ instance_quantity: String(nodes) }))
const createThree = async (service: EmbeddedService): Promise<string[]> => [
  await createRun(service, long()),
  await createRun(service, long()),
  await createRun(service, long())
]
const show = async (service: EmbeddedService, id: string): Promise<Doc> =>
  (await get(service, `/runs/${id}`)).json as Doc
const isRunning = (service: EmbeddedService, id: string): Promise<Reply> =>
  waitForStatus(service, `/runs/${id}`, ['running'])
const stop = (service: EmbeddedService, id: string): Promise<Reply> => get(service, `/runs/${id}/stop`)

async function positionsOf(service: EmbeddedService, ids: readonly string[]): Promise<(number | null)[]> {
  return Promise.all(ids.map(async (id) => (await show(service, id)).queue_position))
}

/** A request for a run of which the second half comes when it is told to. */
function startUpload(service: EmbeddedService & { dataDir: string }): {
  begun: Promise<void>
  finish(): void
  abandon(): void
  reply: Promise<string>
} {
  const { headers, ...form } = formOf(long())
  const body = Buffer.from(form.body)
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  const head = [
    'POST /runs HTTP/1.1',
    `Host: ${new URL(service.url).host}`,
    `Authorization: Basic ${Buffer.from(`${service.token}:`).toString('base64')}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`
  ]
  const middle = body.length >> 1
  socket.on('error', () => undefined)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(body.subarray(0, middle))
  const uploads = (): number => readdirSync(join(service.dataDir, 'uploads')).length
  const before = uploads()
  return {
    begun: until(() => uploads() > before),
    finish: () => void socket.write(body.subarray(middle)),
    abandon: () => void socket.destroy(),
    reply: once(socket, 'data').then(([data]) => String(data))
  }
}

describe('runs on this machine', () => {
  test('have it for themselves: the others wait as queued, in order, and start one after the other', async () => {
    const service = await services.start(withQueue(undefined))
    const ids = await createThree(service)
    await isRunning(service, ids[0]!)
    expect(await positionsOf(service, ids)).toEqual([null, 1, 2])
    expect(await show(service, ids[1]!)).toMatchObject({ status: 'queued', started: null })
    await stop(service, ids[0]!)
    await isRunning(service, ids[1]!)
    expect(await positionsOf(service, ids)).toEqual([null, null, 1])
  })

  test('larger than it are refused before anything is stored, with both numbers', async () => {
    const service = await services.start(withQueue(undefined))
    const reply = await postForm(service, '/runs', long(3))
    expect(reply).toMatchObject({ status: 422 })
    expect(reply.json.error).toContain(
      "this run needs 3 nodes, and at most 2 fit on this machine: one for each core, unless max-nodes in the service's configuration allows more"
    )
    expect((await get(service, '/runs')).json.total).toBe(0)
  })

  test('with max-nodes, they share it up to that number, and both reports say so', async () => {
    const clock = new ManualClock()
    const service = await services.start(withQueue(3, { clock }))
    expect((await postForm(service, '/runs', long(4))).json.error).toContain(
      'needs 4 nodes, and at most 3 fit into this service (max-nodes)'
    )
    const first = await createRun(service, long(2))
    await isRunning(service, first)
    await clock.advance(60_000)
    const second = await createRun(service, long())
    await isRunning(service, second)
    const third = await createRun(service, long())
    expect(await positionsOf(service, [first, second, third])).toEqual([null, null, 1])
    await clock.advance(125_000)
    await stop(service, first)
    await isRunning(service, third)
    await clock.advance(10_000)
    await stop(service, second)
    await stop(service, third)
    const warnings = async (id: string): Promise<string> =>
      (await get(service, `/runs/${id}/report`)).json.warnings.join('\n')
    expect(await warnings(first)).toContain(`with run ${second} for 2 min 5 s`)
    expect(await warnings(first)).not.toContain(third)
    expect(await warnings(second)).toContain(`with run ${first} for 2 min 5 s`)
    expect(await warnings(second)).toContain(`with run ${third} for 10 s`)
    expect(await warnings(third)).toContain(`with run ${second} for 10 s`)
  })
})

test('a repeat of a run that is larger than what the service has by now is refused, and nothing is stored', async () => {
  const dataDir = services.folder()
  const large = await services.start(withQueue(3, { dataDir }))
  const id = await createRun(large, runForm({}, specFields({ instance_quantity: '3' })))
  await waitForStatus(large, `/runs/${id}`, ENDED)
  await large.close()
  const small = await services.start(withQueue(2, { dataDir }))
  const reply = await get(small, `/runs/${id}/repeat`)
  expect([reply.status, reply.json.error]).toEqual([
    422,
    'this run needs 3 nodes, and at most 2 fit into this service (max-nodes)'
  ])
  expect((await get(small, '/runs')).json.total).toBe(1)
})

describe('a waiting run', () => {
  test('that is stopped ends at once, and frees its place', async () => {
    const service = await services.start(withQueue(undefined))
    const ids = await createThree(service)
    await stop(service, ids[1]!)
    expect(await show(service, ids[1]!)).toMatchObject({
      status: 'finished',
      remote_errors: 'load lost: stopped by a caller before the run started',
      queue_position: null
    })
    expect(await positionsOf(service, ids)).toEqual([null, null, 1])
  })

  test('whose grid is deleted ends at once, and frees its place', async () => {
    const service = await services.start(withQueue(undefined))
    const first = await createRun(service, long())
    const second = await createRun(service, long())
    const third = await createRun(service, long())
    const grid = (await show(service, second))._embedded.grids[0]!
    expect(grid.status).toBe('queued')
    await send(service, 'DELETE', `/grids/${grid.uuid}`)
    const ended = await waitForStatus(service, `/runs/${second}`, ENDED)
    expect(ended.json).toMatchObject({
      status: 'problem',
      remote_errors: `Grid ${grid.uuid} was deleted before the run started`
    })
    expect(await positionsOf(service, [first, third])).toEqual([null, 1])
  })

  test('has its whole stop_after ahead, however long it waited and whatever the wall clock did', async () => {
    const clock = new ManualClock()
    const service = await services.start(withQueue(undefined, { clock }))
    const first = await createRun(service, runForm(REAL_TIME, specFields({ stop_after: '60' })))
    const second = await createRun(service, runForm(REAL_TIME, specFields({ stop_after: '10' })))
    await isRunning(service, first)
    await clock.advance(50 * 60_000)
    await stop(service, first)
    await isRunning(service, second)
    await clock.advance(10 * 60_000 - 1)
    expect((await show(service, second)).status).toBe('running')
    await clock.advance(1)
    await waitForStatus(service, `/runs/${second}`, ENDED)
  })
})

test.each([
  ['pods', 'east'],
  ['processes', 'us-east-1']
])('idle grids on %s count nothing; a run on one waits for nodes like any other', async (_, region) => {
  const folder = services.folder()
  const places = createSurvivingPlaces({ folder, regions: ['east'] })
  const service = await services.start(withQueue(2, region === 'east' ? { places } : {}))
  const wish = (quantity: string): FormPart[] =>
    SPEC.map(([key, value]): FormPart => [
      `grid[${key}]`,
      { region, instance_quantity: quantity }[key] ?? value
    ])
  const grids: string[] = []
  for (let count = 0; count < 3; count++) {
    const made = await postForm(service, '/grids', wish('2'))
    expect(made.json).toMatchObject({ status: 'queued', nodes: [] })
    grids.push(made.json.uuid)
    await waitForStatus(service, `/grids/${made.json.uuid}`, ['started'])
  }
  expect(gridsWithNodes(folder)).toEqual([])
  expect((await postForm(service, '/grids', wish('3'))).json.error).toBe(
    'this grid needs 3 nodes, and at most 2 fit into this service (max-nodes)'
  )
  const on = (id: string): Promise<string> => createRun(service, runForm(REAL_TIME, [['run[grids][]', id]]))
  const ids = [await on(grids[0]!), await on(grids[1]!), await on(grids[0]!)]
  await isRunning(service, ids[0]!)
  expect(await positionsOf(service, ids)).toEqual([null, 1, 2])
  await send(service, 'DELETE', `/grids/${grids[1]!}`)
  const lost = await waitForStatus(service, `/runs/${ids[1]!}`, ENDED)
  expect(lost.json.remote_errors).toBe(`Grid ${grids[1]!} was deleted before the run started`)
  await stop(service, ids[0]!)
  await isRunning(service, ids[2]!)
  expect((await get(service, `/grids/${grids[0]!}`)).json.status).toBe('started')
})

describe('a restart', () => {
  test('drains: nothing new, those at work go on and end, those that wait stay and go on waiting in their order', async () => {
    const dataDir = services.folder()
    const clock = new ManualClock()
    const service = await services.start(withQueue(undefined, { dataDir, clock }))
    const ids = await createThree(service)
    await isRunning(service, ids[0]!)
    const drained = service.drain(600_000)
    const refused = await postForm(service, '/runs', long())
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '15' } })
    expect(refused.json.error).toContain('about to restart')
    expect((await get(service, `/runs/${ids[0]!}/repeat`)).status).toBe(503)
    expect(
      (
        await postForm(
          service,
          '/grids',
          SPEC.map(([key, value]) => [`grid[${key}]`, value])
        )
      ).status
    ).toBe(503)
    await stop(service, ids[0]!)
    await drained
    expect(await positionsOf(service, ids)).toEqual([null, 1, 2])
    await service.close()

    const next = await services.start(withQueue(undefined, { dataDir, clock }))
    await isRunning(next, ids[1]!)
    expect(await positionsOf(next, ids)).toEqual([null, null, 1])
    expect((await get(next, '/runs')).json.total).toBe(3)
    await stop(next, ids[1]!)
    await isRunning(next, ids[2]!)
  })

  test('lets an upload arrive that is on its way, and its caller knows that nothing was created', async () => {
    const clock = new ManualClock()
    const service = await services.start(withQueue(undefined, { clock }))
    const upload = startUpload(service)
    await upload.begun
    const order: string[] = []
    const drained = service.drain(600_000).then(() => order.push('drained'))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(order).toEqual([])
    upload.finish()
    const reply = await upload.reply
    await drained
    expect(reply).toMatch(/^HTTP\/1.1 503 .*retry-after: 15.*about to restart/is)
    expect((await get(service, '/runs')).json.total).toBe(0)
  })

  test('waits for an upload no longer than for a run, and not at all for one that was given up', async () => {
    const clock = new ManualClock()
    const service = await services.start(withQueue(undefined, { clock }))
    const given = startUpload(service)
    await given.begun
    given.abandon()
    await until(() => readdirSync(join(service.dataDir, 'uploads')).length === 0)
    const slow = startUpload(service)
    await slow.begun
    const drained = service.drain(60_000)
    await clock.advance(60_000)
    await drained
    slow.abandon()
    await service.drain(60_000)
  })

  test('that cannot wait any longer ends what is at work, with its results', async () => {
    const dataDir = services.folder()
    const clock = new ManualClock()
    const service = await services.start(withQueue(undefined, { dataDir, clock }))
    const ids = [await createRun(service, long()), await createRun(service, long())]
    await isRunning(service, ids[0]!)
    await clock.advance(30_000)
    const drained = service.drain(60_000)
    await clock.advance(60_000)
    await drained
    expect((await show(service, ids[0]!)).status).toBe('running')
    await service.close()
    const next = await services.start(withQueue(undefined, { dataDir, clock }))
    expect(await show(next, ids[0]!)).toMatchObject({
      status: 'problem',
      remote_errors: 'The service was closed during this run.'
    })
    await isRunning(next, ids[1]!)
  })

  test('with fewer nodes ends what can never start any more, with the reason, and holds nobody else up', async () => {
    const [dataDir, folder] = [services.folder(), services.folder()]
    const places = createSurvivingPlaces({ folder, regions: ['local', 'east'] })
    const before = await services.start(withQueue(4, { dataDir, places }))
    const at = (region: string, nodes: number): FormPart[] =>
      specFields({ region, instance_quantity: String(nodes) })
    const atWork = await createRun(before, runForm(REAL_TIME, at('east', 4)))
    await isRunning(before, atWork)
    const large = await createRun(before, runForm(REAL_TIME, at('local', 3)))
    const small = await createRun(before, runForm(REAL_TIME, at('local', 2)))
    expect(await positionsOf(before, [large, small])).toEqual([1, 2])
    await before.close()

    const lines: string[] = []
    const log = (line: string): void => void lines.push(line)
    const next = await services.start(
      withQueue(2, { dataDir, log, places: createSurvivingPlaces({ folder, regions: ['local', 'east'] }) })
    )
    await isRunning(next, small)
    const why = 'needs 3 nodes, and at most 2 fit into this service (max-nodes)'
    const ended = await waitForStatus(next, `/runs/${large}`, ['problem'])
    expect(ended.json.remote_errors).toBe(`This run ${why}`)
    expect(lines).toContain(`run ${large} cannot continue: this run ${why}`)
  })

  test('after a crash, those that had not started wait again and those that had do not', async () => {
    const dataDir = services.folder()
    const killed = await services.start(withQueue(undefined, { dataDir }))
    const ids = await createThree(killed)
    await isRunning(killed, ids[0]!)
    // What a killed service leaves: its store as it was, nothing ended.
    const left = services.folder()
    cpSync(dataDir, left, { recursive: true })
    const next = await services.start(withQueue(undefined, { dataDir: left }))
    expect(await show(next, ids[0]!)).toMatchObject({
      status: 'problem',
      remote_errors: 'The service ended during this run.'
    })
    await isRunning(next, ids[1]!)
    expect(await positionsOf(next, ids)).toEqual([null, null, 1])
  })
})

test('where nothing limits the nodes, neither the log nor a report names a limit', async () => {
  const lines: string[] = []
  const clock = new ManualClock()
  const [log, whyNotNow] = [(line: string) => void lines.push(line), () => why]
  let why: string | undefined
  const service = await services.start({
    clock,
    queue: (placeOf) => new Queue({ maxNodes: Infinity, placeOf, cores: 2, clock, log, whyNotNow })
  })
  const first = await createRun(service, long(64))
  await isRunning(service, first)
  why = 'the disk is full'
  const second = await createRun(service, long())
  await until(() => lines.some((line) => line.startsWith(`run ${second} waits`)))
  expect(lines).toContain(`run ${second} waits in the queue, position 1: nodes at work: 64`)
  why = undefined
  await clock.advance(5000)
  await isRunning(service, second)
  await stop(service, first)
  const [warning] = (await get(service, `/runs/${first}/report`)).json.warnings
  expect(warning).toBe(
    `This run shared the cores of this machine with run ${second} for less than a second: its figures may be worse than those of a run alone`
  )
})

test('the log says who waits, and who starts after how long', async () => {
  const lines: string[] = []
  const clock = new ManualClock()
  const service = await services.start(withQueue(2, { clock, log: (line) => lines.push(line) }))
  const first = await createRun(service, long(2))
  const second = await createRun(service, long(2))
  await isRunning(service, first)
  await clock.advance(65_000)
  await stop(service, first)
  await isRunning(service, second)
  await until(() => lines.some((line) => line.includes('starts after')))
  expect(lines).toContain(`run ${second} waits in the queue, position 1: nodes at work: 2 of at most 2`)
  expect(lines).toContain(`run ${second} starts after 65 s in the queue`)
})

test.each([
  ['back', -5 * 3_600_000],
  ['forward', 5 * 3_600_000]
])('the wall clock jumps %s while runs wait and run: order, limits and lengths stay', async (_, jumpMs) => {
  const timers = new ManualClock()
  let offsetMs = 0
  const clock = {
    now: () => timers.now() + offsetMs,
    steady: () => timers.now(),
    after: (delayMs: number, act: () => void) => timers.after(delayMs, act),
    sleep: (ms: number, signal?: AbortSignal) => timers.sleep(ms, signal)
  }
  const lines: string[] = []
  const log = (line: string): number => lines.push(line)
  const service = await services.start({
    clock,
    queue: (placeOf) => new Queue({ maxNodes: 1, placeOf, cores: 2, clock, log })
  })
  const ids = await createThree(service)
  await isRunning(service, ids[0]!)
  await timers.advance(60_000)
  offsetMs = jumpMs
  await timers.advance(60_000)
  expect(await positionsOf(service, ids)).toEqual([null, 1, 2])
  expect((await show(service, ids[0]!)).status).toBe('running')
  const stopped = (await stop(service, ids[0]!)).json
  expect(Date.parse(stopped.stopped)).toBeGreaterThanOrEqual(Date.parse(stopped.started))
  await isRunning(service, ids[1]!)
  expect(await positionsOf(service, ids)).toEqual([null, null, 1])
  expect(lines).toContain(`run ${ids[1]!} starts after 2 min in the queue`)
  // Its ten minutes are its own.
  await timers.advance(10 * 60_000 - 1)
  expect((await show(service, ids[1]!)).status).toBe('running')
  await timers.advance(1)
  await waitForStatus(service, `/runs/${ids[1]!}`, ENDED)
})
