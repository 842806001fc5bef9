import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { Agent, createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Driver } from '../../../../src/service/programs/selenium-hub/driver.js'
import { type Hub, type HubPorts, startHub } from '../../../../src/service/programs/selenium-hub/hub.js'
import { until } from '../../../e2e/cli-command.js'

interface Seen {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly body: string
}

let server: Server
let seen: Seen[]
let hub: Hub
let events: string[]
let isEnding: boolean
/** What the driver answers, by path. */
let answers: Record<string, { status: number; value: unknown } | 'hang-up'>

beforeEach(async () => {
  ;[seen, events, isEnding] = [[], [], false]
  answers = { '/session': { status: 200, value: { sessionId: 'one' } } }
  server = createServer((asked, response) => {
    let body = ''
    asked.on('data', (chunk: Buffer) => (body += chunk.toString()))
    asked.on('end', () => {
      seen.push({ method: asked.method, url: asked.url, body })
      const answer = answers[asked.url ?? ''] ?? { status: 200, value: null }
      if (answer === 'hang-up') return asked.socket.destroy()
      response.writeHead(answer.status)
      response.end(JSON.stringify({ value: answer.value }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  hub = await startHub(ports())
})
afterEach(async () => {
  await hub.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

function ports(startDriver = () => Promise.resolve(driver())): HubPorts {
  return {
    choice: { browser: 'chrome', browserFile: '/opt/chrome', hosts: [] },
    startDriver,
    onSession: () => events.push('session'),
    onPassEnd: () => events.push('pass'),
    log: (line) => events.push(line),
    isEnding: () => isEnding
  }
}

function driver(): Driver {
  events.push('start')
  return {
    port: (server.address() as AddressInfo).port,
    agent: new Agent(),
    noteBrowser: () => undefined,
    lastWords: () => 'exit code 1: no display',
    stop: () => events.push('stop')
  }
}

function ask(
  method: string,
  path: string,
  { headers = {}, body = '' }: { headers?: Record<string, string>; body?: string } = {}
): Promise<{ status: number; value: { error?: string; message?: string; sessionId?: string } | null }> {
  return new Promise((resolve, reject) => {
    const call = request(
      { host: '127.0.0.1', port: hub.port, method, path, headers, agent: false },
      (reply) => {
        let text = ''
        reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
        reply.on('end', () =>
          resolve({ status: reply.statusCode ?? 0, ...(JSON.parse(text) as { value: null }) })
        )
      }
    )
    call.on('error', reject)
    call.end(body)
  })
}

test.each(['/wd/hub', ''])(
  'a session at "%s" has a driver of its own, from its start to its end',
  async (base) => {
    const body = JSON.stringify({ capabilities: { alwaysMatch: { browserName: 'firefox' } } })
    expect((await ask('POST', `${base}/session`, { body })).value).toEqual({ sessionId: 'one' })
    expect((await ask('GET', `${base}/session/one/title`)).status).toBe(200)
    await ask('DELETE', `${base}/session/one`)
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /session',
      'GET /session/one/title',
      'DELETE /session/one'
    ])
    expect(seen[0]!.body).toContain('--headless=new')
    expect(events).toEqual([
      "the script asks for firefox; the run's tool is chrome, which it gets",
      ...['start', 'session', 'stop']
    ])
    expect((await ask('GET', '/session/one/title')).value).toMatchObject({ error: 'invalid session id' })
  }
)

test('it is ready', async () => {
  expect((await ask('GET', '/wd/hub/status')).value).toMatchObject({ ready: true })
})

describe('pages cannot use it', () => {
  test.each([
    { what: 'another host name', headers: { host: 'attacker.example' } },
    { what: 'another port', headers: { host: '127.0.0.1:80' } },
    { what: 'a page, even a local one', headers: { origin: 'http://127.0.0.1:8080' } },
    { what: 'a page without an origin', headers: { 'sec-fetch-site': 'same-site' } }
  ])('$what is refused, and no driver is started', async ({ headers }) => {
    const { status, value } = await ask('POST', '/session', { headers, body: '{}' })
    expect(status).toBe(403)
    expect(value!.message).toMatch(/the hub (is at 127\.0\.0\.1:|does not take requests from pages)/)
    expect(events).toEqual([])
  })
})

describe('what goes wrong', () => {
  test('a driver that does not start is told in its words', async () => {
    await hub.close()
    hub = await startHub(ports(() => Promise.reject(new Error('chromedriver did not start, exit code 1'))))
    expect(await ask('POST', '/session')).toEqual({
      status: 500,
      value: {
        error: 'session not created',
        message: 'chromedriver did not start, exit code 1',
        stacktrace: ''
      }
    })
  })

  test('a browser that does not start ends its driver', async () => {
    answers['/session'] = { status: 500, value: { error: 'session not created', message: 'no display' } }
    expect((await ask('POST', '/session')).value).toMatchObject({ message: 'no display' })
    expect(events).toEqual(['start', 'stop'])
  })

  test('a driver that ends is told in its last words', async () => {
    await ask('POST', '/session')
    answers['/session/one/url'] = 'hang-up'
    expect((await ask('POST', '/session/one/url')).value).toMatchObject({
      error: 'unknown error',
      message: 'the driver has ended, exit code 1: no display'
    })
  })

  test.each([
    { what: 'a driver that is gone', answer: 'hang-up' as const },
    {
      what: 'a browser that is gone',
      answer: { status: 404, value: { error: 'invalid session id', message: '' } }
    }
  ])('while the test is being ended, $what gives no answer', async ({ answer }) => {
    await ask('POST', '/session')
    answers['/session/one/url'] = answer
    isEnding = true
    const asked = ask('POST', '/session/one/url')
    await Promise.all([
      expect(asked).rejects.toThrow('socket hang up'),
      until(() => seen.some(({ url }) => url === '/session/one/url')).then(() => hub.close())
    ])
  })

  test('sessions that a script leaves open are ended, and it is told', async () => {
    await ask('POST', '/session')
    expect((await ask('DELETE', '/loadgate/sessions')).status).toBe(200)
    await ask('DELETE', '/loadgate/sessions')
    expect(events).toEqual([
      ...['start', 'session', 'the script ended without driver.quit(); closing 1 browser', 'stop'],
      ...['pass', 'pass']
    ])
  })

  test('sessions that a process left open are ended with it, those that are being started too', async () => {
    await ask('POST', '/session')
    hub.endSessions()
    expect((await ask('GET', '/session/one/title')).status).toBe(404)
    await hub.close()
    let start: (() => void) | undefined
    hub = await startHub(ports(() => new Promise((resolve) => (start = () => resolve(driver())))))
    const asked = ask('POST', '/session')
    await until(() => start !== undefined)
    hub.endSessions()
    start?.()
    expect((await asked).value).toMatchObject({ message: 'the user has ended' })
    expect(events).toEqual([
      ...['start', 'session', 'the script ended without driver.quit(); closing 1 browser', 'stop'],
      ...['start', 'stop']
    ])
  })

  test('a driver that starts while the hub is being closed is stopped', async () => {
    await hub.close()
    let start: (() => void) | undefined
    hub = await startHub(ports(() => new Promise((resolve) => (start = () => resolve(driver())))))
    const asked = ask('POST', '/session').catch((thrown: unknown) => thrown)
    await until(() => start !== undefined)
    await hub.close()
    start?.()
    await asked
    await until(() => events.length === 2)
    expect(events).toEqual(['start', 'stop'])
  })
})
