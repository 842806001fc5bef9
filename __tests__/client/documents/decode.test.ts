import { describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  accountSchema,
  gridSchema,
  madeGridSchema,
  reportSchema,
  runSchemas,
  type Run,
  type RunPage
} from '../../../src/contract/api.js'
import { isId, vocabularyOf } from '../../../src/contract/vocabulary.js'
import type { Schema } from '../../../src/contract/decode.js'
import { decodeReply } from '../../../src/client/documents/replies.js'
import { MalformedReplyError } from '../../../src/client/errors.js'
import {
  makeAccount,
  makeGrid,
  makeNode,
  makeRun,
  makeRunList,
  makeUser
} from '../../support/data/make-documents.js'

const words = vocabularyOf()
const replyOf = (document: unknown): string => JSON.stringify(document)
const decodeAs =
  <T>(schema: Schema<T>) =>
  (body: string): T =>
    decodeReply('asking', body, schema)
const decodeGrid = decodeAs(gridSchema)
const decodeMadeGrid = decodeAs(madeGridSchema)
const decodeReport = decodeAs(reportSchema)
const decodeAccount = decodeAs(accountSchema)
const decodeRun = (body: string, vocabulary = words): Run => decodeAs(runSchemas(vocabulary).run)(body)
const decodeMadeRun = (body: string, vocabulary = words): Run =>
  decodeAs(runSchemas(vocabulary).madeRun)(body)
const decodeRunPage = (body: string, vocabulary = words): RunPage =>
  decodeAs(runSchemas(vocabulary).runPage)(body)
const parseReply = (operation: string, body: string): unknown => decodeReply(operation, body, gridSchema)
const runOf = (changes: Record<string, unknown> = {}): Run => decodeRun(replyOf(makeRun(changes)), words)

function catchError(act: () => unknown): Error {
  try {
    act()
  } catch (thrown) {
    return thrown as Error
  }
  throw new Error('nothing was thrown')
}

const GRID = {
  id: 'grid1',
  batchId: 'batch1',
  name: 'brisk-otter-grid1',
  region: 'us-east-1',
  origin: 'N. Virginia',
  nodeCount: 2,
  instanceType: 'm5.large',
  infrastructure: 'demand',
  stopAfterMinutes: 60,
  status: 'starting',
  nodes: [{ address: '203.0.113.7', state: 'running' }]
}

describe('a grid', () => {
  test('is read whole', () => {
    expect(decodeGrid(replyOf(makeGrid()))).toEqual(GRID)
  })

  test('its nodes may be called resources', () => {
    const document = makeGrid({ nodes: undefined, resources: [makeNode({ state: 'stopping' })] })
    expect(decodeGrid(replyOf(document)).nodes).toEqual([{ address: '203.0.113.7', state: 'stopping' }])
  })

  test('needs no more than uuid and status', () => {
    expect(decodeGrid(replyOf({ uuid: 'g', status: 'queued' }))).toMatchObject({
      id: 'g',
      region: 'unknown',
      nodeCount: undefined,
      nodes: []
    })
  })
})

