import { afterEach, expect, test } from '@jest/globals'
import { hasGrown } from '../../../src/gate/collect/grid-fetches.js'
import type { ServiceClient } from '../../../src/client/client.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { ManualClock } from '../../support/manual-clock.js'
import { GateRawServer, raw } from '../../support/gate/gate-raw-server.js'
import type { RawAnswer } from '../../support/gate/gate-raw-server.js'
import { makeCsv } from '../../support/gate/gate-service.js'

const CSV = makeCsv(20)
const LONGER = makeCsv(30)

let server: GateRawServer
let client: ServiceClient
let clock: ManualClock

afterEach(async () => {
  await client.close()
  await server.close()
})

async function ask(answers: RawAnswer[]): Promise<boolean> {
  server = await GateRawServer.start(...answers)
  clock = new ManualClock()
  client = makeClient(server.url, clock)
  const { signal } = new AbortController()
  const place = { bytes: CSV.length, clock, signal }
  return clock.run(hasGrown(client, '/api/runs/r/result.csv?grid_id=g', place))
}

const size = CSV.length
/** Headers alone, as HEAD has it. */
const says = (length: number | undefined, headers: Record<string, string> = {}, status = '200 OK') =>
  raw.closed('', { ...(length !== undefined && { 'content-length': String(length) }), ...headers }, status)

test('growth: a CSV that is longer than before', async () => {
  expect(await ask([says(LONGER.length)])).toBe(true)
  expect(server.requests).toEqual([expect.stringMatching(/^HEAD \/api\/runs\/r\/result\.csv\?grid_id=g /)])
})

test.each<[string, RawAnswer]>([
  ['as long as before', says(size)],
  ['shorter than before', says(size - 9)],
  ['of a length that is not said', says(undefined)],
  ['a longer page', says(LONGER.length, { 'content-type': 'text/html' })],
  ['longer JSON', says(LONGER.length, { 'content-type': 'application/json' })],
  ['another encoding', says(LONGER.length, { 'content-encoding': 'gzip' })],
  ['202', says(LONGER.length, {}, '202 Accepted')],
  ['404', says(LONGER.length, {}, '404 Not Found')],
  ['405', says(LONGER.length, {}, '405 Not Allowed')],
  ['401', says(LONGER.length, {}, '401 No')],
  ['a redirect to a sign-in page', says(undefined, { location: 'http://sign-in.example' }, '302 Found')]
])('none: %s', async (_, answer) => {
  expect(await ask([answer])).toBe(false)
  expect(server.requests).toHaveLength(1)
})

const passing: [string, RawAnswer][] = [
  ['503', says(LONGER.length, {}, '503 Away')],
  ['429', says(undefined, {}, '429 Slowly')],
  ['500', says(LONGER.length, {}, '500 Oops')],
  ['a reset', raw.reset]
]

test.each(passing)('%s at first is asked about again', async (_, answer) => {
  expect(await ask([answer, says(LONGER.length)])).toBe(true)
  expect(server.requests).toHaveLength(2)
})

test.each(passing)('none: %s for ever, within ten seconds', async (_, answer) => {
  expect(await ask([answer])).toBe(false)
  expect(server.requests.length).toBeGreaterThan(1)
  expect(clock.elapsedMs).toBeLessThanOrEqual(10_000)
})
