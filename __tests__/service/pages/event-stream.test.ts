import { afterEach, describe, expect, test } from '@jest/globals'
import { createServer, get, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyReply } from 'fastify'
import { EventStream } from '../../../src/service/pages/send-page.js'
import { parseEvents } from '../../support/parse-events.js'

let server: Server | undefined
afterEach(() => void server?.close())

/** What a browser receives when these are sent. */
async function hear(sent: readonly string[]): Promise<string[]> {
  server = createServer((_request, raw) => {
    const stream = new EventStream({ raw, hijack: () => undefined } as unknown as FastifyReply)
    for (const data of sent.slice(0, -1)) stream.send(data)
    stream.beat()
    stream.end(sent.at(-1))
  })
  const listening = server
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  const { port } = listening.address() as AddressInfo
  const text = await new Promise<string>((resolve, reject) => {
    get({ host: '127.0.0.1', port, agent: false }, (response) => {
      let all = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => (all += chunk))
      response.on('end', () => resolve(all))
    }).on('error', reject)
  })
  return parseEvents(text)
}

describe('an event arrives as it was sent', () => {
  test.each([
    ['U+2028', 'a\u2028b'],
    ['U+2029', 'a\u2029b'],
    ['U+2028 at the start and at the end', '\u2028a\u2028'],
    ['U+0085 and others that some take for line ends', 'a\u0085b\vc\fd'],
    ['text that looks like a field', 'data: x'],
    ['a line end', 'a\nb'],
    ['empty lines', '\n\na\n'],
    ['nothing', '']
  ])('%s', async (_, data) => {
    expect(await hear([data, 'next'])).toEqual([data, 'next'])
  })

  // The format has no way to say which line end it was.
  test.each([
    ['CR', 'a\rb'],
    ['CR LF', 'a\r\nb']
  ])('%s as a line end', async (_, data) => {
    expect(await hear([data, 'next'])).toEqual(['a\nb', 'next'])
  })
})
