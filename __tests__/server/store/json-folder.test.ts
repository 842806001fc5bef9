import { afterAll, describe, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readStartTime } from '../../../src/server/nodes/machine/processes.js'
import { createId } from '../../../src/server/store/data-folder.js'
import { openDatabase } from '../../../src/server/store/database.js'
import { openStore } from '../../../src/server/store/open-store.js'
import type { GridRecord, RunRecord } from '../../../src/server/store/records.js'
import type { SqliteStore } from '../../../src/server/store/sqlite-store.js'
import { createFolders } from '../support.js'
import { makeGrid, makeRun } from './records.js'

const folders = createFolders()
afterAll(() => folders.remove())

const MARKER = 'a'.repeat(24)

function write(file: string, content: unknown): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
}

/** A data folder as the versions before the database left it. */
function makeFolder(runs: readonly RunRecord[], grids: readonly GridRecord[] = []): string {
  const dataDir = folders.create()
  for (const run of runs) write(join(dataDir, 'runs', run.id, 'run.json'), run)
  for (const grid of grids) write(join(dataDir, 'grids', `${grid.id}.json`), grid)
  write(join(dataDir, 'processes', '77.json'), { pid: 77, startTime: 'long ago' })
  write(join(dataDir, 'marker.json'), { marker: MARKER })
  return dataDir
}

function look<T>(dataDir: string, see: (store: SqliteStore, lines: string[]) => T): T {
  const lines: string[] = []
  const store = openStore(dataDir, { log: (line) => lines.push(line) })
  try {
    return see(store, lines)
  } finally {
    store.close()
  }
}

const idsOf = (store: SqliteStore): string[] =>
  store.listRuns({ offset: 0, limit: 99 }).runs.map(({ id }) => id)
const jsonFiles = (dataDir: string): string[] =>
  readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))

const grid = makeGrid({ status: 'stopped' })
const good = makeRun({
  status: 'finished',
  sequence: 5,
  gridIds: [grid.id],
  request: { tags: ['a', 'a', 'b'] }
})

test('everything is taken over once: runs in their order, grids, processes and the marker', () => {
  const runs = [9, 4, 7].map((sequence) => makeRun({ sequence, status: 'problem' }))
  const dataDir = makeFolder([...runs, good], [grid])
  write(join(dataDir, 'runs', good.id, 'results', 'x.csv'), 'kept')
  for (const isFirst of [true, false])
    look(dataDir, (store, lines) => {
      expect(store.listRuns({ offset: 0, limit: 9 }).runs).toEqual([runs[0], runs[2], good, runs[1]])
      expect(store.listRuns({ filter: { tag: 'a' }, offset: 0, limit: 9 })).toEqual({
        runs: [good],
        total: 1
      })
      expect(store.gridsOf(good)).toEqual([grid])
      expect([store.nextSequence(), store.marker()]).toEqual([10, MARKER])
      expect(store.leftoverProcesses()).toEqual([{ pid: 77, startTime: 'long ago' }])
      expect(lines).toEqual(isFirst ? ['took over 4 runs and 1 grids of an earlier version'] : [])
    })
  expect(jsonFiles(dataDir)).toEqual([])
  expect(existsSync(join(dataDir, 'runs', good.id, 'results', 'x.csv'))).toBe(true)
})

test('two runs of one number, as of a copied folder, are both kept', () => {
  const runs = [1, 2, 3].map((createdMs) => makeRun({ sequence: 2, createdMs, status: 'finished' }))
  look(makeFolder(runs), (store) => {
    const { runs: found } = store.listRuns({ offset: 0, limit: 9 })
    expect(found.map(({ id, sequence }) => [id, sequence])).toEqual([
      [runs[2]!.id, 4],
      [runs[1]!.id, 3],
      [runs[0]!.id, 2]
    ])
  })
})

test('a kill before the end leaves everything to be done again; one after it, the files to be removed', () => {
  const dataDir = makeFolder([good], [grid])
  // What a kill leaves: nothing of the transaction is there.
  openDatabase(dataDir).close()
  look(dataDir, (store) => expect(idsOf(store)).toEqual([good.id]))
  write(join(dataDir, 'runs', good.id, 'run.json'), { ...good, status: 'running' })
  const database = openDatabase(dataDir)
  database.exec("UPDATE facts SET value = 'taken over' WHERE key = 'json files'")
  database.close()
  look(dataDir, (store) => expect(store.run(good.id)).toEqual(good))
  expect(jsonFiles(dataDir)).toEqual([])
})

test('a folder that a service of an earlier version is using is refused', () => {
  const dataDir = makeFolder([good])
  const other = spawn('sleep', ['60'])
  write(join(dataDir, 'service.json'), { pid: other.pid, startTime: readStartTime(other.pid!) })
  expect(() => openStore(dataDir, { log: () => undefined })).toThrow(
    `is in use by the service with process id ${other.pid}; stop it, or choose another folder`
  )
  other.kill()
  expect(jsonFiles(dataDir)).toContain(`runs/${good.id}/run.json`)
})

