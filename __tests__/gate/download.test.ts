import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { downloadCsv } from '../../src/gate/download.js'
import type { ServiceClient } from '../../src/service/client.js'
import type { Reply } from '../../src/service/http.js'
import { makeClient } from '../support/gate-bench.js'
import { ManualClock } from '../support/gate-clock.js'
import { GateRawServer, breakOff, raw } from '../support/gate-raw-server.js'
import type { RawAnswer } from '../support/gate-raw-server.js'
import { makeCsv } from '../support/gate-service.js'

const CSV = makeCsv(50)
const ETAG = '"v1"'

let clock: ManualClock
let path: string
let server: GateRawServer
let client: ServiceClient | undefined
/** What the reader of the bytes has seen since they last began anew. */
let tapped: string
let restarts: number
let retries: string[]

beforeEach(async () => {
  clock = new ManualClock()
  path = join(await mkdtemp(join(tmpdir(), 'gate-csv-')), 'grid.csv')
  tapped = ''
  restarts = 0
  retries = []
})

afterEach(async () => {
  await client?.close()
  await server.close()
})

async function download(answers: RawAnswer[], signal = new AbortController().signal): Promise<number> {
  server = await GateRawServer.start(...answers)
  const asking = (client = makeClient(server.url, clock))
  return clock.run(
    downloadCsv({
      open: (range) => asking.openResult('/api/runs/r/result.csv?grid_id=g', { range, signal }),
      path,
      clock,
      signal,
      tap: {
        restart: () => {
          restarts++
          tapped = ''
        },
        push: (chunk) => {
          tapped += Buffer.from(chunk).toString()
        }
      },
      onRetry: (reason) => retries.push(reason)
    })
  )
}

async function expectWhole(bytes: number, csv = CSV): Promise<void> {
  expect(bytes).toBe(csv.length)
  expect(await readFile(path, 'utf8')).toBe(csv)
  expect(tapped).toBe(csv)
  expect(existsSync(`${path}.part`)).toBe(false)
}

describe('a whole answer', () => {
  test.each([
    ['with its length', raw.whole(CSV)],
    ['in chunks', raw.chunked(CSV)],
    ['of another content type', raw.whole(CSV, { 'content-type': 'application/octet-stream' })]
  ])('%s is taken at once', async (_, answer) => {
    await expectWhole(await download([answer]))
    expect(server.requests).toHaveLength(1)
    expect(clock.elapsedMs).toBe(0)
    expect(retries).toEqual([])
  })

  test('the first request asks for everything', async () => {
    await download([raw.whole(CSV)])
    expect(server.headers('range')).toEqual([undefined])
  })
})

