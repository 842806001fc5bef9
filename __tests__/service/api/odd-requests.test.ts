import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Service } from '../../../src/service/server.js'
import { mutateBytes } from '../../support/data/mutate-bytes.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { HTML, visit, WITH_PAGES } from '../pages/page-support.js'
import {
  type Call,
  createServices,
  finishRun,
  type FormPart,
  formOf,
  get,
  postForm,
  postJson,
  runForm,
  send,
  SPEC,
  specFields,
  waitForStatus
} from '../support.js'

const services = createServices()
let service: Service & { lines: string[]; dataDir: string }
let cookie: string
beforeAll(async () => {
  service = await services.start({ ...WITH_PAGES, maxUploadBytes: 1_000_000 })
  cookie = await visit(service)
})
afterAll(() => services.closeAll())

const FORM = 'multipart/form-data; boundary=xx'
const FILE = '--xx\r\nContent-Disposition: form-data; name="run_files[]"; filename="plan.jmx"\r\n\r\nhello'
const MALFORMED = '--xx\r\nContent-Disposition: form-data; name="a'
const field = (head: string, value: string): string =>
  `--xx\r\nContent-Disposition: form-data${head}\r\n\r\n${value}\r\n--xx--\r\n`

const uploads = (): string[] => readdirSync(join(service.dataDir, 'uploads'))

describe('an invalid form', () => {
  test.each([
    { name: 'no boundary', type: 'multipart/form-data', body: FILE },
    { name: 'an empty boundary', type: 'multipart/form-data; boundary=', body: FILE },
    { name: 'a boundary that is too long', type: `${FORM}${'x'.repeat(300)}`, body: FILE },
    { name: 'another boundary', type: 'multipart/form-data; boundary=yy', body: `${FILE}\r\n--xx--\r\n` },
    { name: 'cut within a file', type: FORM, body: FILE },
    { name: 'cut after a file', type: FORM, body: `${FILE}\r\n--xx` },
    { name: 'cut within a header', type: FORM, body: '--xx\r\nContent-Dispo' },
    { name: 'cut within a field', type: FORM, body: field('; name="run[tool]"', 'jmeter').slice(0, -12) },
    { name: 'garbage', type: FORM, body: 'garbage' },
    ...['"\ru\r\n2\r\n', '"\x8b\n\r\n1\r\n', '"\r\nnd\r\n'].map((head) => ({
      name: `a header without an end: ${JSON.stringify(head)}`,
      type: FORM,
      body: `${MALFORMED}${head}--xx--\r\n`
    })),
    { name: 'one before a file', type: FORM, body: `${MALFORMED}"\r2\r\n${FILE}\r\n--xx--\r\n` },
    { name: 'one after a file', type: FORM, body: `${FILE}\r\n${MALFORMED}"\r2\r\n--xx--\r\n` },
    {
      name: 'one before more than the parser holds',
      type: FORM,
      body: `${MALFORMED}"\r2\r\n${FILE}${'x'.repeat(500_000)}\r\n--xx--\r\n`
    },
    { name: 'a part without a name', type: FORM, body: field('', 'x') },
    { name: 'a name of every object', type: FORM, body: field('; name="toString"', 'x') },
    {
      name: 'a field that is not the JSON that it says',
      type: FORM,
      body: field('; name="run[tool]"\r\nContent-Type: application/json', '{')
    }
  ])('$name: 400 with a message, and nothing is kept', async ({ type, body }) => {
    for (const path of ['/runs', '/grids']) {
      const reply = await send(service, 'POST', path, { headers: { 'content-type': type }, body })
      expect([reply.status, reply.json.error]).toEqual([400, expect.stringMatching(/multipart form/)])
      expect(uploads()).toEqual([])
    }
  })

  test('a field that says it is JSON is taken for its text', async () => {
    const body = field('; name="run[tool]"\r\nContent-Type: application/json', '{"toString":1}')
    const reply = await send(service, 'POST', '/runs', { headers: { 'content-type': FORM }, body })
    expect([reply.status, reply.json.error]).toEqual([422, expect.stringContaining('not "{"toString":1}"')])
  })

  test('an address that cannot be decoded gets the same JSON error, without its query', async () => {
    const reply = await get(service, `/runs/%ff?token=${service.token}`)
    expect([reply.status, reply.json]).toEqual([400, { error: "'/runs/%ff' is not a valid url component" }])
  })
})

describe('the same grid twice', () => {
  const createGrid = async (): Promise<string> => {
    const { json } = await postJson(service, '/grids', { grid: Object.fromEntries(SPEC) })
    await waitForStatus(service, `/grids/${json.uuid}`, ['started'])
    return json.uuid
  }

  test.each<[string, (uuid: string, other: string) => FormPart[]]>([
    ['run[grids][][uuid]', (uuid, other) => [uuid, other, uuid].map((id) => ['run[grids][][uuid]', id])],
    ['run[grids][]', (uuid) => [uuid, uuid].map((id) => ['run[grids][]', id])],
    [
      'run[grids][0][uuid]',
      (uuid) => [uuid, uuid].map((id, index): FormPart => [`run[grids][${index}][uuid]`, id])
    ]
  ])('by %s is refused', async (_, name) => {
    const [uuid, other] = [await createGrid(), await createGrid()]
    const reply = await postForm(service, '/runs', runForm({}, name(uuid, other)))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      `run[grids] names grid ${uuid} more than once: a grid runs the plan once, and its samples count once`
    ])
    expect(uploads()).toEqual([])
  })

  test('two specifications that are alike are two grids', async () => {
    const run = await finishRun(service, runForm({}, [...specFields(), ...specFields()]))
    expect(run.json._embedded.grids).toHaveLength(2)
  })
})