describe('a run', () => {
  test('is read whole', () => {
    expect(runOf()).toEqual({
      id: 'run1',
      batchId: 'batch1',
      status: 'finished',
      apdex: '0.83 [3000]',
      tool: 'jmeter-5.6.3',
      name: 'Shop',
      notes: 'nightly',
      threads: 50,
      rampupSeconds: 30,
      durationSeconds: 600,
      tags: ['nightly', 'shop'],
      permalink: 'https://service.example/runs/run1',
      remoteErrors: undefined,
      startedMs: Date.UTC(2026, 2, 1, 10),
      stoppedMs: Date.UTC(2026, 2, 1, 10, 10, 0, 500),
      grids: [GRID],
      files: ['plan.jmx'],
      results: [
        {
          name: 'result.csv',
          region: 'us-east-1',
          href: 'https://service.example/runs/run1/result.csv?grid_id=grid1'
        }
      ]
    })
  })

  test('may be all null but its id and status', () => {
    const document = Object.fromEntries(Object.keys(makeRun()).map((key) => [key, null]))
    expect(decodeRun(replyOf({ ...document, uuid: 'r', status: 'queued' }), words)).toMatchObject({
      id: 'r',
      apdex: null,
      threads: undefined,
      tags: [],
      startedMs: undefined,
      grids: [],
      files: [],
      results: []
    })
  })

  test.each([
    ['run_files', vocabularyOf()],
    ['acme_files', vocabularyOf('acme')]
  ])('its files may be called %s', (key, vocabulary) => {
    const document = makeRun({ _embedded: { [key]: [{ uuid: 'f', name: 'plan.jmx' }] } })
    expect(decodeRun(replyOf(document), vocabulary).files).toEqual(['plan.jmx'])
  })

  test('numbers may come as text, as forms turn them', () => {
    expect(runOf({ threads: '50', rampup: '', uuid: 12345 })).toMatchObject({
      id: '12345',
      threads: 50,
      rampupSeconds: undefined
    })
  })

  test.each([
    ['null', null, null],
    ['text', '1.0 [4000]', '1.0 [4000]'],
    ['odd text', 'n/a', 'n/a'],
    ['a number', 0.83, '0.83'],
    ['a list', ['0.83', 3000], '["0.83",3000]'],
    ['an object', { score: 1 }, '{"score":1}'],
    ['false', false, 'false']
  ])('an apdex of %s is kept for the judge', (_, apdex, kept) => {
    expect(runOf({ apdex }).apdex).toBe(kept)
  })

  test.each([
    ['null', null, undefined],
    ['an empty list', [], undefined],
    ['an empty object', {}, undefined],
    ['an empty text', '', undefined],
    ['text', 'OOM', 'OOM'],
    ['a list', ['OOM', 'disk'], '["OOM","disk"]']
  ])('remote errors as %s', (_, errors, text) => {
    expect(runOf({ remote_errors: errors }).remoteErrors).toBe(text)
  })
})

describe('a list of runs', () => {
  test('has runs, a total and the way on', () => {
    const page = decodeRunPage(replyOf(makeRunList()), words)
    expect(page).toMatchObject({ total: 101, next: '/api/runs?page=2' })
    expect(page.runs.map(({ id, files }) => [id, files])).toEqual([['run1', ['plan.jmx']]])
  })

  test.each([
    ['no next', {}],
    ['a next of null', { next: null }],
    ['a next without href', { next: {} }]
  ])('ends where the links have %s', (_, links) => {
    expect(decodeRunPage(replyOf(makeRunList({ _links: links })), words).next).toBeUndefined()
  })

  test("is found under the service's own word", () => {
    const document = { _embedded: { acmes: [makeRun()] } }
    expect(decodeRunPage(replyOf(document), vocabularyOf('acme')).runs).toHaveLength(1)
  })
})

test("a report's warnings are texts, and not without end", () => {
  const warnings = [7, 'short of CPU', ...Array.from({ length: 30 }, () => 'x'.repeat(5000))]
  const decoded = decodeReport(replyOf({ summary: 'fine', warnings })).warnings
  expect(decoded).toHaveLength(20)
  expect(decoded[0]).toBe('short of CPU')
  expect(decoded[1]).toBe('x'.repeat(1000))
  expect(decodeReport(replyOf({ summary: 'fine', warnings: 'none' })).warnings).toEqual([])
})

test('a report has its text, and figures where there are any', () => {
  const report = { summary: 'up to 50 users', mean_response_time: 120.5, mean_error_rate: 0, note: 'x' }
  expect(decodeReport(replyOf(report))).toEqual({
    summary: 'up to 50 users',
    means: { mean_response_time: 120.5, mean_error_rate: 0 },
    rehearsal: false,
    warnings: []
  })
  expect(decodeReport(replyOf({ ...report, rehearsal: true, warnings: [] })).rehearsal).toBe(true)
})

test('an account is read whole', () => {
  expect(decodeAccount(replyOf(makeAccount()))).toEqual({
    email: 'team@shop.example',
    users: [
      {
        id: 7,
        email: 'dev@shop.example',
        authenticationToken: 'the-users-own-token',
        signInCount: 12,
        lastSignIn: '2026-02-01T10:00:00.000Z'
      }
    ],
    credentials: [
      { id: 3, provider: 'aws', description: 'main', arn: 'arn:aws:iam::1:role/x', accessKeyId: undefined }
    ]
  })
})

