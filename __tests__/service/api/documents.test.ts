import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Service } from '../../../src/service/server.js'
import {
  createServices,
  get,
  postForm,
  type Reply,
  runForm,
  send,
  SPEC,
  specFields,
  waitForStatus
} from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

const TIMESTAMP = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const TEXT = expect.any(String)
const NUMBER = expect.any(Number)
const linkTo = (path: string): unknown => ({ href: path })

const node = (state: string): unknown => ({
  ip: '127.0.0.1',
  url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  private_ip: '127.0.0.1',
  instance_id: TEXT,
  chef: 'complete',
  port: NUMBER,
  started: TIMESTAMP,
  state
})

const gridFields = (uuid: string, status: string): object => ({
  _links: { self: linkTo(`/api/grids/${uuid}`) },
  uuid,
  name: expect.stringMatching(new RegExp(`${uuid}$`)),
  region: 'us-east-1',
  origin: 'This machine',
  instance_quantity: 1,
  instance_type: 'm5.large',
  infrastructure: 'demand',
  stop_after: 10,
  status
})

/** Every field of a run that the document lists, but those that depend on the operation. */
const runFields = (uuid: string, service: Service): object => ({
  _links: { self: linkTo(`/api/runs/${uuid}`) },
  uuid,
  apdex: null,
  tool: 'jmeter',
  name: 'All fields',
  notes: 'a note',
  threads: 4,
  rampup: 1,
  duration: 5,
  tag_list: ['one', 'two'],
  status: 'queued',
  permalink: `${service.url}/runs/${uuid}`,
  queue_position: null,
  user: 'user@localhost',
  remote_errors: null,
  aside_groups: [],
  started: null,
  stopped: null
})

const ended = {
  tool: 'jmeter-rehearsal',
  apdex: expect.stringMatching(/^[01]\.\d+ \[500\]$/),
  status: 'finished',
  started: TIMESTAMP,
  stopped: TIMESTAMP
}

const FIELDS = {
  name: 'All fields',
  notes: 'a note',
  threads: '4',
  rampup: '1',
  duration: '5',
  tag_list: 'one, two'
}

describe('grids, field by field', () => {
  let service: Service
  let created: Reply
  let uuid: string
  beforeAll(async () => {
    service = await services.start()
    created = await postForm(
      service,
      '/grids',
      SPEC.map(([key, value]) => [`grid[${key}]`, value])
    )
    uuid = created.json.uuid
    await waitForStatus(service, `/grids/${uuid}`, ['started'])
  })

  test('create: queued, with no nodes yet', () => {
    expect(created.json).toEqual({ ...gridFields(uuid, 'queued'), nodes: [] })
  })

  test('get: started, with resources', async () => {
    const reply = await get(service, `/grids/${uuid}`)
    expect(reply.json).toEqual({ ...gridFields(uuid, 'started'), resources: [node('running')] })
  })

  test('terminate: stopped, with stopping resources, by the plural and the singular path', async () => {
    const expected = { ...gridFields(uuid, 'stopped'), resources: [node('stopping')] }
    expect((await send(service, 'DELETE', `/grids/${uuid}`)).json).toEqual(expected)
    expect((await send(service, 'DELETE', `/grid/${uuid}`)).json).toEqual(expected)
  })

  test('an unknown grid', async () => {
    const reply = await get(service, '/grids/unknown')
    expect([reply.status, reply.json]).toEqual([404, { error: 'Sorry, we cannot find that resource.' }])
  })
})

