import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { JTL_HEADER, writeJMeter } from './stand-in.js'
import { createRun, createServices, get, runForm, specFields, until } from './support.js'

const SECRET = 's3cr3t-key'
const HEADER = `${JTL_HEADER}\n`
const services = createServices()
let service: Awaited<ReturnType<typeof services.start>>

beforeAll(async () => {
  // Writes the header, and then nothing: the test writes the rows.
  const home = writeJMeter(services.folder(), ['while :; do sleep 0.1; done'])
  service = await services.start({ engine: 'real', env: { PATH: process.env.PATH, JMETER_HOME: home } })
})

afterAll(() => services.closeAll())

function row(label: string, message = 'OK'): string {
  return `1760000000000,12,${label},200,${message},t 1-1,text,true,,1,1,1,1,null,12,0,1\n`
}

/** As it is shown: both nodes name their threads alike. */
function rowOf(node: number, label: string, message?: string): string {
  return row(label, message).replace(',t 1-1,', `,node${node}-t 1-1,`)
}

let path: string
let id: string
let nodes: string[]

/** A run of two nodes, or of one, whose tools have started. */
async function startRun(fields: Record<string, string> = {}, quantity = 2): Promise<void> {
  id = await createRun(service, runForm(fields, specFields({ instance_quantity: String(quantity) })))
  const run = await get(service, `/runs/${id}`)
  const grid = run.json._embedded.grids[0]!.uuid
  path = `/runs/${id}/result.csv?grid_id=${grid}`
  nodes = [1, 2]
    .slice(0, quantity)
    .map((node) => join(service.dataDir, 'runs', id, 'nodes', `${grid}-${node}.csv`))
  await until(() => nodes.every((file) => existsSync(file) && readFileSync(file, 'utf8') === HEADER))
}

async function stop(): Promise<string> {
  await get(service, `/runs/${id}/stop`)
  return (await get(service, path)).text
}

describe('while the run is in progress', () => {
  beforeEach(() => startRun())

  test('complete rows of all nodes come below one header, and what was there stays where it was', async () => {
    expect((await get(service, path)).text).toBe(HEADER)
    appendFileSync(nodes[1]!, row('b1') + row('b2').slice(0, 20))
    const first = (await get(service, path)).text
    expect(first).toBe(HEADER + rowOf(2, 'b1'))
    appendFileSync(nodes[0]!, row('a1'))
    appendFileSync(nodes[1]!, row('b2').slice(20))
    const rest = await get(service, path, { headers: { range: `bytes=${first.length}-` } })
    expect([rest.status, rest.text]).toEqual([206, rowOf(1, 'a1') + rowOf(2, 'b2')])
    const whole = await get(service, path)
    expect(whole.text).toBe(first + rest.text)
    const nothing = await get(service, path, { headers: { range: `bytes=${whole.text.length}-` } })
    expect(nothing.status).toBe(416)
    const rows = rowOf(1, 'a1') + rowOf(2, 'b1') + rowOf(2, 'b2')
    expect(await stop()).toBe(HEADER + rows.replaceAll(',1,1,null', ',1,2,null'))
  })

  test('a line break within quotes does not end a row', async () => {
    const message = '"two\nlines, and ""quotes"""'
    const quoted = row('a', message)
    const middle = quoted.indexOf('\n') + 1
    appendFileSync(nodes[0]!, quoted.slice(0, middle))
    expect((await get(service, path)).text).toBe(HEADER)
    appendFileSync(nodes[0]!, quoted.slice(middle))
    expect((await get(service, path)).text).toBe(HEADER + rowOf(1, 'a', message))
    await stop()
  })

  test('requests at the same time see the same rows, each once', async () => {
    appendFileSync(nodes[0]!, row('a1'))
    appendFileSync(nodes[1]!, row('b1'))
    const replies = await Promise.all([1, 2, 3].map(() => get(service, path)))
    expect(replies.map(({ text }) => text)).toEqual(Array(3).fill(HEADER + rowOf(1, 'a1') + rowOf(2, 'b1')))
    await stop()
  })

  test('rows that could not be written are never skipped: there are none until the run has ended', async () => {
    expect((await get(service, path)).text).toBe(HEADER)
    const live = nodes[0]!.replace(/-1\.csv$/, '-live.csv')
    rmSync(live)
    mkdirSync(live)
    appendFileSync(nodes[0]!, row('a1'))
    expect((await get(service, path)).status).toBe(503)
    rmdirSync(live)
    appendFileSync(nodes[0]!, row('a2'))
    expect((await get(service, path)).status).toBe(404)
    expect(await stop()).toContain(`${HEADER}${rowOf(1, 'a1')}${rowOf(1, 'a2')}`)
  })

  test('the live CSV is another version than the results', async () => {
    const live = (await get(service, path)).headers.etag
    await stop()
    expect((await get(service, path)).headers.etag).not.toBe(live)
  })

  test('one grid must be named, and it must be one of the run', async () => {
    expect((await get(service, `/runs/${id}/result.csv`)).json.error).toContain('name one grid')
    expect((await get(service, path.replace(/grid_id=.*/, 'grid_id=other'))).status).toBe(404)
    await stop()
  })
})

test('secrets are masked, at the same offsets', async () => {
  await startRun({ override_parameters: `-Japi.token=${SECRET}` })
  const told = row('a', `no ${SECRET}`)
  appendFileSync(nodes[0]!, told.slice(0, told.indexOf(SECRET) + 4))
  expect((await get(service, path)).text).toBe(HEADER)
  appendFileSync(nodes[0]!, told.slice(told.indexOf(SECRET) + 4))
  appendFileSync(nodes[1]!, told)
  const masked = `no ${'*'.repeat(SECRET.length)}`
  const rest = await get(service, path, { headers: { range: `bytes=${HEADER.length}-` } })
  expect(rest.text).toBe(rowOf(1, 'a', masked) + rowOf(2, 'a', masked))
  await stop()
})

test('the rows of a single node are shown from its own file: a copy would take as much of the disk again', async () => {
  await startRun({}, 1)
  appendFileSync(nodes[0]!, row('a1') + row('a2').slice(0, 20))
  expect((await get(service, path)).text).toBe(HEADER + row('a1'))
  appendFileSync(nodes[0]!, row('a2').slice(20))
  const rest = await get(service, path, { headers: { range: `bytes=${(HEADER + row('a1')).length}-` } })
  expect([rest.status, rest.text]).toEqual([206, row('a2')])
  expect(existsSync(nodes[0]!.replace(/-1\.csv$/, '-live.csv'))).toBe(false)
  expect(await stop()).toBe(HEADER + row('a1') + row('a2'))
})
