import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { request } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createServedTeams, type ServedTeam } from '../quotas/served-team.js'
import { type Address, get, postForm, runForm, send } from '../support.js'

const teams = createServedTeams()
let team: ServedTeam
let member: Address
beforeAll(async () => {
  team = await teams.start('drain: 0')
  member = team.as('shop', 'admin')
})
afterAll(() => teams.closeAll())

const MIB = 1024 ** 2
const FIELDS = 2000
/** A little less than the limit of one field. */
const VALUE = Buffer.alloc(MIB - 100, 'x')
const TYPE = 'multipart/form-data; boundary=xx'
const fieldOf = (number: number): Buffer =>
  Buffer.concat([
    Buffer.from(`--xx\r\nContent-Disposition: form-data; name="run[f${number}]"\r\n\r\n`),
    VALUE,
    Buffer.from('\r\n')
  ])

/** Sends field after field until the service has had enough; how many it let in. */
async function pour(path: string): Promise<number> {
  const { port } = new URL(member.url)
  const authorization = `Basic ${Buffer.from(`${member.token}:`).toString('base64')}`
  const outgoing = request({
    ...{ host: '127.0.0.1', port, method: 'POST', path, agent: false },
    headers: { authorization, 'content-type': TYPE }
  })
  outgoing.on('response', (incoming) => incoming.resume().on('error', () => undefined))
  const over = new AbortController()
  for (const event of ['error', 'close']) outgoing.on(event, () => over.abort())
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      outgoing.once('drain', resolve)
      over.signal.addEventListener('abort', () => resolve())
    })
  let sent = 0
  for (; sent < FIELDS && !over.signal.aborted; sent++) if (!outgoing.write(fieldOf(sent))) await next()
  outgoing.destroy()
  return sent
}

describe('fields that are too much together', () => {
  test.each(['/runs', '/grids', '/users'])(
    'are refused at %s as they arrive, and the others are answered meanwhile',
    async (path) => {
      const over = new AbortController()
      const tookMs: number[] = []
      const probing = (async () => {
        do {
          const startMs = performance.now()
          expect((await get(member, '/healthz', { token: null })).status).toBe(200)
          tookMs.push(performance.now() - startMs)
        } while (!over.signal.aborted)
      })()
      // Some were on their way when the service hung up.
      expect(await pour(path)).toBeLessThan(100)
      over.abort()
      await probing
      expect(tookMs.sort((a, b) => a - b)[Math.floor(tookMs.length / 2)]).toBeLessThan(100)
    }
  )

  test.each(['/runs', '/grids', '/users'])('get a reply at %s that says so', async (path) => {
    const fields = Buffer.concat([...[1, 2].map(fieldOf), Buffer.from('--xx--\r\n')])
    const reply = await send(member, 'POST', path, { headers: { 'content-type': TYPE }, body: fields })
    expect([reply.status, reply.json.error]).toEqual([
      413,
      `the fields of the form have more than ${MIB} bytes in all`
    ])
  })

  test('are not what a run has: the longest texts are accepted', async () => {
    const overrides = Array.from({ length: 900 }, (_, at) => `-Jp${at}=${'v'.repeat(60)}`).join(', ')
    const form = runForm({ notes: 'ä'.repeat(10_000), override_parameters: overrides })
    const { status, text } = await postForm(member, '/runs', form)
    expect([status, text]).toEqual([201, expect.anything()])
  })
})

test.each([
  ['application/json', `{"run":{"notes":"${'n'.repeat(MIB)}"}}`],
  ['application/x-www-form-urlencoded', `run[notes]=${'n'.repeat(MIB)}`]
])('a body of %s beyond 1 MiB is refused', async (type, body) => {
  const reply = await send(member, 'POST', '/runs', { headers: { 'content-type': type }, body })
  expect(reply.status).toBe(413)
})

test.each([
  ['application/x-www-form-urlencoded', 'a[][b]=1&'.repeat(MIB / 9), 413],
  ['application/x-www-form-urlencoded', '['.repeat(MIB - 10), 422],
  ['application/json', `[${'[],'.repeat(MIB / 3 - 10)}[]]`, 413],
  ['application/json', `{${Array.from({ length: MIB / 16 }, (_, at) => `"${at}":{}`).join()}}`, 413],
  ['application/json', `{"run":${'['.repeat(MIB / 2 - 10)}${']'.repeat(MIB / 2 - 10)}}`, 400]
])('a body of %s just below it, with far too many values: %#', async (type, body, status) => {
  const blocked = monitorEventLoopDelay({ resolution: 5 })
  blocked.enable()
  const reply = await send(member, 'POST', '/runs', { headers: { 'content-type': type }, body })
  blocked.disable()
  expect(reply.status).toBe(status)
  // A good part of it is the reading of the JSON.
  expect(blocked.max / 1e6).toBeLessThan(1000)
})
