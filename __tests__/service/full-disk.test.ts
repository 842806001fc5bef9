import { nodeOf } from './nodes/node-of.js'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createRehearsalEngine } from '../../src/service/engines/rehearsal.js'
import { openStore } from '../../src/service/serve.js'
import type { SqliteStore } from '../../src/service/store/sqlite-store.js'
import type { Store } from '../../src/service/store/store.js'
import { readStartTime } from '../../src/service/nodes/machine/processes.js'
import { ToolRegistry } from '../../src/service/nodes/machine/tool-registry.js'
import { mountSmallDisk, type SmallDisk } from '../support/small-disk.js'
import { runEndlessly, writeJMeter, writeSample } from './stand-in.js'
import {
  createFolders,
  createRun,
  createServices,
  type FormPart,
  get,
  PLAN,
  postForm,
  readGrid,
  readRun,
  runForm,
  send,
  SPEC,
  specFields,
  until,
  waitForStatus
} from './support.js'
import { ManualClock } from '../support/manual-clock.js'

type Started = Awaited<ReturnType<ReturnType<typeof createServices>['start']>>

const folders = createFolders()
const services = createServices()
afterEach(async () => {
  await services.closeAll()
  folders.remove()
})

const isAlive = (pid: number): boolean => readStartTime(pid) !== undefined
const MINUTE_MS = 60_000
const CANNOT_WRITE = "the service's state cannot be written ("

async function startTool(
  lines: readonly string[],
  dataDir = folders.create()
): Promise<{ service: Started; clock: ManualClock }> {
  const clock = new ManualClock()
  const home = writeJMeter(folders.create(), lines)
  const env = { PATH: process.env.PATH, JMETER_HOME: home }
  return { clock, service: await services.start({ engine: 'real', env, clock, dataDir }) }
}

async function readPids(pidFile: string): Promise<number[]> {
  await until(() => existsSync(pidFile))
  return readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
}

/** Every write fails from now on, as on a full disk. */
function block(store: Store): { free(): void } {
  const { database } = store as SqliteStore
  database.exec('PRAGMA query_only = ON')
  return { free: () => database.exec('PRAGMA query_only = OFF') }
}