describe('a reply of the wrong shape names the place, what is wanted and what was found', () => {
  const decodeAsRun = (part: string): unknown => decodeRun(part, words)
  const decodeAsPage = (part: string): unknown => decodeRunPage(part, words)
  test.each<[string, (part: string) => unknown, unknown, string]>([
    ['a bare text', decodeAsRun, 'ok', 'the reply should be an object, found "ok"'],
    ['null', decodeAsRun, null, 'the reply should be an object, found null'],
    ['a list', decodeAsRun, [], 'the reply should be an object, found a list'],
    ['an error body', decodeAsRun, { error: 'x' }, 'uuid should be text, found nothing'],
    ['no status', decodeAsRun, { uuid: 'r' }, 'status should be text, found nothing'],
    ['a status of null', decodeAsRun, makeRun({ status: null }), 'status should be text, found null'],
    [
      'a status of great length',
      decodeAsRun,
      makeRun({ status: 'x'.repeat(101) }),
      `status should be a short text, found "${'x'.repeat(101)}"`
    ],
    ['a status of 3', decodeAsRun, makeRun({ status: 3 }), 'status should be text, found 3'],
    ['no list of runs', decodeAsPage, { total: 3 }, '_embedded should be an object, found nothing'],
    [
      'a list of runs that is none',
      decodeAsPage,
      { _embedded: { runs: {} } },
      '_embedded.runs should be a list, found an object'
    ],
    [
      'a way on that leads nowhere',
      decodeAsPage,
      makeRunList({ _links: { next: { href: 7 } } }),
      '_links.next.href should be text, found 7'
    ],
    ['a report that is a list', decodeReport, [], 'the reply should be an object, found a list']
  ])('%s', (_, decode, document, message) => {
    const part = replyOf(document)
    expect(() => decode(part)).toThrow(MalformedReplyError)
    expect(() => decode(part)).toThrow(`asking: the reply is not as documented: ${message}`)
  })

  test('a long value is quoted in part', () => {
    expect(() => runOf({ uuid: '!'.repeat(10_000) })).toThrow(/^.{100,300}$/)
  })
})

test('a time without a zone is UTC, wherever the gate runs', () => {
  const times = [
    '2026-03-01T10:00:00',
    '2026-03-01 10:00:00.5',
    '2026-03-01T10:00',
    '2026-03-01T10:00:00+02:00'
  ]
  const script = [
    "import { runSchemas } from './src/contract/api.ts'",
    "import { vocabularyOf } from './src/contract/vocabulary.ts'",
    "import { parse } from 'valibot'",
    'const { run } = runSchemas(vocabularyOf())',
    "const read = (started) => parse(run, { uuid: 'r', status: 'running', started }).startedMs",
    `console.log(JSON.stringify(${JSON.stringify(times)}.map(read)))`
  ]
  const hooks = ['--experimental-transform-types', '--import', './__tests__/support/typescript-hooks.mjs']
  const found = execFileSync(
    process.execPath,
    ['--no-warnings', ...hooks, '--input-type=module', '--eval', script.join('\n')],
    { env: { ...process.env, TZ: 'America/New_York' }, encoding: 'utf8' }
  )
  const atTen = Date.UTC(2026, 2, 1, 10)
  expect(JSON.parse(found)).toEqual([atTen, atTen + 500, atTen, atTen - 7_200_000])
})

/** A way in which some service, or somebody else's run, may be odd; and what is read in its place. */
const ODD_FIELDS: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ['threads in words', { threads: 'ten' }, { threads: undefined }],
  ['half a thread', { threads: 1.5 }, { threads: undefined }],
  ['a fractional duration', { duration: 599.6, rampup: '0.4' }, { durationSeconds: 600, rampupSeconds: 0 }],
  ['a duration in words', { duration: '10m', rampup: {} }, { durationSeconds: undefined }],
  ['a broken date', { started: 'soon', stopped: 7 }, { startedMs: undefined, stoppedMs: undefined }],
  ['tags as text', { tag_list: 'a, b,' }, { tags: ['a', 'b'] }],
  ['odd tags', { tag_list: ['a', 7, null, {}, ['x'], ''] }, { tags: ['a', '7'] }],
  ['tags that are no list', { tag_list: { a: 1 } }, { tags: [] }],
  ['a name that is a number', { name: 7, notes: [], tool: {} }, { name: undefined, tool: undefined }],
  ['a permalink that is none', { permalink: 7 }, { permalink: undefined }],
  ['embedded as a list', { _embedded: [] }, { grids: [], files: [], results: [] }],
  ['a file without a name', { _embedded: { files: [{}, null, { name: 'a' }] } }, { files: ['a'] }],
  [
    'a node that is text',
    { _embedded: { grids: [makeGrid({ nodes: ['x'] })] } },
    { grids: [{ ...GRID, nodes: [] }] }
  ],
  [
    'a grid of unknown size and status',
    { _embedded: { grids: [{ uuid: 'g', instance_quantity: 'two', status: null }] } },
    { grids: [expect.objectContaining({ id: 'g', nodeCount: undefined, status: 'unknown' })] }
  ],
  [
    'a grid without an id, which is told',
    { _embedded: { grids: [makeGrid(), { status: 'x' }] } },
    { grids: [GRID], oddGrids: ['_embedded.grids[1].uuid should be text, found nothing'] }
  ],
  [
    'grids that are no list, which is told',
    { _embedded: { grids: 'two' } },
    { grids: [], oddGrids: ['_embedded.grids should be a list, found "two"'] }
  ],
  [
    'results without a link, which stay part of the evidence',
    { _embedded: { results: [{ region: 'x' }, null] } },
    { results: [expect.objectContaining({ region: 'x', href: '' }), expect.objectContaining({ href: '' })] }
  ]
]