describe('an answer that breaks off', () => {
  test.each([
    ['before its promised length', raw.truncated(CSV, 700)],
    ['in the middle of its chunks', raw.chunked(CSV.slice(0, 700), { isCut: true })],
    ['by a reset', raw.reset]
  ])('%s is never taken for whole', async (_, answer) => {
    await expectWhole(await download([answer, answer, raw.whole(CSV)]))
    expect(server.requests).toHaveLength(3)
    expect(retries).toHaveLength(2)
  })

  test('until then there is nothing under its own name', async () => {
    const controller = new AbortController()
    const downloading = download([raw.truncated(CSV, 700), raw.hold], controller.signal)
    for (; retries.length === 0 || server.requests.length < 2;) await new Promise(setImmediate)
    expect(existsSync(path)).toBe(false)
    controller.abort(new Error('over'))
    await expect(downloading).rejects.toThrow(
      /^no whole CSV within the time for collecting; the last answer: the CSV broke off/
    )
    expect(existsSync(path)).toBe(false)
  })

  test('without a version, it starts over, and so does the reader', async () => {
    await expectWhole(await download([raw.truncated(CSV, 700), raw.whole(CSV)]))
    expect(server.headers('range')).toEqual([undefined, undefined])
    expect(restarts).toBe(2)
  })

  test('with a version, it is resumed behind the bytes already had', async () => {
    const rest = raw.whole(
      CSV.slice(700),
      { etag: ETAG, 'content-range': `bytes 700-${CSV.length - 1}/${CSV.length}` },
      '206 Partial Content'
    )
    await expectWhole(await download([raw.truncated(CSV, 700, { etag: ETAG }), rest]))
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-'])
    expect(server.headers('if-range')).toEqual([undefined, ETAG])
    expect(restarts).toBe(1)
  })

  test('resumed and broken off again, it goes on from there', async () => {
    const part =
      (from: number, to: number): RawAnswer =>
      (socket) =>
        breakOff(
          socket,
          `HTTP/1.1 206 Partial Content\r\ncontent-type: text/csv\r\netag: ${ETAG}\r\n` +
            `content-range: bytes ${from}-${CSV.length - 1}/${CSV.length}\r\n` +
            `content-length: ${CSV.length - from}\r\nconnection: close\r\n\r\n${CSV.slice(from, to)}`
        )
    await expectWhole(
      await download([raw.truncated(CSV, 700, { etag: ETAG }), part(700, 1000), part(1000, CSV.length)])
    )
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-', 'bytes=1000-'])
  })

  test('a weak version is none', async () => {
    await download([raw.truncated(CSV, 700, { etag: 'W/"v1"' }), raw.whole(CSV)])
    expect(server.headers('range')).toEqual([undefined, undefined])
  })

  test('when the version has changed meanwhile, it starts over, and so does the reader', async () => {
    const other = makeCsv(60, 333)
    await expectWhole(
      await download([raw.truncated(CSV, 700, { etag: ETAG }), raw.whole(other, { etag: '"v2"' })]),
      other
    )
    expect(restarts).toBe(2)
  })

  test('another part than was asked for is not taken', async () => {
    const wrong = raw.whole(
      CSV.slice(500),
      { etag: ETAG, 'content-range': `bytes 500-${CSV.length - 1}/${CSV.length}` },
      '206 Partial Content'
    )
    await expectWhole(await download([raw.truncated(CSV, 700, { etag: ETAG }), wrong, raw.whole(CSV)]))
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-', undefined])
  })

  test('a part that nobody asked for is not taken for the whole', async () => {
    const part = raw.whole(
      CSV.slice(500),
      { 'content-range': `bytes 500-${CSV.length - 1}/${CSV.length}` },
      '206 Partial Content'
    )
    await expectWhole(await download([part, raw.whole(CSV)]))
  })

  test('a range that the service finds wrong means starting over', async () => {
    const wrong = raw.whole('', { 'content-range': `bytes */${CSV.length}` }, '416 Range Not Satisfiable')
    await expectWhole(await download([raw.truncated(CSV, 700, { etag: ETAG }), wrong, raw.whole(CSV)]))
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-', undefined])
  })
})

describe('an answer that only the closed connection ends', () => {
  test('is fetched again, and taken when both are of one size', async () => {
    await expectWhole(await download([raw.closed(CSV)]))
    expect(server.requests).toHaveLength(2)
    expect(retries).toEqual(['the CSV came without its length; it is fetched again to compare'])
  })

  test('closed early, it is not believed', async () => {
    await expectWhole(await download([raw.closed(CSV.slice(0, 700)), raw.closed(CSV), raw.closed(CSV)]))
    expect(server.requests).toHaveLength(3)
  })

  test('also when it has a version: the whole is compared, not a rest of nothing', async () => {
    await expectWhole(await download([raw.closed(CSV, { etag: ETAG })]))
    expect(server.headers('range')).toEqual([undefined, undefined])
  })
})