describe('state that cannot be written', () => {
  test('still changes when stop_after is reached, and is written when that works again', async () => {
    const pidFile = join(folders.create(), 'pids')
    const { service, clock } = await startTool(runEndlessly(pidFile))
    const id = await createRun(service, runForm({}, specFields({ stop_after: '2' })))
    const pids = await readPids(pidFile)
    const grid = (await get(service, `/runs/${id}`)).json._embedded.grids[0]!.uuid
    const written = (): string[] => [
      readRun(service.dataDir, id).status,
      readGrid(service.dataDir, grid).status
    ]
    const blocked = block(service.store)
    await clock.advance(2 * MINUTE_MS)
    const run = await waitForStatus(service, `/runs/${id}`, ['problem'])
    expect(run.json.remote_errors).toContain('was cut off after 2 min')
    expect((await get(service, `/grids/${grid}`)).json.status).toBe('stopped')
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(written()).toEqual(['running', 'started'])
    // Once, however many changes there were.
    expect(service.lines.filter((line) => line.startsWith(CANNOT_WRITE))).toHaveLength(1)
    blocked.free()
    await clock.advance(5000)
    expect(written()).toEqual(['problem', 'stopped'])
    expect(service.lines).toContain("the service's state can be written again")
  })

  test('is written with the next change of anything, or at the end', async () => {
    const { service } = await startTool([writeSample('home')])
    const [first, second] = [await startGrid(service), await startGrid(service)]
    const written = (): string[] => [first, second].map((grid) => readGrid(service.dataDir, grid).status)
    const blocked = block(service.store)
    await send(service, 'DELETE', `/grids/${first}`)
    blocked.free()
    expect(written()).toEqual(['started', 'started'])
    await startGrid(service)
    expect(written()).toEqual(['stopped', 'started'])
    const again = block(service.store)
    await send(service, 'DELETE', `/grids/${second}`)
    again.free()
    expect(written()).toEqual(['stopped', 'started'])
    await service.close()
    expect(written()).toEqual(['stopped', 'stopped'])
  })

  test('is not claimed by a reply: what was done is done, and the reply says that it may be forgotten', async () => {
    const pidFile = join(folders.create(), 'pids')
    const { service } = await startTool(runEndlessly(pidFile))
    const grid = await startGrid(service)
    const id = await createRun(service)
    const pids = await readPids(pidFile)
    const blocked = block(service.store)
    const replies = [
      await get(service, `/runs/${id}/stop`),
      await send(service, 'DELETE', `/grids/${grid}`),
      await get(service, `/runs/${id}/repeat`),
      await postForm(service, '/runs', runForm())
    ]
    const done = /^it was done, but could not be recorded yet: the service cannot use its data folder \(/
    const refused =
      /^the run was not created: the service cannot use its data folder \(.*read-only\); try again later/
    expect(replies.map(({ status, json }) => [status, json.error])).toEqual([
      [503, expect.stringMatching(done)],
      [503, expect.stringMatching(done)],
      [503, expect.stringMatching(refused)],
      [503, expect.stringMatching(refused)]
    ])
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(readdirSync(join(service.dataDir, 'runs'))).toEqual([id])
    expect((await get(service, '/runs')).json.total).toBe(1)
    blocked.free()
    expect((await get(service, `/runs/${id}/stop`)).json.status).toBe('finished')
    expect(readRun(service.dataDir, id).status).toBe('finished')
  })

  test('keeps a service from its start, but not from ending the tools of the last one', async () => {
    const dataDir = folders.create()
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    const pid = child.pid!
    const store = openStore(dataDir, { log: () => undefined })
    const env = { XDG_STATE_HOME: folders.create() }
    ToolRegistry.open(env, () => undefined).note({ pid, startTime: readStartTime(pid)! })
    const tools = join(env.XDG_STATE_HOME, 'loadgate', 'tools')
    const note = join(tools, readdirSync(tools)[0]!)
    const noted = JSON.parse(readFileSync(note, 'utf8')) as { owner: object }
    writeFileSync(note, JSON.stringify({ ...noted, owner: { ...noted.owner, startTime: 'of another' } }))
    block(store)
    await expect(services.start({ dataDir, store, env })).rejects.toThrow(
      /cannot be used: it is read-only; make it writable, or choose another folder/
    )
    await until(() => child.signalCode !== null)
    store.close()
  })

  test('does not keep a tool from being ended', async () => {
    const pidFile = join(folders.create(), 'pids')
    const { service } = await startTool(runEndlessly(pidFile))
    const id = await createRun(service)
    const pids = await readPids(pidFile)
    const blocked = block(service.store)
    await get(service, `/runs/${id}/stop`)
    expect((await get(service, `/runs/${id}`)).json.status).toBe('finished')
    expect(pids.map(isAlive)).toEqual([false, false])
    blocked.free()
  })
})

describe('results that cannot be written', () => {
  const TWO_NODES = runForm({}, specFields({ instance_quantity: '2' }))
  const testOnLinux = process.platform === 'linux' ? test : test.skip

  /** A run of two nodes whose result finds a full disk. */
  async function finishWithoutRoom(): Promise<{ service: Started; id: string; grid: string }> {
    const goOn = join(folders.create(), 'go-on')
    const { service } = await startTool([
      writeSample('home'),
      `while [ ! -e '${goOn}' ]; do sleep 0.05; done`
    ])
    const id = await createRun(service, TWO_NODES)
    const grid = (await get(service, `/runs/${id}`)).json._embedded.grids[0]!.uuid
    const results = join(service.dataDir, 'runs', id, 'results')
    mkdirSync(results, { recursive: true })
    symlinkSync('/dev/full', join(results, `${grid}.csv.part`))
    writeFileSync(goOn, '')
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toMatch(/^The results could not be written: .*ENOSPC: .*samples are kept/)
    expect(
      readdirSync(join(service.dataDir, 'runs', id, 'nodes')).filter((name) => name.endsWith('csv'))
    ).toEqual([`${grid}-1.csv`, `${grid}-2.csv`])
    return { service, id, grid }
  }

  testOnLinux('are written when they are requested and there is space', async () => {
    const { service, id, grid } = await finishWithoutRoom()
    const results = join(service.dataDir, 'runs', id, 'results')
    symlinkSync('/dev/full', join(results, `${grid}.csv.part`))
    const refused = await get(service, `/runs/${id}/result.csv`)
    expect([refused.status, refused.json.error]).toEqual([503, expect.stringContaining('ENOSPC')])
    const replies = await Promise.all(
      ['result.csv', 'result.csv', 'report'].map((name) => get(service, `/runs/${id}/${name}`))
    )
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(replies[0]!.text.match(/,home,/g)).toHaveLength(2)
    expect(replies[2]!.json.summary).toContain('2 transactions passed')
    expect((await get(service, `/runs/${id}`)).json).toMatchObject({ status: 'problem', apdex: '1.0 [500]' })
    expect(existsSync(join(service.dataDir, 'runs', id, 'nodes'))).toBe(false)
  })

  testOnLinux('are written at the next start', async () => {
    const { service, id } = await finishWithoutRoom()
    await service.close()
    const next = await services.start({ dataDir: service.dataDir })
    expect((await get(next, `/runs/${id}`)).json).toMatchObject({ status: 'problem', apdex: '1.0 [500]' })
    expect((await get(next, `/runs/${id}/result.csv`)).text.match(/,home,/g)).toHaveLength(2)
  })
})

describe('samples that cannot be written', () => {
  const testOnLinux = process.platform === 'linux' ? test : test.skip
  testOnLinux.each(['true', 'false'])('end a rehearsal with a problem, real time: %s', async (value) => {
    const clock = new ManualClock()
    const planFile = join(folders.create(), 'plan.jmx')
    writeFileSync(planFile, PLAN)
    const order = {
      ...{ planFile, samplesFile: '/dev/full', logFile: '', nodeName: 'node', mark: '00', hosts: [] },
      ...{ threads: 50, rampupSec: null, durationSec: 600 },
      node: nodeOf({ run: () => Promise.reject(new Error('a rehearsal starts no process')) }),
      whole: { nodes: 1, threads: null },
      place: { region: 'local', gridIndex: 0, nodeIndex: 0, ordinal: 0 },
      properties: [{ kind: 'J' as const, name: 'rehearsal.realtime', value }]
    }
    const { signal } = new AbortController()
    const plan = await createRehearsalEngine({ seed: 1, clock }).prepare({
      ...order,
      ...{ tool: 'jmeter', fileNames: ['plan.jmx'], uploadDir: dirname(planFile), buildDir: '', signal },
      nodes: () => Promise.resolve([order.node])
    })
    const node = plan.runNode(order, signal)
    const advance = setInterval(() => void clock.advance(1000), 5)
    await expect(node)
      .rejects.toThrow('ENOSPC')
      .finally(() => clearInterval(advance))
  })
})

const probe = folders.create()
const probed = mountSmallDisk(probe)
probed?.unmount()
/** Where it is required, a test that cannot mount a disk fails instead. */
const lacksMount = probed === undefined && process.env.LOADGATE_REQUIRE_MOUNT === undefined
const describeOnDisk = lacksMount ? describe.skip : describe
const note = lacksMount ? ' (skipped: this process may not mount one)' : ''

describeOnDisk(`a disk that is really full${note}`, () => {
  let disk: SmallDisk
  let dataDir: string
  beforeEach(() => {
    dataDir = folders.create()
    const mounted = mountSmallDisk(dataDir)
    if (mounted === undefined) throw new Error('no disk can be mounted here; it needs root')
    disk = mounted
  })
  afterEach(async () => {
    await services.closeAll()
    disk.unmount()
  })

  test('when stop_after is reached: the tool ends, the service answers, and its state is written later', async () => {
    const pidFile = join(folders.create(), 'pids')
    const { service, clock } = await startTool(runEndlessly(pidFile), dataDir)
    const id = await createRun(service, runForm({}, specFields({ stop_after: '1' })))
    const pids = await readPids(pidFile)
    disk.fill()
    await clock.advance(MINUTE_MS)
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toContain('was cut off after 60 s')
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(service.lines.filter((line) => line.startsWith(CANNOT_WRITE))).not.toEqual([])
    // The results have been moved, which takes no space.
    expect((await get(service, `/runs/${id}/result.csv`)).text).toContain(',endless,')
    disk.free()
    await clock.advance(5000)
    expect(readRun(dataDir, id).status).toBe('problem')
  })

  test("at a run's end: it does not stay running, and nothing that was measured is lost", async () => {
    const goOn = join(folders.create(), 'go-on')
    const rows = `i=0; while [ $i -lt 400 ]; do ${writeSample('home')}; i=$((i+1)); done`
    const { service } = await startTool([rows, `while [ ! -e '${goOn}' ]; do sleep 0.05; done`], dataDir)
    const id = await createRun(service, runForm({}, specFields({ instance_quantity: '2' })))
    await until(() => countRows(join(dataDir, 'runs', id, 'nodes')) === 800)
    disk.fill()
    writeFileSync(goOn, '')
    const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toMatch(/could not be written: .*ENOSPC/)
    disk.free()
    expect((await get(service, `/runs/${id}/result.csv`)).text.match(/,home,/g)).toHaveLength(800)
    expect(readRun(dataDir, id).status).toBe('problem')
  })

  test('when a run is created: it is rejected with a message, and nothing is left of it', async () => {
    const { service } = await startTool([writeSample('home')], dataDir)
    disk.fill()
    const reply = await postForm(service, '/runs', runForm())
    expect([reply.status, reply.json.error]).toEqual([507, expect.stringMatching(NO_ROOM)])
    disk.free()
    expect(readdirSync(join(dataDir, 'runs'))).toEqual([])
    expect(readdirSync(join(dataDir, 'uploads'))).toEqual([])
    const id = await createRun(service)
    await waitForStatus(service, `/runs/${id}`, ['finished'])
  })
})

const GRID = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, value])
const NO_ROOM = /^(.*: )?the service's disk is full; free up space there and try again$/