describe('what is not needed may be odd', () => {
  test.each([3, 1, 0, -1, 1.5, '3', null, true, [2]])('a position in a queue: %p', (position) => {
    const isOne = position === 3 || position === 1
    expect(runOf({ queue_position: position }).queuePosition).toBe(isOne ? position : undefined)
  })

  test.each(['the queue is held', 'x'.repeat(5000), '', 3, null])('why a run waits: %.20p', (reason) => {
    const isOne = typeof reason === 'string' && reason !== ''
    expect(runOf({ waiting_reason: reason }).waitingReason).toBe(isOne ? reason.slice(0, 1000) : undefined)
  })

  test('lines of the plan may hold, or not, or nobody knows', () => {
    const lines = [
      { text: 'k6: checks rate>0.9', holds: true },
      { text: 'k6: checks{a:b} rate>0.9', holds: null, reason: 'k6 has no samples for it' }
    ]
    expect(runOf({ tool_thresholds: lines }).toolLines).toEqual(lines)
  })

  test.each([[[{ text: 'k6: a', holds: false, reason: null }]], [[7]], ['odd'], [{}]])(
    'thresholds of a plan that cannot be read are not known to hold: %j',
    (given) => {
      expect(runOf({ tool_thresholds: given }).toolLines).toMatchObject([{ holds: null }])
    }
  )

  test.each(ODD_FIELDS)('%s, in a run of our own', (_, changes, read) => {
    expect(runOf(changes)).toMatchObject(read)
  })

  test.each(ODD_FIELDS)("%s, in somebody else's run: ours is in the list beside it", (_, changes) => {
    const runs = [makeRun({ ...changes, uuid: 'theirs' }), makeRun({ uuid: 'ours', tag_list: ['mark'] })]
    const page = decodeRunPage(replyOf(makeRunList({ _embedded: { runs } })), words)
    expect(page.runs.map(({ id }) => id)).toEqual(['theirs', 'ours'])
    expect(page.runs[1]?.tags).toEqual(['mark'])
  })

  test('entries without an id are left out and counted, for nothing can be done with them', () => {
    const runs = [null, 7, 'x', [], {}, makeRun({ uuid: '../x' }), makeRun({ uuid: 'ours' })]
    const page = decodeRunPage(replyOf(makeRunList({ _embedded: { runs } })), words)
    expect(page.runs.map(({ id }) => id)).toEqual(['ours'])
    expect(page.leftOut).toBe(6)
  })

  test.each([
    ['no status', { status: undefined }],
    ['a status of 3', { status: 3 }],
    ['a status of great length', { status: 'x'.repeat(101) }],
    ['a grid without an id', { _embedded: { grids: [{}] } }]
  ])('%s, where a run is listed, made or repeated: its id is enough', (_, changes) => {
    expect(decodeMadeRun(replyOf(makeRun({ status: 'queued', ...changes })), words)).toMatchObject({
      id: 'run1',
      status: expect.stringMatching(/^(queued|unknown)$/)
    })
  })

  test('a grid that is made needs no more than its id', () => {
    expect(decodeMadeGrid(replyOf({ uuid: 'g', status: [], region: 7 }))).toMatchObject({
      id: 'g',
      status: 'unknown',
      region: 'unknown'
    })
  })

  test.each([
    ['an address by itself', '/api/runs?page=2'],
    ['an object', { href: '/api/runs?page=2' }]
  ])('the next page as %s', (_, next) => {
    expect(decodeRunPage(replyOf(makeRunList({ _links: { next } })), words).next).toBe('/api/runs?page=2')
  })

  test('a total in words, and links as an empty list', () => {
    const page = decodeRunPage(replyOf(makeRunList({ total: 'many', _links: [] })), words)
    expect(page).toMatchObject({ total: undefined, next: undefined })
  })
})

