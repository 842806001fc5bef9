import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRun } from '../../../src/gate/run/start-run.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import { CancelledError } from '../../../src/gate/errors.js'
import type { Run } from '../../../src/contract/api.js'
import { UnreachableError } from '../../../src/client/errors.js'
import { makeGate, makeSpecification, type TestGate } from '../../support/gate/gate-ports.js'
import { GateRawServer } from '../../support/gate/gate-raw-server.js'
import { GateService, faults, type Fault } from '../../support/gate/gate-service.js'

let service: GateService
let gate: TestGate
let plan: string

beforeEach(async () => {
  service = new GateService()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, '<jmeterTestPlan/>')
  gate = await makeGate(service.url, fromFiles())
})

afterEach(async () => {
  await gate.client.close()
  service.close()
})

function fromFiles(): Partial<Settings> {
  return { origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] }, tags: ['nightly'] }
}

function start(signal = new AbortController().signal): Promise<Run> {
  return gate.ports.clock.run(startRun(gate, signal))
}

function markerOf(fields: readonly (readonly [string, string])[]): string {
  return (
    fields
      .find(([name]) => name === 'run[tag_list]')?.[1]
      .split(',')
      .at(-1) ?? ''
  )
}

/** It has happened, and this is the answer. */
function answerAfter(status: number, body: unknown, headers: Record<string, string> = {}): Fault {
  return (res, commit) => {
    commit()
    faults.answer(status, body, headers)(res, commit)
  }
}

function redirectAfter(status: number): Fault {
  return answerAfter(status, '', { location: '/api/runs/run2' })
}

