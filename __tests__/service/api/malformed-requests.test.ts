import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Service } from '../../../src/service/server.js'
import { createServices, get } from '../support.js'

const services = createServices()
let service: Service
beforeAll(async () => {
  service = await services.start()
})
afterAll(() => services.closeAll())

/** Sends raw bytes and returns the response. */
async function sendRaw(request: string): Promise<{ status: number; body: string }> {
  const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
  socket.write(request)
  const reply = await text(socket)
  const end = reply.indexOf('\r\n\r\n')
  expect(reply.slice(0, end).toLowerCase()).toContain('content-type: application/json')
  return { status: Number(reply.split(' ')[1]), body: reply.slice(end + 4) }
}

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400, /method is unknown/],
  ['another method', 'BREW /runs HTTP/1.1\r\nHost: x\r\n\r\n', 400, /method is unknown/],
  [
    'a bad header',
    'GET /runs HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n',
    400,
    /is not valid HTTP: .*header/i
  ],
  [
    'a large header',
    `GET /runs HTTP/1.1\r\nHost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    431,
    /headers are too large/
  ],
  [
    'two lengths',
    'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    400,
    /is not valid HTTP/
  ],
  ['another version', 'GET /runs HTTP/9.9\r\nHost: x\r\n\r\n', 400, /is not valid HTTP/],
  ['no host', 'GET /runs HTTP/1.1\r\nConnection: close\r\n\r\n', 403, /its own address/],
  [
    'an expectation',
    'GET /runs HTTP/1.1\r\nHost: x\r\nExpect: tea\r\nConnection: close\r\n\r\n',
    417,
    /Expect/
  ],
  ['a tunnel', 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', 400, /is not a proxy/],
  [
    'a method that no route has',
    'PUT /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    403,
    /its own address/
  ]
])('%s gets a JSON error like any other mistake', async (_, request, status, words) => {
  const reply = await sendRaw(request)
  expect(reply.status).toBe(status)
  const document = JSON.parse(reply.body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, '')) as { error: string }
  expect(Object.keys(document)).toEqual(['error'])
  expect(document.error).toMatch(words)
  expect((await get(service, '/runs')).status).toBe(200)
})
