import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findLosses } from '../../src/service/runs/run-endings.js'
import type { GridRecord } from '../../src/contract/records.js'
import type { NodeEnd } from '../../src/service/runs/run-on-grids.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  type Reply,
  runForm,
  specFields,
  until
} from './support.js'
import { runEndlessly, writeJMeter, writeSample } from './stand-in.js'

const services = createServices()
afterAll(() => services.closeAll())

/** Runs a stand-in on two nodes; `lines` may test `$first`, which is true on only one of them. */
async function runOnTwo(
  lines: readonly string[],
  fields: Record<string, string> = {},
  nodes = '2'
): Promise<{ run: Reply; csv: string; lines: string[] }> {
  const mark = join(services.folder(), 'first')
  const home = writeJMeter(services.folder(), [
    `if mkdir '${mark}' 2>/dev/null; then first=true; else first=false; fi`,
    ...lines
  ])
  const service = await services.start({
    engine: 'real',
    env: { PATH: process.env.PATH, JMETER_HOME: home }
  })
  const run = await finishRun(service, runForm(fields, specFields({ instance_quantity: nodes })))
  const csv = (await get(service, `/runs/${run.json.uuid}/result.csv`)).text
  return { run, csv, lines: service.lines }
}

describe('a node with threads and without samples', () => {
  test('is a loss of load, although its tool exited normally', async () => {
    const { run, csv } = await runOnTwo([`if $first; then exit 0; fi`, writeSample('home')])
    expect(run.json.status).toBe('finished')
    expect(run.json.remote_errors).toMatch(
      /^load lost: us-east-1 \w{6} node [12] recorded no samples, and its log does not say why$/
    )
    expect(csv).toMatch(/,home,/)
  })

  test('is none where no thread was left for it: it is idle', async () => {
    const { run, lines } = await runOnTwo([writeSample('home')], { threads: '2' }, '3')
    expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
    expect(lines.filter((line) => line.includes('stays idle'))).toHaveLength(1)
  })

  test('is not named again where its tool has failed', async () => {
    const { run } = await runOnTwo([`if $first; then echo "out of luck"; exit 3; fi`, writeSample('home')])
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toBe('JMeter 9.8.7 could not run the plan (exit code 3): out of luck')
  })
})

test('what a tool says of its end has no secret of an uploaded file, whether the tool reads that or not', async () => {
  const home = writeJMeter(services.folder(), [
    'read -r line <environment; echo "cannot connect with $line"; exit 3'
  ])
  const env = { PATH: process.env.PATH, JMETER_HOME: home }
  const service = await services.start({ engine: 'real', env })
  const file = { name: 'run_files[]', fileName: 'environment', content: 'DB_PASSWORD=hunter2hunter\n' }
  const { json } = await finishRun(service, [...runForm(), file])
  expect(json.remote_errors).toMatch(
    /could not run the plan \(exit code 3\): cannot connect with DB_PASSWORD=\*\*\*$/
  )
  expect(service.lines.join('\n')).not.toContain('hunter2')
})

describe('results that end in the middle of a row', () => {
  const UNCLOSED = `printf '1700000000000,1,"never closed' >> "$samples"`

  test('are a loss where the tool ended by itself', async () => {
    const { run, csv } = await runOnTwo([writeSample('home'), `if $first; then ${UNCLOSED}; fi`])
    expect(run.json.status).toBe('finished')
    expect(run.json.remote_errors).toMatch(
      /^load lost: the results of node [12] of 2 in us-east-1 end in the middle of a row$/
    )
    expect(csv.match(/,home,/g)).toHaveLength(2)
  })

  test('are fine if it was ended', async () => {
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), [writeSample('home'), UNCLOSED, ...runEndlessly(pidFile)])
    const service = await services.start({
      engine: 'real',
      env: { PATH: process.env.PATH, JMETER_HOME: home }
    })
    const id = await createRun(service)
    await until(() => existsSync(pidFile))
    const run = await get(service, `/runs/${id}/stop`)
    expect(run.json.status).toBe('finished')
    expect(run.json.remote_errors).toMatch(/^load lost: stopped by a caller after \d+ s$/)
    expect((await get(service, `/runs/${id}/result.csv`)).text).toMatch(/,home,/)
  })
})

describe('the threads of a grid', () => {
  test('in its CSV are those of all its nodes', async () => {
    // Both nodes write all their samples at the same times, with 5 threads each.
    const rows = [0, 1, 2].map(
      (second) =>
        `echo "170000000${second}000,12,home,200,OK,t 1-1,text,true,,1,1,5,5,null,12,0,1" >> "$samples"`
    )
    const { csv } = await runOnTwo(rows, { threads: '10' })
    expect(csv.match(/,5,10,null,/g)).toHaveLength(6)
  })
})

describe('what the tools say', () => {
  const grid = {
    id: 'g',
    spec: { region: 'r', instanceQuantity: 2 }
  } as GridRecord
  const node = (index: number, outcome: NodeEnd['outcome']): NodeEnd => ({
    grid,
    index,
    isIdle: false,
    outcome,
    interruption: undefined
  })
  const file = (index: number, hasRows: boolean) => ({
    grid,
    index,
    hasRows,
    restBytes: 0,
    isBroken: false,
    hasOtherColumns: false
  })

  test('of losses is kept, and explains a node without samples', () => {
    const nodes = [
      node(0, { problem: null }),
      node(1, { problem: null, losses: ['JMeter: could not read users.csv; is it listed under files?'] })
    ]
    expect(findLosses(nodes, [file(0, true), file(1, false)])).toEqual([
      'JMeter: could not read users.csv; is it listed under files?'
    ])
  })

  test('is said for all: without any sample no node is singled out', () => {
    const nodes = [node(0, { problem: null }), node(1, { problem: null })]
    expect(findLosses(nodes, [file(0, false), file(1, false)])).toEqual([])
    expect(findLosses(nodes, [file(0, false), file(1, true)])).toEqual([
      'node 1 of 2 in r recorded no samples'
    ])
  })

  test('of nothing to do is no loss', () => {
    const nodes = [node(0, { problem: null }), { ...node(1, { problem: null, isIdle: true }), isIdle: true }]
    expect(findLosses(nodes, [file(0, true), file(1, false)])).toEqual([])
  })

  test('a row without an end is a loss even where the tool was ended', () => {
    const ended = node(0, { problem: 'killed' })
    expect(findLosses([ended], [{ ...file(0, true), restBytes: 9, isBroken: true }])).toEqual([
      'the results of node 1 of 2 in r end in the middle of a row'
    ])
    expect(findLosses([ended], [{ ...file(0, true), restBytes: 9 }])).toEqual([])
  })
})
