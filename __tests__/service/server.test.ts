import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Service } from '../../src/service/server.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  formOf,
  get,
  PLAN,
  postForm,
  postJson,
  runForm,
  send,
  SPEC,
  specFields,
  until,
  waitForStatus
} from './support.js'

const services = createServices()
let service: Service & { lines: string[]; dataDir: string }
beforeAll(async () => {
  service = await services.start()
})
afterAll(() => services.closeAll())

const gridForm = (overrides: Record<string, string> = {}): FormPart[] =>
  SPEC.map(([key, value]) => [`grid[${key}]`, overrides[key] ?? value])

describe("the document's own flow, as a script sends it", () => {
  test('create, poll, report, result.csv', async () => {
    const created = await postForm(service, '/runs', [
      ['run[tool]', 'jmeter'],
      ['run[name]', 'Nightly'],
      ['run[tag_list]', 'shop, nightly'],
      ['run[privacy]', 'public'],
      ['run[threads]', '4'],
      ['run[duration]', '30'],
      { name: 'run_files[]', fileName: 'plan.jmx', content: PLAN },
      { name: 'run_files[]', fileName: 'users.csv', content: 'a,b\n' },
      ...specFields()
    ])
    expect(created.status).toBe(201)
    expect(created.json.status).toBe('queued')
    expect(created.json._embedded.grids[0]!.status).toBe('starting')
    const run = await waitForStatus(service, `/runs/${created.json.uuid}`, ['finished'])
    expect(run.json.apdex).toMatch(/^(1\.0|0\.\d{1,4}) \[500\]$/)
    const report = await get(service, `/runs/${run.json.uuid}/report`)
    expect(report.json.summary).toContain('transactions passed with')
    const result = await get(service, run.json._embedded.results[0]!.href.slice(service.url.length))
    expect(result.headers['content-type']).toBe('text/csv; charset=utf-8')
    const rows = result.text.trimEnd().split('\n')
    expect(rows[0]).toBe(
      'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect'
    )
    expect(new Set(rows.slice(1).map((row) => row.split(',')[2]))).toEqual(new Set(['home', 'check & out']))
  })

  test('the same by the prefix that links carry', async () => {
    const id = await createRun(service)
    const run = await waitForStatus(service, `/api/runs/${id}`, ['finished'])
    expect((await get(service, run.json._links.self.href)).json.uuid).toBe(id)
  })

  test('run_files without brackets is a file too', async () => {
    const parts = runForm().map((part) => ('fileName' in part ? { ...part, name: 'run_files' } : part))
    expect((await finishRun(service, parts)).json._embedded.files).toHaveLength(1)
  })
})

describe('a run that fails', () => {
  test("the status is problem, with the tool's message", async () => {
    const run = await finishRun(
      service,
      runForm({ override_parameters: '-Jrehearsal.problem=no such class' })
    )
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toBe('No such class')
    const report = await get(service, `/runs/${run.json.uuid}/report`)
    expect(report.json.summary).toContain('The run failed: No such class')
    expect(run.json.apdex).toBeNull()
  })
})

