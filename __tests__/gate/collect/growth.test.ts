import { afterEach, expect, test } from '@jest/globals'
import { hasGrown } from '../../../src/gate/collect/growth.js'
import type { ServiceClient } from '../../../src/service/client.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/gate/gate-clock.js'
import { GateRawServer, raw } from '../../support/gate/gate-raw-server.js'
import type { RawAnswer } from '../../support/gate/gate-raw-server.js'
import { makeCsv } from '../../support/gate/gate-service.js'

const CSV = makeCsv(20)
const LONGER = makeCsv(30)

let server: GateRawServer
let client: ServiceClient

afterEach(async () => {
  await client.close()
  await server.close()
})

async function ask(answer: RawAnswer): Promise<boolean> {
  server = await GateRawServer.start(answer)
  const clock = new ManualClock()
  client = makeClient(server.url, clock)
  const { signal } = new AbortController()
  const place = { bytes: CSV.length, clock, signal }
  return clock.run(hasGrown(client, '/api/runs/r/result.csv?grid_id=g', place))
}

const part = (range: string, body = 'x') => raw.whole(body, { 'content-range': range }, '206 Partial Content')
const size = CSV.length

test.each<[string, RawAnswer]>([
  ['the bytes behind the end', part(`bytes ${size}-${size + 9}/${size + 10}`)],
  ['some of the bytes behind the end, of nobody knows how many', part(`bytes ${size}-${size}/*`)],
  ['all of it, longer than before', raw.whole(LONGER)]
])('growth: %s', async (_, answer) => {
  expect(await ask(answer)).toBe(true)
  expect(server.headers('range')).toEqual([`bytes=${size}-`])
  expect(server.headers('if-range')).toEqual([undefined])
})

test.each<[string, RawAnswer]>([
  ['no such range', raw.whole('', { 'content-range': `bytes */${size}` }, '416 Range Not Satisfiable')],
  ['no such range, of a longer CSV', raw.whole('', { 'content-range': 'bytes */9999999' }, '416 No')],
  ['all of it, as long as before', raw.whole(CSV)],
  ['less than before', raw.whole(makeCsv(3))],
  ['all of it in chunks', raw.chunked(LONGER)],
  ['a longer page', raw.whole(`<html>${'x'.repeat(size)}`, { 'content-type': 'text/html' })],
  ['a longer sentence', raw.whole('not here, '.repeat(size))],
  ['another encoding', raw.whole(LONGER, { 'content-encoding': 'gzip' })],
  ['another part', part(`bytes 0-${size + 9}/${size + 10}`)],
  ['a part that makes no sense', part('bytes')],
  ['a part of nothing', part(`bytes ${size}-${size - 1}/${size}`)],
  ['202', raw.whole(LONGER, {}, '202 Accepted')],
  ['404', raw.whole('no', {}, '404 Not Found')],
  ['405', raw.whole('no', {}, '405 Not Allowed')],
  ['500', raw.whole('no', {}, '500 Oops')],
  ['401', raw.whole('no', {}, '401 No')],
  ['a redirect to a sign-in page', raw.whole('', { location: 'http://sign-in.example' }, '302 Found')],
  ['a reset', raw.reset]
])('none: %s', async (_, answer) => {
  expect(await ask(answer)).toBe(false)
  expect(server.requests).toHaveLength(1)
})

test('of a body of two gigabytes no more is read than it takes to see what it is', async () => {
  let isClosed: Promise<unknown> = Promise.resolve()
  let written = 0
  const endless: RawAnswer = (socket) => {
    isClosed = new Promise((resolve) => socket.on('close', resolve))
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\ncontent-length: ${2 ** 31}\r\n\r\n${CSV}`)
    const chunk = Buffer.alloc(64 * 1024, 'x')
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk)) written += chunk.length
    }
    socket.on('drain', write)
    write()
  }
  expect(await ask(endless)).toBe(true)
  await isClosed
  expect(written).toBeLessThan(200 * 1024 * 1024)
})
