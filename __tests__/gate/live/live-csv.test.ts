import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { LiveCsv, LiveReadingError } from '../../../src/gate/live/live-csv.js'
import { LiveGrid } from '../../../src/gate/live/live-grid.js'
import type { ServiceClient } from '../../../src/client/client.js'
import { makeClient } from '../../support/gate/gate-ports.js'
import { LIVE_HEADER, rowOf } from '../../support/gate/live-samples.js'
import { ManualClock } from '../../support/manual-clock.js'

let server: Server
let client: ServiceClient
let content: string
let ranges: (string | undefined)[]
let answer: (req: IncomingMessage, res: ServerResponse) => void

const withRanges = (req: IncomingMessage, res: ServerResponse): void => {
  const from = Number(/^bytes=(\d+)-$/.exec(req.headers.range ?? '')?.[1] ?? NaN)
  const bytes = Buffer.from(content)
  if (Number.isNaN(from)) res.end(bytes)
  else if (from >= bytes.length) res.writeHead(416).end()
  else
    res
      .writeHead(206, { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` })
      .end(bytes.subarray(from))
}

beforeEach(async () => {
  content = LIVE_HEADER
  ranges = []
  answer = withRanges
  server = createServer((req, res) => {
    ranges.push(req.headers.range)
    answer(req, res)
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  client = makeClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, new ManualClock())
})

afterEach(async () => {
  await client.close()
  server.close()
})

/** Reads on into a grid; returns how many rows it has. */
function reader(options?: ConstructorParameters<typeof LiveCsv>[1]): () => Promise<number> {
  const csv = new LiveCsv(client, options)
  const grid = new LiveGrid({ grid: 'grid1', region: 'us-east-1' })
  return async () => {
    await csv.readOn('/api/x.csv', new AbortController().signal, (bytes) => grid.take(bytes))
    return Number.isFinite(grid.newestMs) ? grid.scan().rows : 0
  }
}

const row = (second: number, label = 'home') => rowOf({ atMs: second * 1000, elapsedMs: 100, label })

describe.each([
  ['with ranges', withRanges],
  ['without ranges', (_req, res) => res.end(content)]
])('a growing CSV %s', (_name, how) => {
  beforeEach(() => {
    answer = how
  })

  test('each row is read once, and half a row when it is complete', async () => {
    const read = reader()
    expect(await read()).toBe(0)
    content += row(1) + row(2).slice(0, 30)
    expect(await read()).toBe(1)
    expect(await read()).toBe(1)
    content += row(2).slice(30)
    expect(await read()).toBe(2)
    content += row(3) + row(4)
    expect(await read()).toBe(4)
  })

  test('a row with a line break in quotes that is written in two parts', async () => {
    const read = reader()
    const quoted = row(1, '"two\nlines"')
    content += row(0) + quoted.slice(0, quoted.indexOf('\n') + 1)
    expect(await read()).toBe(1)
    content += quoted.slice(quoted.indexOf('\n') + 1)
    expect(await read()).toBe(2)
    content += row(2)
    expect(await read()).toBe(3)
  })

  test('a header that is written in two parts', async () => {
    const read = reader()
    content = LIVE_HEADER.slice(0, 20)
    expect(await read()).toBe(0)
    content = LIVE_HEADER + row(1)
    expect(await read()).toBe(1)
  })

  test('another file in its place ends it', async () => {
    const read = reader()
    content += row(1) + row(2)
    await read()
    content = LIVE_HEADER + row(7, 'else') + row(8, 'else') + row(9, 'else')
    await expect(read()).rejects.toThrow(new LiveReadingError('what was read before has changed'))
  })

  test('more than one look can take is read in several', async () => {
    const read = reader({ mostNewBytes: LIVE_HEADER.length + row(1).length + 10 })
    content += row(1) + row(2) + row(3)
    expect(await read()).toBe(1)
    expect(await read()).toBe(3)
  })

  test('says whether that was all', async () => {
    const csv = new LiveCsv(client, { mostNewBytes: LIVE_HEADER.length + row(1).length + 10 })
    const grid = new LiveGrid({ grid: 'grid1', region: 'us-east-1' })
    const look = () => csv.readOn('/api/x.csv', new AbortController().signal, (bytes) => grid.take(bytes))
    content += row(1) + row(2)
    expect([await look(), await look()]).toEqual([{ isAll: false }, { isAll: true }])
  })

  test('a row that is longer than a look can take ends it', async () => {
    const read = reader({ mostNewBytes: 200 })
    content += row(1, 'x'.repeat(300))
    await read()
    await expect(read()).rejects.toThrow('a row is too long')
  })
})

test('a part that the service cut is not all', async () => {
  content += row(1) + row(2)
  const csv = new LiveCsv(client)
  const grid = new LiveGrid({ grid: 'grid1', region: 'us-east-1' })
  const look = () => csv.readOn('/api/x.csv', new AbortController().signal, (bytes) => grid.take(bytes))
  expect(await look()).toEqual({ isAll: true })
  content += row(3)
  answer = (req, res) => {
    const from = Number(/\d+/.exec(req.headers.range ?? '')?.[0])
    const part = Buffer.from(content).subarray(from)
    const total = from + part.length + 500
    res.writeHead(206, { 'content-range': `bytes ${from}-${from + part.length - 1}/${total}` }).end(part)
  }
  expect(await look()).toEqual({ isAll: false })
})

test('asks for what follows the last row but one', async () => {
  const read = reader()
  content += row(1) + row(2)
  await read()
  await read()
  expect(ranges).toEqual([undefined, `bytes=${LIVE_HEADER.length + row(1).length}-`])
})

test('a service that always sends everything is given up beyond a bound', async () => {
  answer = (_req, res) => res.end(content)
  const read = reader({ mostKnownBytes: 300 })
  content += [1, 2, 3, 4, 5, 6].map((second) => row(second)).join('')
  await read()
  await expect(read()).rejects.toThrow(/^the service sends all of it each time/)
})

test.each<[string, typeof answer, RegExp, boolean]>([
  ['404', (_req, res) => res.writeHead(404).end('{"error":"no"}'), /404/, false],
  ['409', (_req, res) => res.writeHead(409).end(), /409/, false],
  ['503', (_req, res) => res.writeHead(503).end(), /503/, false],
  ['202', (_req, res) => res.writeHead(202).end('soon'), /answered 202/, false],
  [
    'a page',
    (_req, res) => res.end('<html>\n<title>Sign in</title>\n</html>'),
    /not a CSV of samples/,
    false
  ],
  [
    'an encoding',
    (_req, res) => res.writeHead(200, { 'content-encoding': 'br' }).end('x'),
    /encoding "br"/,
    true
  ],
  ['tidy rows', (_req, res) => res.end('time,measurement,label,value\n'), /not single samples/, true],
  ['no times', (_req, res) => res.end('elapsed,label,success\n1,a,true\n'), /not single samples/, true],
  ['a bad row', (_req, res) => res.end(`${LIVE_HEADER}${row(1)}x,y,z\n`), /no readable times/, true]
])('%s is an error, and final or not', async (_name, how, message, isFinal) => {
  answer = how
  const read = reader()
  const thrown: unknown = await read().catch((error: unknown) => error)
  expect((thrown as Error).message).toMatch(message)
  expect(thrown instanceof LiveReadingError).toBe(isFinal)
})

test('a page before the CSV is forgotten', async () => {
  const read = reader()
  answer = (_req, res) => res.end('<html>\n</html>')
  await expect(read()).rejects.toThrow('not a CSV')
  answer = withRanges
  content += row(1)
  expect(await read()).toBe(1)
})