describe('access', () => {
  const knock = async (headers: Record<string, string>, token?: string | null): Promise<number> =>
    (await get(service, '/account', { headers, ...(token === undefined ? {} : { token }) })).status

  test.each([
    { who: 'the token as the user name', headers: {}, status: 200 },
    { who: 'no token', headers: {}, token: null, status: 401 },
    { who: 'another token', headers: {}, token: 'guess', status: 401 },
    { who: 'an empty token', headers: {}, token: '', status: 401 },
    { who: 'a bearer', headers: { authorization: 'Bearer x' }, status: 401 },
    { who: 'a foreign host', headers: { host: 'evil.example' }, status: 403 },
    { who: 'a foreign host with the port', headers: { host: 'evil.example:80' }, status: 403 },
    { who: 'a foreign host without a token', headers: { host: 'evil.example' }, token: null, status: 403 },
    { who: 'a page of another site', headers: { origin: 'https://evil.example' }, status: 403 },
    { who: 'a page without an origin', headers: { origin: 'null' }, status: 403 }
  ])('$who: $status', async ({ headers, token, status }) => {
    expect(await knock(headers as Record<string, string>, token)).toBe(status)
  })

  test('its own page and localhost are accepted', async () => {
    const { host, port } = new URL(service.url)
    expect(await knock({ origin: `http://${host}` })).toBe(200)
    expect(await knock({ host: `localhost:${port}` })).toBe(200)
  })

  const basic = (user: string, password: string): { authorization: string } => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
  })

  test.each(['', 'x', 'secret:with:colons', 'ä', ' '])(
    'the password %p beside the token is fine',
    async (password) => {
      expect(await knock(basic(service.token, password))).toBe(200)
    }
  )

  test('a wrong token is wrong with any password, and guesses are counted', async () => {
    const { url } = await services.start()
    const guess = async (index: number): Promise<number> =>
      (await get({ url, token: '' }, '/account', { headers: basic(`guess-${index}`, 'x') })).status
    const statuses: number[] = []
    for (let index = 0; index < 22; index++) statuses.push(await guess(index))
    expect([statuses[0], statuses.at(-1)]).toEqual([401, 429])
  })

  test('an unknown path is guarded too, and a 401 says how to authenticate', async () => {
    expect((await get(service, '/nowhere', { token: null })).status).toBe(401)
    const refused = await get(service, '/account', { token: null })
    expect(refused.headers['www-authenticate']).toMatch(/^Basic /)
    expect(refused.json.error.split(/(?<=\.) /)).toEqual([
      'the API token is missing or wrong.',
      'With HTTP Basic it is the user name, with any password.',
      'As a bearer token it is sent as Authorization: Bearer <token>.',
      'The loadgate command line takes it from LOADGATE_TOKEN, the action from its input token.'
    ])
  })

  test('tokens are random', async () => {
    const other = await services.start()
    expect(other.token).not.toBe(service.token)
    expect(other.token.length).toBeGreaterThanOrEqual(32)
  })
})

describe('versions', () => {
  test.each([
    { accept: 'application/vnd.service.v2+json', status: 200 },
    { accept: 'application/json', status: 200 },
    { accept: '*/*', status: 200 },
    { accept: 'application/vnd.service.v1+json, application/vnd.service.v2+json;q=0.5', status: 200 },
    { accept: 'application/vnd.service.v3+json', status: 406 },
    { accept: 'application/vnd.service.v1+json, */*', status: 406 },
    { accept: 'application/vnd.acme.v2+json', status: 406 }
  ])('$accept: $status', async ({ accept, status }) => {
    const reply = await get(service, '/account', { headers: { accept } })
    expect(reply.status).toBe(status)
  })
})

describe('what a grid must be', () => {
  test.each([
    { key: 'region', value: '../../x', problem: 'region must be letters' },
    { key: 'stop_after', value: '0', problem: 'stop_after must be a whole number from 1 to 2880, not "0"' },
    { key: 'stop_after', value: '2881', problem: 'from 1 to 2880' },
    { key: 'stop_after', value: '1.5', problem: 'from 1 to 2880' },
    { key: 'instance_quantity', value: '0', problem: 'instance_quantity must be a whole number from 1' },
    { key: 'instance_quantity', value: 'two', problem: 'instance_quantity must be a whole number' },
    {
      key: 'infrastructure',
      value: 'shared',
      problem: 'infrastructure must be demand or hosted, not "shared"'
    }
  ])('$key "$value": $problem', async ({ key, value, problem }) => {
    const reply = await postForm(service, '/grids', gridForm({ [key]: value }))
    expect(reply.status).toBe(422)
    expect(reply.json.error).toContain(problem)
  })

  test.each(['1', '2880'])('stop_after %s is accepted', async (value) => {
    expect((await postForm(service, '/grids', gridForm({ stop_after: value }))).status).toBe(201)
  })

  test('all problems are in the one error', async () => {
    const reply = await postJson(service, '/grids', {
      grid: { stop_after: 9999, infrastructure: 'cloud', aws_platform: 'x', aws_spot_price: 'cheap' }
    })
    expect(reply.status).toBe(422)
    const keys = ['stop_after', 'infrastructure', 'aws_spot_price']
    for (const key of keys) expect(reply.json.error).toContain(`grid: ${key} `)
  })

  test('JSON and plain forms are read as well', async () => {
    const grid = Object.fromEntries(SPEC)
    expect((await postJson(service, '/grids', { grid: { ...grid, stop_after: 5 } })).json.stop_after).toBe(5)
    const body = new URLSearchParams(
      SPEC.map(([key, value]): [string, string] => [`grid[${key}]`, value])
    ).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    expect((await send(service, 'POST', '/grids', { headers, body })).status).toBe(201)
  })
})

