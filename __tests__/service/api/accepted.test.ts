import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { OPTIONAL_GRID_KEYS } from '../../../src/contract/vocabulary.js'
import { createTeams } from '../accounts/team.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  postForm,
  postJson,
  type Reply,
  runForm,
  send,
  SPEC,
  specFields,
  until,
  waitForStatus
} from '../support.js'

// What scripts for such services send beyond the API document, and what of it has no effect here.

const services = createServices()
const teams = createTeams()
let service: Awaited<ReturnType<typeof services.start>>
beforeAll(async () => {
  service = await services.start()
})
afterAll(async () => {
  await services.closeAll()
  await teams.closeAll()
})

const REAL_TIME = { duration: '3600', override_parameters: '-Jrehearsal.realtime=true' }
const makeGrid = (more: Record<string, unknown>): Promise<Reply> =>
  postJson(service, '/grids', { grid: { ...Object.fromEntries(SPEC), ...more } })

describe('a run', () => {
  test.each(['jmeter-5.6.3', 'jmeter-5.4', 'jmeter-rehearsal', 'service-chrome-1.0'])(
    'of the tool %s runs with the version that there is, and names it',
    async (tool) => {
      const run = await finishRun(service, [...runForm(), ['run[tool]', tool]])
      const [, name] = /^(\w+(?:-chrome)?)-/.exec(tool)!
      expect([run.json.status, run.json.tool]).toEqual(['finished', `${name}-rehearsal`])
    }
  )

  test('with numbers such as 6.0 has whole ones', async () => {
    const numbers = { threads: '2.0', rampup: '0.0', duration: '1.00' }
    const reply = await postForm(service, '/runs', runForm(numbers, specFields({ stop_after: '6.0' })))
    expect(reply.json).toMatchObject({ threads: 2, rampup: 0, duration: 1 })
    expect(reply.json._embedded.grids[0]!.stop_after).toBe(6)
  })

  test.each(['privacy', 'privacy_flag'])('may be public by %s', async (key) => {
    expect((await postForm(service, '/runs', runForm({ [key]: 'public' }))).status).toBe(201)
    const reply = await postForm(service, '/runs', runForm({ [key]: 'open' }))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      `run: ${key} must be public or private, not "open"`
    ])
  })

  test('is stopped and repeated by POST as by GET, with any body', async () => {
    const id = await createRun(service, runForm(REAL_TIME))
    await waitForStatus(service, `/runs/${id}`, ['running'])
    const stopped = await send(service, 'POST', `/runs/${id}/stop`)
    expect(stopped.json).toEqual((await get(service, `/runs/${id}/stop`)).json)
    const bodies = [
      () => postJson(service, `/api/runs/${id}/repeat`, {}),
      () => postForm(service, `/runs/${id}/repeat`, [['a', 'b']])
    ]
    for (const repeat of bodies) {
      const repeated = await repeat()
      expect([repeated.status, repeated.json.status]).toEqual([200, 'queued'])
      await send(service, 'POST', `/runs/${repeated.json.uuid}/stop`)
    }
  })

  test('is stopped and repeated by POST only by whoever may, and that is audited', async () => {
    const team = await teams.start()
    const id = await createRun(team.as('member'), runForm(REAL_TIME))
    const post = async (who: 'viewer' | 'other' | 'member', what: string): Promise<number> =>
      (await send(team.as(who), 'POST', `/runs/${id}/${what}`)).status
    expect([await post('viewer', 'stop'), await post('other', 'stop')]).toEqual([403, 403])
    expect([await post('member', 'stop'), await post('other', 'repeat')]).toEqual([200, 403])
    expect(await post('member', 'repeat')).toBe(200)
    await until(() => team.audited().length >= 7)
    expect(team.audited().slice(2)).toMatchObject([
      { user: 'viewer', action: 'refused', target: `run.stop ${id}` },
      { user: 'other', action: 'refused', target: `run.stop ${id}` },
      { user: 'member', action: 'run.stop', target: id },
      { user: 'other', action: 'refused', target: `run.repeat ${id}` },
      { user: 'member', action: 'run.repeat', target: id, created: expect.any(String) }
    ])
  })

  test('of more nodes than ever fit is refused with their number, however they are spread over grids', async () => {
    const spread = [1, 64].flatMap((nodes) => specFields({ instance_quantity: String(nodes) }))
    const reply = await postForm(service, '/runs', runForm({}, spread))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      'this run needs 65 nodes, and at most 64 fit on this machine'
    ])
    expect((await makeGrid({ instance_quantity: 65 })).json.error).toBe(
      'this grid needs 65 nodes, and at most 64 fit on this machine'
    )
  })

  test.each(['stopped', 'Finished'])(
    'is not listed by the status %s, and those that there are are named',
    async (status) => {
      const reply = await get(service, `/runs?status=${status}`)
      expect([reply.status, reply.json.error]).toEqual([
        400,
        `There is no status "${status}"; runs are queued, running, stopping, finished, problem.`
      ])
    }
  )
})

describe('a grid', () => {
  const CLOUD: Record<string, string> = {
    ...Object.fromEntries(OPTIONAL_GRID_KEYS.map((key) => [key, 'x'])),
    ...{ aws_spot_price: '0.25', credential_id: '1' }
  }
  const warnings = [`No effect here, where nothing is started in a cloud: ${Object.keys(CLOUD).join(', ')}.`]

  test('with all keys for a cloud says that they have no effect', async () => {
    const created = await makeGrid(CLOUD)
    expect([created.status, created.json.warnings]).toEqual([201, warnings])
    expect((await get(service, `/grids/${created.json.uuid}`)).json.warnings).toEqual(warnings)
  })

  test('of a run and of its repetition says so too', async () => {
    const more = Object.entries(CLOUD).map(([key, value]) => [`run[grids][][${key}]`, value] as const)
    const run = await finishRun(service, runForm({}, [...specFields(), ...more]))
    const repeated = await get(service, `/runs/${run.json.uuid}/repeat`)
    const again = await get(service, `/runs/${repeated.json.uuid}`)
    for (const { json } of [run, again]) expect(json._embedded.grids[0]!.warnings).toEqual(warnings)
  })

  test('without them says nothing', async () => {
    expect((await makeGrid({ aws_tags: '' })).json).not.toHaveProperty('warnings')
  })

  test.each([99999, 'x', '01'])('with the credential %p is refused with those that there are', async (id) => {
    const reply = await makeGrid({ credential_id: id })
    expect([reply.status, reply.json.error]).toEqual([
      422,
      `grid: credential_id must be one of 1, as in the account, not "${id}"`
    ])
  })
})

const NO_TOKENS =
  'no tokens are issued here: send an API token, or an ID token or JWT access token of an issuer that this service trusts, as Authorization: Bearer <token>'

describe('what there is not', () => {
  test.each([
    ['POST', '/oauth/token', NO_TOKENS],
    ['POST', '/api/oauth/token', NO_TOKENS],
    [
      'PATCH',
      '/runs/x/set-public',
      'a run stays private or public as it was created: send run[privacy_flag]=public with POST /runs'
    ]
  ])('%s %s says what to do instead, without a token too', async (method, path, error) => {
    for (const token of [null, service.token]) {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const reply = await send(service, method, path, { token, headers, body: 'grant_type=password' })
      expect([reply.status, reply.json]).toEqual([404, { error }])
    }
  })
})
