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
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['another method', 'BREW /runs HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a bad header', 'GET /runs HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n', 400],
  ['two lengths', 'POST /runs HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
  ['another version', 'GET /runs HTTP/9.9\r\nHost: x\r\n\r\n', 400],
  [
    'a method that no route has',
    'PUT /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    403
  ]
])('%s gets a JSON error', async (_, request, status) => {
  const reply = await sendRaw(request)
  expect(reply.status).toBe(status)
  const document = JSON.parse(reply.body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, '')) as { error: string }
  expect(document.error).not.toBe('')
  expect((await get(service, '/runs')).status).toBe(200)
})