describe('what a run must be', () => {
  const refuse = async (parts: readonly FormPart[]): Promise<string> => {
    const reply = await postForm(service, '/runs', parts)
    expect(reply.status).toBe(422)
    return reply.json.error
  }

  test.each(['gatling', 'java-selenium-chrome', 'java-selenium-firefox', 'service-chrome'])(
    'a rehearsal of %s needs no tool',
    async (tool) => {
      const reply = await postForm(service, '/runs', [...runForm(), ['run[tool]', tool]])
      expect(reply.status).toBe(201)
      const run = await waitForStatus(service, `/runs/${reply.json.uuid}`, ['finished'])
      expect(run.json.tool).toBe(`${tool}-rehearsal`)
    }
  )

  test.each([
    ['threads', '99999999999', 'from 1 to 2147483647'],
    ['duration', '0', 'from 1 to 2147483647'],
    ['rampup', '2147483648', 'from 0 to 2147483647']
  ])('%s of %s: both limits are told', async (key, value, range) => {
    expect(await refuse([...runForm(), [`run[${key}]`, value]])).toContain(
      `${key} must be a whole number ${range}, not "${value}"`
    )
  })

  test('everything that is wrong is told at once, and nothing is kept', async () => {
    const before = (await get(service, '/runs')).json.total
    const error = await refuse([
      ['run[tool]', 'abacus'],
      ['run[threads]', '-1'],
      ['run[duration]', '0'],
      ['run[privacy_flag]', 'secret'],
      ['run[override_hosts]', 'nonsense'],
      ['run[override_parameters]', '-l /etc/passwd'],
      ['run[override_parameters]', '-l /etc/passwd -Jjmeter.reportgenerator.apdex_satisfied_threshold=soon'],
      ['run[grids][][infrastructure]', 'cloud']
    ])
    const told = ['tool must', 'threads must', 'duration must', 'privacy_flag must', 'override_hosts:']
    for (const words of [
      ...told,
      '"-l /etc/passwd"',
      'apdex_satisfied_threshold',
      'run_files is missing',
      'grid 1: infrastructure'
    ]) {
      expect(error).toContain(words)
    }
    expect((await get(service, '/runs')).json.total).toBe(before)
    expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
  })

  test('a reference and a specification in one form get merged', async () => {
    const error = await refuse(runForm({}, [['run[grids][][uuid]', 'abc'], ...specFields()]))
    expect(error).toContain('create the grids first')
  })

  test.each([
    {
      name: 'all of one key first',
      grids: [
        ['run[grids][][infrastructure]', 'demand'],
        ['run[grids][][infrastructure]', 'demand'],
        ['run[grids][][region]', 'a']
      ] as FormPart[],
      words: 'grid 1 gives infrastructure, and grid 2 gives infrastructure, region: all keys'
    },
    { name: 'no grids', grids: [] as FormPart[], words: 'run[grids] is missing' },
    {
      name: 'an unknown grid',
      grids: [['run[grids][][uuid]', 'abc']] as FormPart[],
      words: 'there is no grid abc'
    }
  ])('$name', async ({ grids, words }) => {
    expect(await refuse(runForm({}, grids))).toContain(words)
  })

  test.each([
    { sent: '../../../etc/plan.jmx', kept: 'plan.jmx' },
    { sent: 'C:\\\\plans\\\\plan.jmx', kept: 'plan.jmx' },
    { sent: 'plän.jmx', kept: 'plän.jmx' }
  ])('of the name $sent the base name is kept', async ({ sent, kept }) => {
    const parts = runForm().map((part) => ('fileName' in part ? { ...part, fileName: sent } : part))
    const run = await finishRun(service, parts)
    expect(run.json._embedded.files[0]!.name).toBe(kept)
  })

  test.each(['..', '.', 'a/..'])('the file name %s is refused', async (fileName) => {
    expect(
      await refuse(runForm().map((part) => ('fileName' in part ? { ...part, fileName } : part)))
    ).toMatch(/not a usable file name|run_files is missing/)
  })

  test('two files of one name are refused', async () => {
    expect(await refuse([...runForm(), { name: 'run_files[]', fileName: 'x/plan.jmx', content: '' }])).toBe(
      'there are two files named plan.jmx'
    )
  })

  test('a body that is not JSON is refused', async () => {
    const reply = await send(service, 'POST', '/runs', {
      headers: { 'content-type': 'application/json' },
      body: '{'
    })
    expect(reply.status).toBe(400)
    expect(reply.json.error).toContain('not JSON')
  })
})