describe('a run made from files', () => {
  test('is made once, with the marker as a tag beside the tags that were asked for', async () => {
    const run = await start()
    expect(run.id).toBe('run1')
    expect(service.order()).toEqual(['createRun'])
    expect(service.seen[0]?.fields).toContainEqual([
      'run[tag_list]',
      expect.stringMatching(/^nightly,loadgate-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    ])
    expect(gate.saved.state).toMatchObject({ runId: 'run1', cleanupDue: true })
  })

  test('the marker is in the saved state before the POST is sent', async () => {
    service.meet('createRun', faults.hold)
    const controller = new AbortController()
    const starting = start(controller.signal)
    await service.reached('createRun')
    const saved = gate.ports.states.at(-1)
    expect(saved).toMatchObject({ marker: markerOf(service.seen[0]!.fields), cleanupDue: true })
    expect(saved?.runId).toBeUndefined()
    controller.abort(new CancelledError('SIGINT'))
    await expect(starting).rejects.toThrow('cancelled by SIGINT')
    expect(service.order()).toEqual(['createRun'])
  })

  test('markers differ from run to run', async () => {
    await start()
    await start()
    const [first, second] = service.seen.map(({ fields }) => markerOf(fields))
    expect(first).not.toBe(second)
  })
})

describe('when the reply is lost', () => {
  test.each([
    ['after the run was made', faults.dropAfter],
    ['behind a 502 of a gateway', faults.answerAfter(502)],
    ['behind a 500', faults.answerAfter(500)],
    ['behind a 408', faults.answerAfter(408)],
    ['behind a redirect to it', redirectAfter(303)],
    ['behind a redirect elsewhere', redirectAfter(302)],
    ['behind a redirect that keeps the method', redirectAfter(307)],
    ['behind a status that only proxies use', faults.answerAfter(499)],
    ['behind 204', answerAfter(204, '')],
    ['behind 200 with an empty list', answerAfter(200, [])],
    ['behind 200 with an error in it', answerAfter(200, { error: 'so it is' })],
    [
      'behind success without JSON',
      (res, commit) => {
        commit()
        res.end('<html>')
      }
    ]
  ])('%s, the run is found and the gate continues with it; there is exactly one', async (_, fault) => {
    service.addRun({ id: 'foreign', tags: ['loadgate-00000000-0000-0000-0000-000000000000'] })
    service.meet('createRun', fault)
    const { id } = await start()
    expect(service.runs.map((run) => run.id)).toEqual([id, 'foreign'])
    expect(service.count('createRun')).toBe(1)
    expect(service.count('stopRun')).toBe(0)
    expect(gate.saved.state.runId).toBe(id)
    expect(gate.ports.log.of('warning')).toEqual([
      expect.stringContaining('Looking for the run by its tag loadgate-')
    ])
    expect(gate.ports.log.of('info')).toContain(`Found run ${id}; continuing with it.`)
  })

  /** As if the connection had ended in the middle of the upload, this many times; `isMade` from the fields that came first. */
  function breakOff(times: number, { isMade }: { isMade: boolean }): void {
    const { client } = gate
    const create = client.createRun.bind(client)
    let uploads = 0
    client.createRun = async (...args) => {
      if (++uploads > times) return create(...args)
      if (isMade) await create(...args)
      throw new UnreachableError('creating the run', 'gone', { neverSent: false, isEarly: true })
    }
  }

  test('with an upload that broke off, the run is looked for, and only then sent again', async () => {
    breakOff(2, { isMade: false })
    const { id } = await start()
    expect(service.runs.map((run) => run.id)).toEqual([id])
    expect(service.order().filter((name, i, all) => name !== all[i - 1])).toEqual(['listRuns', 'createRun'])
    expect(gate.ports.log.of('info')).toContainEqual(
      expect.stringMatching(
        /No run with the tag .* was found\. The upload had broken off; sending it again\./
      )
    )
  })

  test('with an upload that broke off and was acted on all the same, there is one run', async () => {
    breakOff(1, { isMade: true })
    const { id } = await start()
    expect([service.runs.map((run) => run.id), service.count('createRun')]).toEqual([[id], 1])
  })

  test('an upload that breaks off again and again is given up', async () => {
    breakOff(Infinity, { isMade: false })
    await expect(start()).rejects.toThrow(
      /gone\. No run with the tag .* was found\. One may still be running/
    )
    expect(service.count('createRun')).toBe(0)
  })

  test('the creation is not sent again behind a redirect that made nothing, which is not followed', async () => {
    service.meet('createRun', faults.answer(302, '', { location: `${service.url}/api/elsewhere` }))
    await expect(start()).rejects.toThrow(/a redirect to .*No run with the tag loadgate-\S+ was found/)
    expect(new Set(service.order())).toEqual(new Set(['createRun', 'listRuns']))
    expect(service.count('createRun')).toBe(1)
    expect(gate.saved.state).toMatchObject({ cleanupDue: true })
  })

  test('the run is stopped by nobody, though the list names it on two pages', async () => {
    service.pageSize = 2
    service.nextStatuses = ['running']
    service.addRun({ id: 'foreign1' })
    service.addRun({ id: 'foreign2' })
    service.meet('createRun', faults.dropAfter)
    // Somebody else's new run pushes ours from the end of the first page to the start of the second.
    service.meet('listRuns', (res, commit) => {
      faults.none(res, commit)
      service.addRun({ id: 'foreign3' })
      service.addRun({ id: 'foreign4' })
    })
    const { id } = await start()
    expect(service.count('stopRun')).toBe(0)
    expect(service.runs.find((run) => run.id === id)?.statuses).toEqual(['running'])
    expect(gate.ports.log.of('warning')).toHaveLength(1)
  })

  test.each([
    ['a file without a name', { _embedded: { run_files: [{ uuid: 'f' }] } }],
    ['a fractional duration', { duration: 0.5 }],
    ['no status', { status: null }],
    ['no id', { uuid: null }]
  ])("somebody else's run with %s does not hide it", async (_, document) => {
    service.addRun({ id: 'odd', document })
    service.meet('createRun', faults.dropAfter)
    const { id } = await start()
    expect(id).toBe(service.runs[0]?.id)
    expect(service.count('createRun')).toBe(1)
  })

  test('404 from an ingress does not hide it', async () => {
    service.meet('createRun', faults.dropAfter)
    service.meet('listRuns', ...Array.from({ length: 5 }, () => faults.answer(404)))
    expect((await start()).id).toBe(service.runs[0]?.id)
  })

  test('a list that lags 3 s is waited for', async () => {
    let lost = (): void => undefined
    service.meet('createRun', (res, commit) => {
      lost = () => void commit()
      res.destroy()
    })
    const starting = start()
    await service.reached('listRuns', 3)
    lost()
    expect((await starting).id).toBe('run1')
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(3_000)
    expect(service.count('createRun')).toBe(1)
  })

  test('before the run was made, the error says that nothing was found, and it is not sent again', async () => {
    service.meet('createRun', faults.dropBefore)
    await expect(start()).rejects.toThrow(
      /^creating the run: .*No run with the tag loadgate-\S+ was found\. One may still be running: check the service\.$/
    )
    expect(service.count('createRun')).toBe(1)
    expect(service.runs).toEqual([])
    // The list may lag even more: post looks once again.
    expect(gate.saved.state).toMatchObject({ marker: expect.stringMatching(/^loadgate-/), cleanupDue: true })
  })

  test('and cannot be looked up, the error says so', async () => {
    service.meet('createRun', faults.dropAfter)
    service.meet('listRuns', faults.answer(403))
    await expect(start()).rejects.toThrow(/could not check whether the run was created: .*403/)
    expect(gate.saved.state).toMatchObject({ cleanupDue: true, runId: undefined })
    expect(gate.saved.state.marker).toBeDefined()
  })

  test('and several carry the marker, the oldest is kept and the others are stopped', async () => {
    service.nextStatuses = ['running']
    service.meet('createRun', (res, commit) => {
      commit()
      commit()
      commit()
      res.destroy()
    })
    service.addRun({ id: 'foreign', tags: ['loadgate-0'] })
    const { id } = await start()
    const oldest = service.runs.at(-2)
    expect(id).toBe(oldest?.id)
    expect(service.runs.map(({ statuses }) => statuses[0])).toEqual([
      'finished',
      'finished',
      'running',
      'running'
    ])
    expect(service.seen.filter(({ operation }) => operation === 'stopRun')).toHaveLength(2)
  })

  test('while the job is cancelled, nothing is looked up here', async () => {
    service.meet('createRun', faults.holdAfter)
    const controller = new AbortController()
    const starting = start(controller.signal)
    await service.reached('createRun')
    controller.abort(new CancelledError('SIGTERM'))
    await expect(starting).rejects.toBeInstanceOf(CancelledError)
    expect(service.count('listRuns')).toBe(0)
  })
})

describe("when the reply names somebody else's run", () => {
  const answerWith = (document: unknown): Fault => answerAfter(201, document)
  const FOREIGN = { uuid: 'foreign', status: 'finished', name: 'theirs' }
  const OTHER_MARKER = 'loadgate-0b6e1c9e-7d0a-4b60-8f3d-0f4a5a4b7c11'

  beforeEach(() => {
    service.addRun({
      ...{ id: 'foreign', tags: ['nightly'], statuses: ['finished'], document: { name: 'theirs' } }
    })
  })

  test.each([
    ['which its own tags tell', { ...FOREIGN, tag_list: ['nightly'] }],
    ['in one text', { ...FOREIGN, tag_list: 'nightly, weekly' }],
    [
      'of the same name, which another marker tells',
      { ...FOREIGN, name: undefined, tag_list: [OTHER_MARKER] }
    ],
    ['which the first look tells', { uuid: 'foreign', status: 'finished' }]
  ])('%s, the run is looked for by its tag', async (_, document) => {
    service.meet('createRun', answerWith(document))
    const { id } = await start()
    expect(id).not.toBe('foreign')
    expect(id).toBe(service.runs[0]?.id)
    expect(gate.saved.state.runId).toBe(id)
    expect(service.count('createRun')).toBe(1)
    expect(service.count('stopRun')).toBe(0)
    expect(gate.ports.log.of('warning')).toEqual([
      expect.stringMatching(/answered with run foreign, which does not have the tag loadgate-/)
    ])
  })

  test('and ours is nowhere, it is not touched, and the state does not name it', async () => {
    service.meet('createRun', faults.answer(201, { uuid: 'foreign', status: 'running' }))
    await expect(start()).rejects.toThrow(/answered with run foreign.*No run with the tag loadgate-/)
    expect(service.count('stopRun')).toBe(0)
    expect(gate.saved.state).toMatchObject({ runId: undefined, cleanupDue: true })
  })

  test('a service that has tags of its own in place of ours is believed', async () => {
    service.nextDocument = { tag_list: ['nightly'] }
    expect((await start()).id).toBe(service.runs[0]?.id)
  })

  test.each([
    ['a reply without tags, nor at a look', { tag_list: undefined }],
    ['a reply with empty tags', { tag_list: [] }],
    ['tags of a form of their own', { tag_list: [{ name: 'nightly' }] }]
  ])('%s is believed', async (_, document) => {
    service.nextDocument = document
    expect((await start()).id).toBe(service.runs[0]?.id)
    expect(service.count('listRuns')).toBe(0)
  })

  test('a reply without tags is believed while a look at it fails', async () => {
    service.nextDocument = { tag_list: [] }
    service.meet('showRun', ...Array.from({ length: 9 }, () => faults.answer(404)))
    const { id } = await start()
    expect(gate.saved.state.runId).toBe(id)
  })

  test('tags that the service joins in its own way are believed when the marker is among them', async () => {
    service.meet('createRun', (res, commit) => {
      commit()
      const marker = markerOf(service.seen[0]!.fields).toUpperCase()
      faults.answer(201, { uuid: service.runs[0]?.id, tag_list: `nightly ${marker}` })(res, commit)
    })
    expect((await start()).id).toBe(service.runs[0]?.id)
    expect(service.count('listRuns')).toBe(0)
  })
})

describe('what certainly made nothing', () => {
  test.each([
    ['429', faults.answer(429, { error: 'slow down' }, { 'retry-after': '7' }), 7_000],
    ['429 without a time', faults.answer(429), 500]
  ])('%s is tried again, after the time the service asks for', async (_, fault, leastMs) => {
    service.meet('createRun', fault)
    await start()
    expect(service.order()).toEqual(['createRun', 'createRun'])
    expect(service.runs).toHaveLength(1)
    expect(gate.ports.clock.elapsedMs).toBeGreaterThanOrEqual(leastMs)
    expect(markerOf(service.seen[0]!.fields)).toBe(markerOf(service.seen[1]!.fields))
  })

  test('429 for ever comes to an end', async () => {
    service.meet('createRun', ...Array.from({ length: 20 }, () => faults.answer(429)))
    await expect(start()).rejects.toMatchObject({ status: 429 })
    expect(service.count('createRun')).toBe(5)
  })

  test.each([400, 401, 403, 404, 409, 413, 422])('%d is not tried again, nor looked up', async (status) => {
    service.meet('createRun', faults.answer(status, { errors: { threads: ['is too much'] } }))
    await expect(start()).rejects.toThrow(
      `creating the run: the service answered ${status}: threads is too much`
    )
    expect(service.order()).toEqual(['createRun'])
    expect(gate.saved.state).toMatchObject({ marker: undefined, cleanupDue: false })
  })

  test('a refused connection is tried again', async () => {
    const { url } = service
    service.close()
    const failing = await makeGate(url, fromFiles())
    await expect(failing.ports.clock.run(startRun(failing, new AbortController().signal))).rejects.toThrow(
      'refused the connection'
    )
    expect(
      failing.ports.log.of('info').filter((line) => line.includes('Nothing was created; retrying'))
    ).toHaveLength(4)
    expect(failing.ports.log.of('warning')).toEqual([])
    await failing.client.close()
    service = new GateService()
  })
})

describe('an existing run', () => {
  beforeEach(async () => {
    gate = await makeGate(service.url, { origin: { kind: 'existing', runId: 'theirs' } })
  })

  test('is only read, and never becomes ours to clean up', async () => {
    service.addRun({ id: 'theirs', statuses: ['running'] })
    expect((await start()).id).toBe('theirs')
    expect(service.order()).toEqual(['showRun'])
    expect(gate.saved.state).toMatchObject({ runId: undefined, marker: undefined, cleanupDue: false })
  })

  test('one that is not there is an error at once', async () => {
    await expect(start()).rejects.toThrow(/reading run theirs: the service answered 404/)
    expect(service.order()).toEqual(['showRun'])
  })
})

describe('behind a proxy that does not answer', () => {
  const VARIABLES = ['https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY']
  const before = { ...process.env }

  beforeEach(async () => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    // Nothing listens there any more.
    const gone = await GateRawServer.start()
    process.env.https_proxy = gone.url.replace('http://', '')
    await gone.close()
  })
  afterEach(() => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    Object.assign(process.env, before)
  })

  test.each<[string, () => Partial<Settings>]>([
    ['a run from files', fromFiles],
    ['a repeat', () => ({ origin: { kind: 'repeat', runId: 'before' } })],
    ['an existing run', () => ({ origin: { kind: 'existing', runId: 'before' } })]
  ])('%s ends at once, and names it', async (_, settings) => {
    await gate.client.close()
    gate = await makeGate('https://service.invalid', settings())
    await expect(start()).rejects.toThrow(/the proxy 127\.0\.0\.1:\d+ refused the connection/)
    expect(gate.ports.clock.elapsedMs).toBe(0)
    expect(gate.saved.state.cleanupDue).toBe(false)
  })
})