describe('ids are let in only when they are plain', () => {
  const HOSTILE = [
    'a\nb<<EOF',
    '../../x',
    '..',
    'a/b',
    'a?b',
    'a#b',
    'a%2fb',
    ' a',
    'a\r',
    'a\n',
    '',
    '-rf',
    'ü',
    'null\u0000',
    'x'.repeat(129)
  ]
  test.each(HOSTILE.map((id) => [JSON.stringify(id), id]))('refuses %s', (_, id) => {
    expect(isId(id)).toBe(false)
    expect(() => runOf({ uuid: id })).toThrow(MalformedReplyError)
    expect(runOf({ _embedded: { grids: [makeGrid({ uuid: id })] } })).toMatchObject({
      grids: [],
      oddGrids: [expect.stringContaining('_embedded.grids[0].uuid should be an id')]
    })
  })

  test.each(['a1B2c3D4e5F', '0123456789abcdef0123456789a', '6f1d3c1e-2b7a-4a55-9d3e-0c1f2a3b4c5d', 'a_b'])(
    'takes %s',
    (id) => expect(runOf({ uuid: id }).id).toBe(id)
  )

  test('the refusal is one line, whatever the id holds', () => {
    expect(() => runOf({ uuid: 'a\n::error::b' })).toThrow(/^.*$/)
  })
})

describe('no token is ever quoted', () => {
  const SECRET = 'tok-4f3c2b1a'
  test.each([
    ['a number for a token', { _embedded: { users: [makeUser({ authentication_token: 4321 })] } }, '4321'],
    ['a list for a token', { _embedded: { users: [makeUser({ authentication_token: [SECRET] })] } }, SECRET],
    ['a user that is text', { _embedded: { users: [SECRET] } }, SECRET],
    ['users that are text', { _embedded: { users: SECRET } }, SECRET]
  ])('%s', (_, changes, secret) => {
    const part = replyOf(makeAccount(changes))
    expect(() => decodeAccount(part)).toThrow(MalformedReplyError)
    expect(() => decodeAccount(part)).not.toThrow(secret)
  })

  test.each([
    ['before its end', `{"users":[{"authentication_token":"${SECRET}","x`],
    ['within the token', `{"users":[{"authentication_token": "${SECRET}`],
    ['behind a number', `{"users":[{"authentication_token": 98765, "x`]
  ])('half a reply, cut %s', (_, body) => {
    expect(() => parseReply('asking', body)).toThrow(/^(?!.*(tok-4f3c2b1a|98765)).*\*\*\*/)
  })

  test('the parser that quotes what it reads is not taken along as a cause', () => {
    expect(catchError(() => parseReply('asking', `{"a_token":${SECRET}}`)).cause).toBeUndefined()
  })
})

describe('success without JSON says what came', () => {
  test.each([
    ['nothing', ' ', 'an empty body'],
    ['a page', '<html><title>Sign in</title>', 'an HTML page titled "Sign in"'],
    ['text', 'OK', 'but sent no JSON: OK']
  ])('%s', (_, body, found) => {
    expect(() => parseReply('reading run r', body)).toThrow(found)
    expect(() => parseReply('reading run r', body)).toThrow(MalformedReplyError)
  })
})

test('a byte order mark before JSON is no part of it', () => {
  expect(decodeGrid(`\uFEFF${replyOf(makeGrid())}`)).toEqual(GRID)
  expect(() => parseReply('asking', '\uFEFF')).toThrow('an empty body')
})

describe('what is nested without end', () => {
  const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}"deep"${']'.repeat(depth)}`)

  test.each(['[', '{"a":'])('is told as far as anybody reads (%s)', (open) => {
    const close = open === '[' ? ']' : '}'
    const errors = `${open.repeat(100_000)}1${close.repeat(100_000)}`
    const run = decodeRun(`{"uuid":"r","status":"running","remote_errors":${errors},"apdex":${errors}}`)
    expect(run.remoteErrors).toMatch(/nested too deeply to be shown/)
    expect(run.apdex).toMatch(/nested too deeply to be shown/)
    expect(run.remoteErrors?.length).toBeLessThan(200)
  })

  test('but what is nested a little stays as it is', () => {
    expect(runOf({ remote_errors: nested(5) }).remoteErrors).toBe('[[[[["deep"]]]]]')
  })
})