describe('the size of an upload', () => {
  test.each([
    { name: 'told by its length', isChunked: false },
    { name: 'found out on the way', isChunked: true }
  ])('is capped: $name', async ({ isChunked }) => {
    const small = await services.start({ maxUploadBytes: 100_000 })
    const form = formOf(runForm({}, specFields(), 'x'.repeat(200_000)))
    const reply = await send(small, 'POST', '/runs', { ...form, isChunked })
    expect(reply.status).toBe(413)
    expect(reply.json.error).toContain('100000 bytes')
    expect(readdirSync(join(small.dataDir, 'uploads'))).toEqual([])
  })
})

describe('an upload that breaks off', () => {
  test('leaves nothing behind, and the service keeps running', async () => {
    const form = formOf(runForm({}, specFields(), 'x'.repeat(200_000)))
    const { port } = new URL(service.url)
    const uploads = join(service.dataDir, 'uploads')
    const authorization = `Basic ${Buffer.from(`${service.token}:`).toString('base64')}`
    const head = `POST /runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\nContent-Type: ${form.headers['content-type']!}\r\nContent-Length: ${Buffer.byteLength(form.body)}\r\n\r\n`
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(head)
    socket.write(Buffer.from(form.body).subarray(0, 100_000))
    await until(() => readdirSync(uploads).length === 1)
    socket.destroy()
    await until(() => readdirSync(uploads).length === 0)
    expect((await get(service, '/account')).status).toBe(200)
  })

  test('leaves nothing behind where the service closes at once', async () => {
    const closing = await services.start()
    const form = formOf(runForm({}, specFields(), 'x'.repeat(200_000)))
    const { port } = new URL(closing.url)
    const uploads = join(closing.dataDir, 'uploads')
    const authorization = `Basic ${Buffer.from(`${closing.token}:`).toString('base64')}`
    const head = `POST /runs HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${authorization}\r\nContent-Type: ${form.headers['content-type']!}\r\nContent-Length: ${Buffer.byteLength(form.body)}\r\n\r\n`
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(head)
    socket.write(Buffer.from(form.body).subarray(0, 100_000))
    await until(() => readdirSync(uploads, { recursive: true }).length === 2)
    socket.destroy()
    await closing.close()
    expect(readdirSync(uploads)).toEqual([])
  })
})

describe('paging', () => {
  test('50 per page, newest first, with links', async () => {
    const many = await services.start()
    for (let n = 1; n <= 51; n++) await createRun(many, runForm({ name: `run ${n}`, duration: '1' }))
    const first = await get(many, '/runs')
    expect(first.json.total).toBe(51)
    expect(first.json._embedded.runs).toHaveLength(50)
    expect(first.json._embedded.runs[0]!.name).toBe('run 51')
    expect(first.json._links).toEqual({
      self: { href: '/api/runs?page=1' },
      last: { href: '/api/runs?page=2' },
      next: { href: '/api/runs?page=2' }
    })
    const second = await get(many, first.json._links.next.href)
    expect(second.json._embedded.runs.map((run: { name: string }) => run.name)).toEqual(['run 1'])
    expect(second.json._links).toEqual({
      self: { href: '/api/runs?page=2' },
      last: { href: '/api/runs?page=2' }
    })
    expect((await get(many, '/runs?page=3')).json._embedded.runs).toEqual([])
  })

  test.each(['0', '-1', 'x', ''])('page "%s" is refused', async (page) => {
    expect((await get(service, `/runs?page=${page}`)).status).toBe(400)
  })
})

