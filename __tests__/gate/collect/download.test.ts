import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { downloadCsv } from '../../../src/gate/collect/download.js'
import type { ServiceClient } from '../../../src/client/client.js'
import type { Reply } from '../../../src/client/http/http.js'
import { TOKEN, makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateRawServer, breakOff, raw } from '../../support/gate/gate-raw-server.js'
import type { RawAnswer } from '../../support/gate/gate-raw-server.js'
import { makeCsv } from '../../support/gate/gate-service.js'

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

async function download(
  answers: RawAnswer[],
  signal = new AbortController().signal,
  isFinal = false
): Promise<number> {
  server = await GateRawServer.start(...answers)
  const asking = (client = makeClient(server.url, clock))
  return clock.run(
    downloadCsv({
      open: (range) => asking.openResult('/api/runs/r/result.csv?grid_id=g', { range, signal }),
      path,
      clock,
      signal,
      isFinal,
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

  test.each([66_000, 131_072, 1_000_000, 5_000_000])(
    'of about %d bytes, with the connection closed behind it at once, is taken',
    async (size) => {
      const large = makeCsv(Math.ceil(size / 55))
      await expectWhole(await download([raw.whole(large)]), large)
    }
  )

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
      /^no complete CSV within the collection time; the last answer: the download broke off/
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

/** A part of the CSV as it was asked for, or less of it, with whatever total. */
function partOf(from: number, to: number, changes: { total?: string; etag?: string; body?: string } = {}) {
  const { total = String(CSV.length), etag = ETAG, body = CSV.slice(from, to) } = changes
  const headers = { etag, 'content-range': `bytes ${from}-${to - 1}/${total}` }
  return raw.whole(body, headers, '206 Partial Content')
}

/** Answers any range with at most so many bytes, as RFC 9110 allows. */
function inPieces(size: number): RawAnswer {
  return (socket, request) => {
    const from = Number(/^range: bytes=(\d+)-/im.exec(request)?.[1])
    partOf(from, Math.min(CSV.length, from + size))(socket, request)
  }
}

describe('a part that is shorter than what was asked for', () => {
  test('is never taken for the rest: the next one is asked for, without a pause', async () => {
    const rowEnd = CSV.indexOf('\n', 900) + 1
    await expectWhole(
      await download([
        raw.truncated(CSV, 700, { etag: ETAG }),
        partOf(700, rowEnd),
        partOf(rowEnd, CSV.length)
      ])
    )
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-', `bytes=${rowEnd}-`])
    expect(clock.sleeps).toHaveLength(1)
  })

  test('so in a hundred pieces, one after the other', async () => {
    await expectWhole(await download([raw.truncated(CSV, 700, { etag: ETAG }), inPieces(30)]))
    expect(server.requests).toHaveLength(1 + Math.ceil((CSV.length - 700) / 30))
    expect(clock.sleeps).toHaveLength(1)
  })

  test('when it ends before its own end, what came of it is kept', async () => {
    const short = raw.whole(
      CSV.slice(700, 900),
      { etag: ETAG, 'content-range': `bytes 700-${CSV.length - 1}/${CSV.length}` },
      '206 Partial Content'
    )
    await expectWhole(
      await download([raw.truncated(CSV, 700, { etag: ETAG }), short, partOf(900, CSV.length)])
    )
    expect(server.headers('range')).toEqual([undefined, 'bytes=700-', 'bytes=900-'])
  })

  test('the length of the first answer stands in for a total that is not told', async () => {
    await expectWhole(
      await download([
        raw.truncated(CSV, 700, { etag: ETAG }),
        partOf(700, 900, { total: '*' }),
        partOf(900, CSV.length, { total: '*' })
      ])
    )
    expect(server.requests).toHaveLength(3)
  })
})

describe('parts of a CSV that holds the token', () => {
  const SECRET = Buffer.from(`${TOKEN}:`).toString('base64')
  const rowOf = (label: string): string => `1760000100000,100,${label},200,OK,t-1,true,512,5\n`
  const TOLD = [CSV, rowOf(`/a?t=${TOKEN}&x`), rowOf(`Basic ${SECRET}`), rowOf(TOKEN), rowOf('last')].join('')
  const COVERED = [TOKEN, SECRET].reduce(
    (text, secret) => text.replaceAll(secret, '*'.repeat(secret.length)),
    TOLD
  )

  /** Where each part ends that begins at a byte. */
  function inParts(csv: string, endOf: (from: number) => number, total = String(csv.length)): RawAnswer {
    return (socket, request) => {
      const from = Number(/^range: bytes=(\d+)-/im.exec(request)?.[1] ?? 0)
      const to = Math.min(csv.length, endOf(from))
      const size = from === 0 ? String(csv.length) : total
      const headers = { etag: ETAG, 'content-range': `bytes ${from}-${to - 1}/${size}` }
      raw.whole(csv.slice(from, to), headers, '206 Partial Content')(socket, request)
    }
  }

  const first = TOLD.indexOf(TOKEN)
  const offsets = Array.from({ length: TOKEN.length + 1 }, (_, offset) => offset)

  test.each(offsets)('none of it gets out when a part ends %d bytes into it', async (offset) => {
    const cut = first + offset
    await expectWhole(await download([inParts(TOLD, (from) => (from < cut ? cut : TOLD.length))]), COVERED)
    expect(server.requests).toHaveLength(2)
    expect(retries).toEqual([])
  })

  test.each(offsets.slice(1))('nor when every part ends %d bytes into the next one', async (offset) => {
    const endOf = (from: number): number => {
      const next = [TOKEN, SECRET].map((secret) => TOLD.indexOf(secret, from)).filter((at) => at >= 0)
      return next.length === 0 ? TOLD.length : Math.min(...next) + offset
    }
    await expectWhole(await download([inParts(TOLD, endOf)]), COVERED)
    expect(retries).toEqual([])
  })

  test.each([7, 16, 64, 1000])('nor when parts end at every multiple of %d bytes', async (size) => {
    const endOf = (from: number): number => (Math.floor(from / size) + 1) * size
    await expectWhole(await download([inParts(TOLD, endOf)]), COVERED)
    expect(server.requests).toHaveLength(Math.ceil(TOLD.length / size))
    expect(retries).toEqual([])
  })

  test('nor when a part ends before the end that it announced', async () => {
    const cut = first + 10
    const short: RawAnswer = raw.whole(
      TOLD.slice(0, cut),
      { etag: ETAG, 'content-range': `bytes 0-${TOLD.length - 1}/${TOLD.length}` },
      '206 Partial Content'
    )
    await expectWhole(await download([short, inParts(TOLD, () => TOLD.length)]), COVERED)
    expect(server.headers('range')).toEqual([undefined, `bytes=${cut}-`])
  })

  test('nor when the next part breaks off or is refused', async () => {
    const cut = first + 10
    const broken: RawAnswer = (socket) =>
      breakOff(
        socket,
        `HTTP/1.1 206 Partial Content\r\netag: ${ETAG}\r\ncontent-range: bytes ${cut}-${TOLD.length - 1}/${TOLD.length}\r\n` +
          `content-length: ${TOLD.length - cut}\r\n\r\n${TOLD.slice(cut, cut + 5)}`
      )
    const refused = raw.whole('', {}, '503 Service Unavailable')
    const rest = inParts(TOLD, () => TOLD.length)
    await expectWhole(await download([inParts(TOLD, () => cut), refused, broken, rest]), COVERED)
    expect(server.headers('range')).toEqual([
      undefined,
      `bytes=${cut}-`,
      `bytes=${cut}-`,
      // What was held back is asked for again.
      `bytes=${first}-`
    ])
  })

  test.each(['*', undefined])(
    'a CSV that ends as the token begins is whole all the same (total %s)',
    async (total) => {
      const csv = `${CSV}1760000100000,100,x,200,OK,t-1,true,512,${TOKEN.slice(0, 3)}`
      await expectWhole(await download([inParts(csv, (from) => from + 100, total)]), csv)
      expect(retries).toEqual([])
    }
  )

  test('a part that is longer than it says is not taken, though its end is held back', async () => {
    const body = TOLD.slice(0, first + 10)
    const headers = { etag: ETAG, 'content-range': `bytes 0-${first}/${TOLD.length}` }
    const answers = [raw.whole(body, headers, '206 Partial Content'), raw.whole(TOLD)]
    await expectWhole(await download(answers), COVERED)
    expect(retries).toEqual(['the service sent more of the CSV than it announced'])
  })
})

describe('a part that does not fit means starting over', () => {
  const first = raw.truncated(CSV, 700, { etag: ETAG })
  /** Broken off before it could say how long it would be. */
  const unmeasured: RawAnswer = (socket) =>
    breakOff(
      socket,
      `HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\netag: ${ETAG}\r\ntransfer-encoding: chunked\r\n\r\n2bc\r\n${CSV.slice(0, 700)}\r\n`
    )
  test.each<[string, RawAnswer, RawAnswer]>([
    [
      'a total that is larger than before',
      first,
      partOf(700, CSV.length, { total: String(CSV.length + 50) })
    ],
    ['a total that is smaller than before', first, partOf(700, 900, { total: '900' })],
    ['a total that is smaller than what is there', first, partOf(700, 701, { total: '600' })],
    ['a total that nobody knows', unmeasured, partOf(700, CSV.length, { total: '*' })],
    ['another version', first, partOf(700, CSV.length, { etag: '"v2"' })],
    ['an overlap', first, partOf(600, CSV.length)],
    ['a gap', first, partOf(800, CSV.length)],
    ['no bytes at all', first, partOf(700, CSV.length, { body: '' })],
    ['more bytes than it says', first, partOf(700, 800, { body: CSV.slice(700, 900) })],
    ['a range that ends before it begins', first, partOf(700, 600)],
    ['no range', first, raw.whole(CSV.slice(700), { etag: ETAG }, '206 Partial Content')]
  ])('%s', async (_, broken, part) => {
    await expectWhole(await download([broken, part, raw.whole(CSV)]))
    expect(server.headers('range').slice(0, 3)).toEqual([undefined, 'bytes=700-', undefined])
    expect(server.requests.length).toBeLessThanOrEqual(4)
  })

  test('parts without bytes for ever end with the time for collecting, and are not asked for in a rush', async () => {
    const controller = new AbortController()
    void clock.sleep(60_000).then(() => controller.abort(new Error('over')))
    const empty = partOf(700, CSV.length, { body: '' })
    const answers = Array.from({ length: 40 }, (_, turn) => (turn % 2 === 0 ? first : empty))
    await expect(download(answers, controller.signal)).rejects.toThrow(
      'no complete CSV within the collection time'
    )
    expect(server.requests.length).toBeLessThan(20)
    expect(existsSync(path)).toBe(false)
  })
})

describe('a part that nobody asked for', () => {
  test('is taken when it is the whole', async () => {
    await expectWhole(await download([partOf(0, CSV.length)]))
    expect(server.requests).toHaveLength(1)
  })

  test('is the first of several when it is the start', async () => {
    await expectWhole(await download([partOf(0, 800), partOf(800, CSV.length)]))
    expect(server.headers('range')).toEqual([undefined, 'bytes=800-'])
  })

  test('for ever, whatever is asked for: not asked for in a rush', async () => {
    const controller = new AbortController()
    void clock.sleep(60_000).then(() => controller.abort(new Error('over')))
    await expect(download([partOf(0, 800)], controller.signal)).rejects.toThrow(
      'no complete CSV within the collection time'
    )
    expect(server.requests.length).toBeLessThan(30)
  })

  test('is no start without a version to go on from', async () => {
    await expectWhole(await download([partOf(0, 800, { etag: 'W/"v1"' }), raw.whole(CSV)]))
    expect(server.headers('range')).toEqual([undefined, undefined])
    expect(clock.sleeps).toHaveLength(1)
  })
})

describe('a size that changes from one answer to the next', () => {
  const HALF = CSV.slice(0, CSV.indexOf('\n', CSV.length / 2) + 1)

  test('is not believed before it has come twice', async () => {
    await expectWhole(
      await download([raw.truncated(CSV, 700), raw.whole(HALF), raw.whole(CSV), raw.whole(CSV)])
    )
    expect(server.requests).toHaveLength(4)
    expect(retries[1]).toBe(
      `the CSV had ${CSV.length} bytes before and has ${HALF.length} now; downloading it again to compare`
    )
  })

  test('is believed where the service says that it is another version', async () => {
    const other = makeCsv(60, 333)
    await expectWhole(
      await download([raw.truncated(CSV, 700, { etag: ETAG }), raw.whole(other, { etag: '"v2"' })]),
      other
    )
    expect(server.requests).toHaveLength(2)
  })
})

describe('an answer that only the closed connection ends', () => {
  test('is fetched again, and taken when both are of one size', async () => {
    await expectWhole(await download([raw.closed(CSV)]))
    expect(server.requests).toHaveLength(2)
    expect(retries).toEqual(['the CSV came without a length; downloading it again to compare'])
  })

  test('closed early, it is not believed', async () => {
    await expectWhole(await download([raw.closed(CSV.slice(0, 700)), raw.closed(CSV), raw.closed(CSV)]))
    expect(server.requests).toHaveLength(3)
  })

  test('closed early twice at the same place is not believed where more has come before', async () => {
    const cut = raw.closed(CSV.slice(0, 700))
    await expectWhole(await download([raw.closed(CSV), cut, cut, raw.closed(CSV), raw.closed(CSV)]))
    expect(server.requests).toHaveLength(5)
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
      /expected CSV, got JSON: Sorry, we cannot find/
    ],
    ['JSON that calls itself CSV', raw.whole('{"error":"not ready"}'), /expected CSV, got JSON: not ready/],
    ['a JSON list', raw.whole('["not ready"]'), /expected CSV, got JSON/],
    [
      'an HTML page',
      raw.whole('<html><title>Down</title></html>', { 'content-type': 'text/html' }),
      /expected CSV, got a page: an HTML page titled "Down"/
    ],
    [
      'an HTML page that calls itself CSV',
      raw.whole('\n  <!doctype html><h1>Oops</h1>'),
      /expected CSV, got a page/
    ],
    ['an empty body', raw.whole(''), /the CSV is empty/],
    [
      'a sentence',
      raw.whole('results are being prepared'),
      /^expected CSV, got "results are being prepared"$/
    ],
    [
      'sentences with commas and line breaks',
      raw.whole('Sorry, not yet,\nplease wait\n'),
      /^expected CSV, got "Sorry, not yet, please wait"$/
    ],
    ['a blank line', raw.whole('\n'), /^expected CSV, got a blank line$/],
    ['white space', raw.whole(' \r\n\r\n'), /^expected CSV, got a blank line$/],
    ['half a header', raw.whole('timeSta'), /^the CSV header is incomplete: "timeSta"$/],
    [
      'a header that could be known, cut',
      raw.whole('timeStamp,elapsed,label,respon'),
      /^the CSV header is incomplete: "timeStamp,elapsed,label,respon"$/
    ],
    ['a CSV of something else', raw.whole('id,name\n1,x\n'), /^expected CSV, got "id,name 1,x"$/],
    ['a stream without a line', raw.whole('x'.repeat(100_000)), /^expected CSV, got "x{199}…"$/],
    ['a body in another encoding', raw.whole('xx', { 'content-encoding': 'br' }), /the encoding "br"/]
  ])('%s is not kept; a CSV that comes later is', async (_, answer, reason) => {
    await expectWhole(await download([answer, raw.whole(CSV)]))
    expect(retries).toEqual([expect.stringMatching(reason)])
  })

  test('another encoding for ever is the end after a minute, and is named', async () => {
    const encoded = raw.whole('xx', { 'content-encoding': 'br' })
    await expect(download([encoded])).rejects.toThrow(
      /^the CSV came with the encoding "br", which was not requested/
    )
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(clock.elapsedMs).toBeLessThan(70_000)
  })

  test('JSON for ever ends with the time for collecting, and nothing is left under the name', async () => {
    const controller = new AbortController()
    void clock.sleep(60_000).then(() => controller.abort(new Error('over')))
    const downloading = download([raw.whole('{"error":"gone"}')], controller.signal)
    await expect(downloading).rejects.toThrow(
      /no complete CSV within the collection time; the last answer: expected CSV, got JSON.*gone/
    )
    expect(existsSync(path)).toBe(false)
    expect(server.requests.length).toBeLessThan(20)
  })

  test.each([1, 7, 40])('a header that comes in pieces of %d bytes is seen whole', async (size) => {
    await expectWhole(await download([raw.chunked(CSV, { pieces: size })]))
    expect(retries).toEqual([])
  })

  test('a sentence that comes in pieces is quoted whole', async () => {
    const sentence = 'results are being prepared, please wait'
    await expectWhole(await download([raw.chunked(sentence, { pieces: 5 }), raw.whole(CSV)]))
    expect(retries).toEqual([`expected CSV, got "${sentence}"`])
  })

  test('a header that breaks off and goes on in another part is seen whole', async () => {
    await expectWhole(await download([raw.truncated(CSV, 18, { etag: ETAG }), partOf(18, CSV.length)]))
    expect(server.headers('range')).toEqual([undefined, 'bytes=18-'])
  })

  test('a byte order mark before the header is no hindrance', async () => {
    const csv = `\uFEFF${CSV}`
    const bytes = await download([raw.whole(csv)])
    expect(bytes).toBe(Buffer.byteLength(csv))
  })
})

describe('a CSV that comes compressed, though it was asked for as it is', () => {
  const gzipped = (csv: string, { sent = Infinity, status = '200 OK', name = 'gzip' } = {}): RawAnswer => {
    const bytes = gzipSync(csv)
    const head = `HTTP/1.1 ${status}\r\ncontent-encoding: ${name}\r\netag: ${ETAG}\r\ncontent-length: ${bytes.length}\r\n\r\n`
    return (socket) => {
      socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, sent)]), () =>
        setTimeout(() => socket.end(), 150)
      )
    }
  }

  test.each(['gzip', 'x-gzip', 'GZIP'])('%s is decoded; two of one size make it whole', async (name) => {
    await expectWhole(await download([gzipped(CSV, { name })]))
    expect(server.requests).toHaveLength(2)
  })

  test('what breaks off is fetched from its start', async () => {
    await expectWhole(await download([gzipped(CSV, { sent: 60 }), gzipped(CSV)]))
    expect(retries[0]).toMatch(/^the download broke off after \d+ bytes/)
    expect(server.headers('range').filter((range) => range !== undefined)).toEqual([])
  })

  test('the token is covered in it', async () => {
    const row = `1760000100000,100,${TOKEN},200,OK,t-1,true,512,5\n`
    await expectWhole(
      await download([gzipped(CSV + row)]),
      CSV + row.replace(TOKEN, '*'.repeat(TOKEN.length))
    )
  })

  test('what says so and is not compressed is no CSV; the next one may be', async () => {
    await expectWhole(await download([raw.whole(CSV, { 'content-encoding': 'gzip' }), raw.whole(CSV)]))
  })

  test('a compressed part is not joined to what is there', async () => {
    const broken = raw.truncated(CSV, 700, { etag: ETAG })
    const part = gzipped(CSV.slice(700), {
      status: `206 Partial\r\ncontent-range: bytes 700-${CSV.length - 1}/${CSV.length}`
    })
    await expectWhole(await download([broken, part, raw.whole(CSV, { etag: ETAG })]))
    expect(retries[1]).toMatch(/the encoding "gzip"/)
  })
})