describe('runs, field by field', () => {
  let service: Service
  let created: Reply
  let uuid: string
  let gridId: string
  beforeAll(async () => {
    service = await services.start()
    created = await postForm(service, '/runs', runForm(FIELDS, specFields()))
    uuid = created.json.uuid
    gridId = created.json._embedded.grids[0]!.uuid
    await waitForStatus(service, `/runs/${uuid}`, ['finished'])
  })

  const file = (): unknown => ({
    name: 'plan.jmx',
    href: expect.stringContaining(`${service.url}/runs/${uuid}/files/`)
  })

  test('create', () => {
    expect(created.json).toEqual({
      ...runFields(uuid, service),
      batch_id: TEXT,
      first_sample: null,
      _embedded: {
        grids: [{ ...gridFields(gridId, 'starting'), batch_id: created.json.batch_id, nodes: [] }],
        files: [file()],
        archives: []
      }
    })
  })

  test('get, once finished', async () => {
    const { json } = await get(service, `/runs/${uuid}`)
    expect(json).toEqual({
      ...runFields(uuid, service),
      ...ended,
      batch_id: created.json.batch_id,
      first_sample: TIMESTAMP,
      nodes: [
        {
          ...{ grid: gridId, region: 'us-east-1', number: 1, place: 'this machine', threads: 4 },
          ...{
            rows: NUMBER,
            cpu_limit: NUMBER,
            clock_offset_ms: 0,
            first_sample: NUMBER,
            last_sample: NUMBER
          },
          ...{ started: null, restarts: null, throttled: null, lost: null }
        }
      ],
      _embedded: {
        grids: [{ ...gridFields(gridId, 'started'), batch_id: json.batch_id, nodes: [node('running')] }],
        files: [file()],
        results: [
          {
            name: expect.stringContaining(gridId),
            region: 'us-east-1',
            href: `${service.url}/runs/${uuid}/result.csv?grid_id=${gridId}`
          }
        ],
        archives: [{ name: `${uuid}.tar.gz`, href: `${service.url}/runs/${uuid}/archive.tar.gz` }]
      }
    })
  })

  test('list', async () => {
    expect((await get(service, '/runs')).json).toEqual({
      _links: { self: linkTo('/api/runs?page=1'), last: linkTo('/api/runs?page=1') },
      total: 1,
      _embedded: {
        runs: [
          {
            ...runFields(uuid, service),
            ...ended,
            _embedded: { run_files: [{ uuid: TEXT, name: 'plan.jmx' }] }
          }
        ]
      }
    })
  })

  test('report', async () => {
    expect((await get(service, `/runs/${uuid}/report`)).json).toEqual({
      _links: { self: linkTo(`/api/runs/${uuid}/report`) },
      summary: expect.stringMatching(
        /Up to 4 users across 1 grid in us-east-1 for .* (?:second|minute)s?\. Response time: mean .* ms, median .* ms, 90th percentile .* ms, maximum .* ms\. Requests per minute: maximum .*, mean .*\. .* transactions passed with .* failed\.$/
      ),
      mean_response_time: NUMBER,
      mean_concurrency: NUMBER,
      mean_throughput: NUMBER,
      mean_error_rate: NUMBER,
      rehearsal: true
    })
  })

  test('repeat and stop', async () => {
    const repeated = await get(service, `/runs/${uuid}/repeat`)
    const again = repeated.json.uuid
    const _embedded = { run_files: [{ uuid: TEXT, name: 'plan.jmx' }] }
    const notes = `Repeat of ${uuid}\na note`
    expect(repeated.json).toEqual({ ...runFields(again, service), notes, _embedded })
    await waitForStatus(service, `/runs/${again}`, ['finished'])
    const stopped = await get(service, `/runs/${again}/stop`)
    expect(stopped.json).toEqual({ ...runFields(again, service), notes, ...ended, _embedded })
  })

  test('what was not given is null', async () => {
    const reply = await postForm(service, '/runs', runForm())
    expect(reply.json).toMatchObject({
      name: null,
      notes: null,
      threads: null,
      rampup: null,
      duration: null,
      tag_list: []
    })
  })
})

describe('the account, field by field', () => {
  test('with its user and credential', async () => {
    const service = await services.start()
    const user = {
      _links: { self: linkTo('/api/users/1'), account: linkTo('/api/account') },
      id: 1,
      email: TEXT,
      role: 'admin',
      authentication_token: service.token,
      sign_in_count: 1,
      current_sign_in_at: TIMESTAMP,
      last_sign_in_at: TIMESTAMP,
      created_at: TIMESTAMP
    }
    expect((await get(service, '/account')).json).toEqual({
      _links: { self: linkTo('/api/account') },
      email: TEXT,
      settings: {
        statuses: {
          runs: ['queued', 'running', 'stopping', 'finished', 'problem'],
          grids: ['queued', 'starting', 'started', 'stopped']
        }
      },
      _embedded: {
        users: [user],
        credentials: [{ id: 1, provider: 'local', description: TEXT, arn: TEXT, access_key_id: null }]
      }
    })
    expect((await get(service, '/api/users/1')).json).toEqual(user)
  })
})
