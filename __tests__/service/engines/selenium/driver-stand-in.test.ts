import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { standInForDriver } from '../../../../src/service/programs/selenium-hub/driver-stand-in.js'

let hub: Server
let standIn: Server
let asked: string[]
beforeEach(async () => {
  asked = []
  hub = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.end('{"value":{"sessionId":"one"}}')
  }).listen(0, '127.0.0.1')
  await once(hub, 'listening')
})
afterEach(() => {
  for (const server of [hub, standIn]) {
    server.close()
    server.closeAllConnections()
  }
})

const portOf = (server: Server): number => (server.address() as AddressInfo).port

async function start(browser: 'chrome' | 'firefox', wanted: string): Promise<string> {
  standIn = standInForDriver(['--port=0'], { hubPort: portOf(hub), browser, wanted })
  await once(standIn, 'listening')
  return `http://127.0.0.1:${portOf(standIn)}`
}

test('what a script asks its driver reaches the hub', async () => {
  const address = await start('chrome', 'chrome')
  const reply = await fetch(`${address}/session`, { method: 'POST', body: '{}' })
  expect(await reply.json()).toEqual({ value: { sessionId: 'one' } })
  expect(asked).toEqual(['POST /session'])
})

test.each([
  { browser: 'firefox', wanted: 'chrome' } as const,
  { browser: 'chrome', wanted: 'firefox' } as const,
  { browser: 'chrome', wanted: 'edge' } as const
])(
  'a driver for $wanted is ready but starts no browser in a run for $browser',
  async ({ browser, wanted }) => {
    const address = await start(browser, wanted)
    expect(await (await fetch(`${address}/status`)).json()).toMatchObject({ value: { ready: true } })
    const reply = await fetch(`${address}/session`, { method: 'POST', body: '{}' })
    expect(reply.status).toBe(500)
    expect(await reply.json()).toMatchObject({
      value: {
        error: 'session not created',
        message: expect.stringContaining(`a driver for ${wanted}, and this run is for ${browser}`) as unknown
      }
    })
    expect(asked).toEqual([])
  }
)

test('it ends when it is told to', async () => {
  const address = await start('chrome', 'chrome')
  const closed = once(standIn, 'close')
  await fetch(`${address}/shutdown`).catch(() => undefined)
  await closed
  expect(asked).toEqual([])
})