describe('what is no CSV', () => {
  test.each([
    [
      'JSON',
      raw.whole('{"error":"Sorry, we cannot find that resource."}', { 'content-type': 'application/json' }),
      /JSON came where a CSV was due: Sorry, we cannot find/
    ],
    [
      'JSON that calls itself CSV',
      raw.whole('{"error":"not ready"}'),
      /JSON came where a CSV was due: not ready/
    ],
    ['a JSON list', raw.whole('["not ready"]'), /JSON came where a CSV was due/],
    [
      'an HTML page',
      raw.whole('<html><title>Down</title></html>', { 'content-type': 'text/html' }),
      /a page came where a CSV was due: an HTML page titled "Down"/
    ],
    [
      'an HTML page that calls itself CSV',
      raw.whole('\n  <!doctype html><h1>Oops</h1>'),
      /a page came where a CSV was due/
    ],
    ['an empty body', raw.whole(''), /the CSV is empty/],
    ['a body in another encoding', raw.whole('xx', { 'content-encoding': 'br' }), /the encoding br/]
  ])('%s is not kept; a CSV that comes later is', async (_, answer, reason) => {
    await expectWhole(await download([answer, raw.whole(CSV)]))
    expect(retries).toEqual([expect.stringMatching(reason)])
  })

  test('JSON for ever ends with the time for collecting, and nothing is left under the name', async () => {
    const controller = new AbortController()
    void clock.sleep(60_000).then(() => controller.abort(new Error('over')))
    const downloading = download([raw.whole('{"error":"gone"}')], controller.signal)
    await expect(downloading).rejects.toThrow(
      /no whole CSV within the time for collecting; the last answer: JSON came .*gone/
    )
    expect(existsSync(path)).toBe(false)
    expect(server.requests.length).toBeLessThan(20)
  })

  test('a byte order mark before the header is no hindrance', async () => {
    const csv = `\uFEFF${CSV}`
    const bytes = await download([raw.whole(csv)])
    expect(bytes).toBe(Buffer.byteLength(csv))
  })
})

describe('refusals', () => {
  const refusal = (status: string, headers = {}) =>
    raw.whole('{"error":"so"}', { 'content-type': 'application/json', ...headers }, status)

  test.each(['404 Not Found', '409 Conflict', '423 Locked', '429 Too Many Requests', '500 Oops', '503 Away'])(
    '%s: not ready yet, tried again',
    async (status) => {
      await expectWhole(await download([refusal(status), refusal(status), raw.whole(CSV)]))
      expect(server.requests).toHaveLength(3)
    }
  )

  test.each(['401 Unauthorized', '403 Forbidden', '410 Gone'])('%s is the end at once', async (status) => {
    await expect(download([refusal(status)])).rejects.toMatchObject({ status: Number(status.slice(0, 3)) })
    expect(server.requests).toHaveLength(1)
  })

  test('Retry-After is honoured', async () => {
    await download([refusal('503 Away', { 'retry-after': '50' }), raw.whole(CSV)])
    expect(clock.elapsedMs).toBe(50_000)
  })

  test('the pauses grow, up to some seconds', async () => {
    await download([...Array.from({ length: 12 }, () => refusal('404 Not Found')), raw.whole(CSV)])
    expect(Math.max(...clock.sleeps)).toBeLessThanOrEqual(25_000)
    expect(clock.sleeps[0]).toBeLessThan(1_000)
    expect(clock.sleeps.at(-1)).toBeGreaterThan(10_000)
  })
})

test('a body that is shorter than its length is not believed, whatever carried it', async () => {
  server = await GateRawServer.start()
  const csvs = [CSV.slice(0, 700), CSV]
  const open = async (): Promise<Reply> => ({
    status: 200,
    header: (name) => (name === 'content-length' ? String(CSV.length) : undefined),
    text: () => Promise.resolve(''),
    body: Readable.from([Buffer.from(csvs.shift() ?? '')])
  })
  const tap = {
    restart: () => (tapped = ''),
    push: (chunk: Uint8Array) => (tapped += Buffer.from(chunk).toString())
  }
  const { signal } = new AbortController()
  const onRetry = (reason: string): number => retries.push(reason)
  await expectWhole(await clock.run(downloadCsv({ open, path, clock, signal, tap, onRetry })))
  expect(retries).toEqual([`the CSV broke off: 700 of ${CSV.length} bytes came`])
})

test('a deadline in the middle of a stalled answer ends it', async () => {
  const controller = new AbortController()
  const stalled: RawAnswer = (socket) =>
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: 9999\r\n\r\n${CSV.slice(0, 300)}`
    )
  const downloading = download([stalled], controller.signal)
  for (; tapped === '';) await new Promise(setImmediate)
  controller.abort(new Error('over'))
  await expect(downloading).rejects.toThrow('no whole CSV within the time for collecting')
})