describe('refusals', () => {
  const refusal = (status: string, headers = {}) =>
    raw.whole('{"error":"so"}', { 'content-type': 'application/json', ...headers }, status)

  test.each([
    '302 Found',
    '403 Forbidden',
    '404 Not Found',
    '409 Conflict',
    '422 Unprocessable',
    '423 Locked',
    '429 Too Many Requests',
    '500 Oops',
    '503 Away'
  ])('%s: not ready yet, tried again', async (status) => {
    await expectWhole(await download([refusal(status), refusal(status), raw.whole(CSV)]))
    expect(server.requests).toHaveLength(3)
  })

  test.each([
    ['a sign-in page without https', 'http://sign-in.example/'],
    ['no address', 'https://['],
    ['itself, again and again', '/api/runs/r/result.csv?grid_id=g']
  ])('a redirect to %s is something in the place of the service, tried again', async (_, location) => {
    const redirect = refusal('302 Found', { location })
    await expectWhole(await download([...Array.from({ length: 6 }, () => redirect), raw.whole(CSV)]))
  })

  test('a redirect that stays is the end after a minute, and is named', async () => {
    const location = 'http://sign-in.example/?from=x'
    await expect(download([refusal('302 Found', { location })])).rejects.toThrow(
      /refused a redirect to http:\/\/sign-in\.example: only https.*sign-in page/
    )
    expect(clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
    expect(clock.elapsedMs).toBeLessThan(70_000)
  })

  test.each(['401 Unauthorized', '410 Gone', '451 Not Here'])('%s is the end at once', async (status) => {
    await expect(download([refusal(status)])).rejects.toMatchObject({ status: Number(status.slice(0, 3)) })
    expect(server.requests).toHaveLength(1)
  })

  test.each(['400 Bad Request', '403 Forbidden', '405 Not Allowed', '407 Proxy', '422 Unprocessable'])(
    '%s is the end after a minute',
    async (status) => {
      await expect(download([refusal(status)])).rejects.toMatchObject({ status: Number(status.slice(0, 3)) })
      expect(clock.elapsedMs).toBeGreaterThanOrEqual(60_000)
      expect(clock.elapsedMs).toBeLessThan(70_000)
    }
  )

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

test('a disk that takes nothing is an error at once, not a service that is late', async () => {
  path = join(path, 'no-such-folder', 'grid.csv')
  await expect(download([raw.whole(CSV), raw.whole(CSV)])).rejects.toThrow(
    /could not be written on this machine: .*ENO.*Free up disk space/
  )
  expect(server.requests).toHaveLength(1)
  expect(retries).toEqual([])
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
  expect(retries).toEqual([`the download broke off: got 700 of ${CSV.length} bytes`])
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
  await expect(downloading).rejects.toThrow('no complete CSV within the collection time')
})

describe('a CSV that cannot be had leaves nothing behind', () => {
  test.each(['', 'results are being prepared\n'])('%j, where nothing can follow: at once', async (answer) => {
    await expect(download([raw.whole(answer)], undefined, true)).rejects.toThrow(/empty|expected CSV, got/)
    expect(server.requests).toHaveLength(1)
    expect(clock.elapsedMs).toBe(0)
    expect(existsSync(`${path}.part`)).toBe(false)
  })

  test('a part of it, when the time is over', async () => {
    const over = new AbortController()
    void clock.sleep(60_000).then(() => over.abort())
    await expect(
      download([raw.truncated(CSV, 300), raw.whole('', {}, '503 Service Unavailable')], over.signal)
    ).rejects.toThrow('no complete CSV within the collection time')
    expect(existsSync(`${path}.part`)).toBe(false)
  })
})