describeOnDisk(`every route on a full disk${note}`, () => {
  test('does what it is asked to, or says in plain words that there is no room', async () => {
    const dataDir = folders.create()
    const disk = mountSmallDisk(dataDir)!
    try {
      const { service } = await startTool([writeSample('home')], dataDir)
      const id = await createRun(service, runForm({}, specFields(), `${PLAN}${' '.repeat(200_000)}`))
      await waitForStatus(service, `/runs/${id}`, ['finished'])
      const grid = await startGrid(service)
      const big = `<x>${'y'.repeat(300_000)}`
      disk.fill()
      const json = { headers: { 'content-type': 'application/json' } }
      const replies = {
        create: await postForm(service, '/runs', runForm({}, specFields(), big)),
        tiny: await postForm(service, '/runs', runForm({}, specFields(), '')),
        repeat: await get(service, `/runs/${id}/repeat`),
        thresholds: await send(service, 'PUT', `/runs/${id}/thresholds`, {
          ...json,
          body: JSON.stringify({ thresholds: 'p95 < 1s\n'.repeat(2000) })
        }),
        grids: await Promise.all(Array.from({ length: 20 }, () => postForm(service, '/grids', GRID))),
        terminate: await send(service, 'DELETE', `/grids/${grid}`),
        reads: await Promise.all(
          ['/runs', `/runs/${id}`, `/runs/${id}/report`, `/runs/${id}/result.csv`, '/account'].map((path) =>
            get(service, path)
          )
        )
      }
      expect(replies.reads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect([replies.create, replies.repeat].map(({ status }) => status)).toEqual([507, 507])
      const all = Object.values(replies).flat()
      for (const { status, text } of all) {
        expect([200, 201, 204, 422, 503, 507]).toContain(status)
        expect(text).not.toContain(dataDir)
      }
      for (const { json: document } of all.filter(({ status }) => status === 507))
        expect(document.error).toMatch(NO_ROOM)
      for (const { json: document } of [replies.create, replies.repeat])
        expect(document.error).toMatch(/^the run was not created: /)
      await service.close()
    } finally {
      await services.closeAll()
      disk.unmount()
    }
  })
})

function countRows(folder: string): number {
  if (!existsSync(folder)) return 0
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  return texts.reduce((sum, text) => sum + (text.match(/,home,/g)?.length ?? 0), 0)
}

async function startGrid(service: Started): Promise<string> {
  const parts = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, value])
  const { uuid } = (await postForm(service, '/grids', parts)).json
  await waitForStatus(service, `/grids/${uuid}`, ['started'])
  return uuid
}