describe('whatever comes', () => {
  const PATHS = [
    ...['/', '/events?page=9', '/runs', '/grids', '/account', '/users/1', '/runs/RUN', '/runs/RUN/stop'],
    ...['/projects', '/runs/RUN/results', '/runs/RUN/archives', '/runs/RUN/archive.tar.gz', '/oauth/token'],
    ...['/runs/RUN/repeat', '/runs/RUN/report', '/runs/RUN/result.csv', '/runs/RUN/files/x', '/grids/GRID'],
    ...[
      '/grid/GRID',
      '/api/runs',
      '/api/',
      '/favicon.ico',
      '/runs/RUN/result.csv?grid_id=GRID',
      '/runs?page=1'
    ]
  ]
  const METHODS = ['GET', 'POST', 'POST', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
  const TYPES = [
    ...[FORM, 'multipart/form-data', 'multipart/form-data; boundary="x x"', 'multipart/mixed; boundary=xx'],
    ...[
      'application/json',
      'application/vnd.service.v2+json',
      'application/json; charset=utf-16',
      'text/plain'
    ],
    ...['application/x-www-form-urlencoded', '%%%', 'application/json;;;']
  ]
  const QUERIES = [
    '',
    '?page=0',
    '?page[]=1&page=2',
    '?%ff=%',
    '?token=',
    '?grid_id[]=1',
    '?__proto__=1',
    '?a=%00'
  ]
  const HEADERS: Record<string, string>[] = [
    ...[{}, { accept: 'text/html' }, { accept: '*/*;q=nonsense,,' }, { 'content-encoding': 'gzip' }],
    ...[{ range: 'bytes=9-1' }, { range: 'bytes=-' }, { range: 'lines=1-2,3' }, { 'if-range': '"x' }],
    ...[{ cookie: '%=;;=' }, { accept: 'application/vnd.x+json' }, { origin: '://' }, { expect: 'nothing' }]
  ]
  const BODIES: (string | Buffer)[] = [
    ...['', 'x', 'null', '[]', '1', '{"run":null}', '{"run":{"grids":[[],{},"",1,null,{"uuid":{}}]}}'],
    ...['{"__proto__":{"run":1},"grid":{"constructor":[]}}', `${'['.repeat(9000)}${']'.repeat(9000)}`],
    ...[
      '{"run":{"tool":["jmeter"],"threads":1e99,"tag_list":{},"override_hosts":[1]}}',
      '{"grid":{"region":{}}}'
    ],
    ...['run[grids][][a][b][]=1&run[grids][][a]=%ff', '%&=&[]=&[=]&run=1&run[tool]=2', 'grid[region]=%00'],
    ...[`${'a['.repeat(900)}=1`, 'grid[stop_after]=1&'.repeat(300), '\ufeff{}', Buffer.from([0xff, 0xfe, 0])]
  ]

  test('no answer is a 5xx, no upload is left behind, and the service keeps running', async () => {
    const random = makeRandom(20_261)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const ended = (await finishRun(service)).json
    const grid = ended._embedded.grids[0]!.uuid
    const whole = formOf(runForm({ name: 'fuzz', duration: '1' }))
    const makeCall = (): Call => {
      if (random() < 0.4) {
        const body = Buffer.from(mutateBytes(Buffer.from(whole.body), random))
        return { headers: { ...whole.headers, ...pick(HEADERS) }, body, isChunked: random() < 0.3 }
      }
      return { headers: { 'content-type': pick(TYPES), ...pick(HEADERS) }, body: pick(BODIES) }
    }
    const broken: string[] = []
    for (let count = 0; count < 600; count++) {
      const path = `${pick(PATHS).replace('RUN', ended.uuid).replace('GRID', grid)}${pick(QUERIES)}`
      const [method, call] = [pick(METHODS), makeCall()]
      const asPage = random() < 0.2 ? { token: null, headers: { ...HTML, cookie, ...call.headers } } : {}
      const reply = await send(service, method, path.replace(/\?(.*)\?/, '?$1&'), { ...call, ...asPage })
      if (reply.status >= 500) broken.push(`${method} ${path} ${JSON.stringify(call)}: ${reply.text}`)
    }
    expect(broken).toEqual([])
    expect(uploads()).toEqual([])
    expect((await finishRun(service)).json.status).toBe('finished')
  })
})

test.each<[string, string, string]>([
  ['name', 'n'.repeat(256), 'run: name must be at most 255 characters long'],
  ['project', 'p'.repeat(256), 'run: project must be at most 255 characters long'],
  ['notes', 'n'.repeat(10_001), 'run: notes must be at most 10,000 characters long'],
  [
    'override_parameters',
    '-Ja=b '.repeat(12_000),
    'run: override_parameters must be at most 65,536 characters long'
  ],
  [
    'override_parameters',
    '-Ja=b '.repeat(1001),
    'override_parameters and override_hosts must have at most 1000 entries each'
  ],
  ['tag_list', 't'.repeat(51), 'tag_list must have at most 50 tags of at most 50 characters each'],
  ['tag_list', 't,'.repeat(52), 'tag_list must have at most 50 tags of at most 50 characters each']
])('%s has a limit', async (key, value, error) => {
  const reply = await postForm(service, '/runs', runForm({ [key]: value }))
  expect([reply.status, reply.json.error]).toEqual([422, error])
})