describe('HEAD', () => {
  test('answers the headers of every resource and has no effect', async () => {
    const run = await finishRun(service)
    const id = run.json.uuid
    const grid = run.json._embedded.grids[0]!.uuid
    const before = (await get(service, '/runs')).json.total
    const file = new URL(run.json._embedded.files[0]!.href).pathname
    const ended = [
      `/runs/${id}`,
      '/runs',
      `/runs/${id}/report`,
      `/runs/${id}/result.csv?grid_id=${grid}`,
      file
    ]
    for (const path of [...ended, `/grids/${grid}`, '/account']) {
      const head = await send(service, 'HEAD', path)
      const whole = await get(service, path)
      expect([head.status, head.text]).toEqual([200, ''])
      expect([path, head.headers['content-length']]).toEqual([path, whole.headers['content-length']])
    }
    for (const effect of ['stop', 'repeat'])
      expect((await send(service, 'HEAD', `/runs/${id}/${effect}`)).status).toBe(404)
    expect((await get(service, '/runs')).json.total).toBe(before)
  })
})

describe('result.csv', () => {
  let path: string
  let whole: string
  beforeAll(async () => {
    const run = await finishRun(service)
    path = run.json._embedded.results[0]!.href.slice(service.url.length)
    whole = (await get(service, path)).text
  })

  test.each([
    { range: 'bytes=0-9', from: 0, to: 10 },
    { range: 'bytes=100-', from: 100, to: undefined },
    { range: 'bytes=-7', from: -7, to: undefined },
    { range: 'bytes=50-99999999', from: 50, to: undefined }
  ])('resumes with $range', async ({ range, from, to }) => {
    const reply = await get(service, path, { headers: { range } })
    expect(reply.status).toBe(206)
    expect(reply.text).toBe(whole.slice(from, to))
    expect(reply.headers['content-length']).toBe(String(reply.text.length))
    expect(reply.headers['content-range']).toMatch(new RegExp(`^bytes \\d+-\\d+/${whole.length}$`))
  })

  test('a range beyond the end is refused', async () => {
    const reply = await get(service, path, { headers: { range: `bytes=${whole.length}-` } })
    expect([reply.status, reply.headers['content-range']]).toEqual([416, `bytes */${whole.length}`])
  })

  test('a range of another version gets the whole file', async () => {
    const { etag } = (await get(service, path)).headers
    const headers = { range: 'bytes=5-' }
    expect((await get(service, path, { headers: { ...headers, 'if-range': '"other"' } })).text).toBe(whole)
    expect((await get(service, path, { headers: { ...headers, 'if-range': String(etag) } })).status).toBe(206)
  })

  test('all grids, with one header', async () => {
    const run = await finishRun(
      service,
      runForm({}, [...specFields(), ...specFields({ region: 'eu-west-1' })])
    )
    const parts = await Promise.all(
      run.json._embedded.results.map(
        async ({ href }: { href: string }) => (await get(service, href.slice(service.url.length))).text
      )
    )
    const header = `${String(parts[0]).split('\n')[0]}\n`
    const all = `${String(parts[0])}${String(parts[1]).slice(header.length)}`
    expect((await get(service, `/runs/${run.json.uuid}/result.csv`)).text).toBe(all)
  })

  test('a missing result is a JSON error', async () => {
    const reply = await get(service, path.replace(/grid_id=.*/, 'grid_id=other'))
    expect([reply.status, reply.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8'])
    expect(reply.json.error).toContain('has no grid "other"')
  })
})

describe('before its end', () => {
  test('a run has neither report nor results, and cannot be repeated', async () => {
    const id = await createRun(
      service,
      runForm({ duration: '600', override_parameters: '-Jrehearsal.realtime=true' })
    )
    const running = await waitForStatus(service, `/runs/${id}`, ['running'])
    expect(running.json._embedded.results).toEqual([])
    expect((await get(service, `/runs/${id}/report`)).status).toBe(404)
    expect((await get(service, `/runs/${id}/result.csv`)).status).toBe(404)
    expect((await get(service, `/runs/${id}/repeat`)).status).toBe(422)
    const stopped = await get(service, `/runs/${id}/stop`)
    expect(stopped.json.status).toBe('finished')
    expect((await get(service, `/runs/${id}/stop`)).json.status).toBe('finished')
    expect((await get(service, `/runs/${id}/report`)).status).toBe(200)
  })
})

describe('a run that ended without a sample', () => {
  test.each([1, 2])('has CSVs with a header and no rows: %d grids', async (gridCount) => {
    const problem = { override_parameters: '-Jrehearsal.problem=nothing' }
    const fields = Array.from({ length: gridCount }, () => specFields()).flat()
    const id = await createRun(service, runForm(problem, fields))
    const run = await waitForStatus(service, `/runs/${id}`, ['problem'])
    const paths = run.json._embedded.results.map(({ href }) => href.slice(service.url.length))
    expect(paths).toHaveLength(gridCount)
    for (const path of [...paths, `/runs/${id}/result.csv`]) {
      const whole = await get(service, path)
      expect([whole.status, whole.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8'])
      expect(whole.text).toMatch(/^timeStamp,elapsed,label,[^\n]*\n$/)
      const head = await send(service, 'HEAD', path)
      expect([head.headers['content-length'], head.text]).toEqual([String(whole.text.length), ''])
    }
  })
})

describe('repeat', () => {
  test('makes a new run of the same files and grids', async () => {
    const first = await finishRun(service, runForm({ name: 'again', threads: '3' }))
    const repeated = await get(service, `/runs/${first.json.uuid}/repeat`)
    expect(repeated.json).toMatchObject({ status: 'queued', name: 'again', threads: 3 })
    expect(repeated.json.uuid).not.toBe(first.json.uuid)
    const second = await waitForStatus(service, `/runs/${repeated.json.uuid}`, ['finished'])
    expect(second.json._embedded.grids[0]!.uuid).not.toBe(first.json._embedded.grids[0]!.uuid)
    expect((await get(service, second.json._embedded.files[0]!.href.slice(service.url.length))).text).toBe(
      PLAN
    )
  })
})

describe('the permalink', () => {
  test('is the document where the service has no pages', async () => {
    const run = await finishRun(service)
    const { pathname } = new URL(run.json.permalink)
    const headers = { accept: 'text/html,application/xhtml+xml' }
    expect((await get(service, pathname, { headers })).json.uuid).toBe(run.json.uuid)
    expect((await get(service, pathname, { headers, token: null })).status).toBe(401)
    expect((await get(service, '/')).status).toBe(404)
  })
})

describe("the service's own word", () => {
  test('is in paths, parameters, fields, media type and tool', async () => {
    const acme = await services.start({ serviceName: 'acme' })
    const reply = await postForm(acme, '/acmes', [
      ['acme[tool]', 'jmeter'],
      ...specFields({}, 'acme'),
      { name: 'acme_files[]', fileName: 'plan.jmx', content: PLAN }
    ])
    expect(reply.json._links.self.href).toBe(`/api/acmes/${reply.json.uuid}`)
    const run = await waitForStatus(acme, `/api/acmes/${reply.json.uuid}`, ['finished'])
    expect(run.json._embedded.results[0]!.href).toContain('/acmes/')
    const list = await get(acme, '/acmes', { headers: { accept: 'application/vnd.acme.v2+json' } })
    expect(list.json._embedded.acmes[0]!._embedded.acme_files).toHaveLength(1)
    expect(
      (await get(acme, '/acmes', { headers: { accept: 'application/vnd.service.v2+json' } })).status
    ).toBe(406)
    expect((await get(acme, '/runs')).status).toBe(404)
    const chrome = await postForm(acme, '/acmes', [
      ['acme[tool]', 'acme-chrome'],
      ...specFields({}, 'acme'),
      { name: 'acme_files[]', fileName: 'shop.ts', content: '' }
    ])
    expect(chrome.json.tool).toBe('acme-chrome')
  })
})

describe('rehearsal', () => {
  test('says what it is, in text and in a flag', async () => {
    const run = await finishRun(service)
    expect(run.json.tool).toBe('jmeter-rehearsal')
    const report = await get(service, `/runs/${run.json.uuid}/report`)
    expect(report.json).toMatchObject({ rehearsal: true })
    expect(report.json.summary).toMatch(/^Rehearsal, synthetic samples: this is not a measurement\./)
  })

  test('lasts as long as requested, in simulated time', async () => {
    const run = await finishRun(service, runForm({ duration: '300' }))
    expect(Date.parse(run.json.stopped) - Date.parse(run.json.started)).toBe(300_000)
  })
})