describe('files that the service did not write are logged and left', () => {
  const asObject = (value: unknown): object => value as object
  type Change = (record: Record<string, unknown>) => unknown

  test.each<{ name: string; change: Change }>([
    { name: 'a list', change: () => [] },
    { name: 'an empty object', change: () => ({}) },
    { name: 'null', change: () => null },
    { name: 'a number', change: () => 7 },
    { name: 'half of one', change: (run) => JSON.stringify(run).slice(0, 99) },
    { name: 'no request', change: (run) => ({ ...run, request: undefined }) },
    { name: 'a request of null', change: (run) => ({ ...run, request: null }) },
    {
      name: 'tags of another type',
      change: (run) => ({ ...run, request: { ...asObject(run.request), tags: 'a' } })
    },
    { name: 'grid ids of another type', change: (run) => ({ ...run, gridIds: 'g' }) },
    { name: 'a grid id that leads elsewhere', change: (run) => ({ ...run, gridIds: ['../../x'] }) },
    {
      name: 'a file name that leads elsewhere',
      change: (run) => ({ ...run, files: [{ uuid: 'u', name: '../x' }] })
    },
    { name: "another run's id", change: (run) => ({ ...run, id: 'abc' }) },
    { name: 'an unknown status', change: (run) => ({ ...run, status: 'odd' }) },
    { name: 'a sequence of another type', change: (run) => ({ ...run, sequence: '1' }) },
    { name: 'a time that is none', change: (run) => ({ ...run, startedMs: 1e300 }) },
    { name: 'nodes of another type', change: (run) => ({ ...run, nodes: [{ grid: 'g' }] }) },
    { name: 'a mark of another type', change: (run) => ({ ...run, mark: '../x' }) },
    { name: 'a report of another shape', change: (run) => ({ ...run, report: { summary: 1 } }) }
  ])('a run.json with $name', ({ change }) => {
    const dataDir = makeFolder([good], [grid])
    const odd = createId()
    write(join(dataDir, 'runs', odd, 'run.json'), change({ ...good, id: odd }))
    look(dataDir, (store, lines) => {
      store.claim()
      expect(idsOf(store)).toEqual([good.id])
      expect(lines.filter((line) => line.includes(odd))).toHaveLength(1)
    })
    expect(jsonFiles(dataDir)).toEqual([`runs/${odd}/run.json`])
  })

  test.each<{ name: string; change: Change }>([
    { name: 'a list', change: () => [] },
    { name: 'an empty object', change: () => ({}) },
    { name: 'null', change: () => null },
    { name: 'no spec', change: (found) => ({ ...found, spec: undefined }) },
    {
      name: 'no nodes',
      change: (found) => ({ ...found, spec: { ...asObject(found.spec), instanceQuantity: 0 } })
    },
    { name: "another grid's id", change: (found) => ({ ...found, id: 'abc' }) },
    { name: 'an unknown status', change: (found) => ({ ...found, status: 7 }) }
  ])('a grid with $name', ({ change }) => {
    const odd = createId()
    const dataDir = makeFolder([good], [grid])
    write(join(dataDir, 'grids', `${odd}.json`), change({ ...grid, id: odd }))
    look(dataDir, (store, lines) => {
      expect([store.grid(odd), store.grid(grid.id)]).toEqual([undefined, grid])
      expect(lines.filter((line) => line.includes(odd))).toHaveLength(1)
    })
    expect(jsonFiles(dataDir)).toEqual([`grids/${odd}.json`])
  })

  test.each(['[]', '{}', 'null', '{"pid":1,"startTime":"x"}', '{"pid":"2","startTime":"x"}', '{'])(
    'a process %s',
    (text) => {
      const dataDir = makeFolder([])
      for (const file of ['processes/77.json', 'service.json']) write(join(dataDir, file), text)
      look(dataDir, (store, lines) => {
        expect(lines.filter((line) => /\/(processes\/77|service)\.json /.test(line))).toHaveLength(2)
        expect(store.leftoverProcesses()).toEqual([])
      })
    }
  )

  test('folders and files in the wrong places', () => {
    const dataDir = makeFolder([good])
    mkdirSync(join(dataDir, 'grids', 'folder.json'), { recursive: true })
    mkdirSync(join(dataDir, 'runs', 'empty'), { recursive: true })
    write(join(dataDir, 'runs', 'file'), '')
    look(dataDir, (store) => {
      store.claim()
      expect(idsOf(store)).toEqual([good.id])
    })
    expect(readdirSync(join(dataDir, 'runs')).sort()).toEqual([good.id, 'empty', 'file'].sort())
  })
})

test('records of a version that knew nothing of nodes are read', () => {
  const { mark, goMs, nodes, ...older } = { ...good, mark: 'm', goMs: 1, nodes: [] }
  expect([mark, goMs, nodes]).toBeDefined()
  look(makeFolder([older]), (store) => expect(store.run(good.id)).toEqual(older))
})
