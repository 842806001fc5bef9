import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pruneBeside } from '../../../src/server/retention/prune-beside.js'
import { startRetention } from '../../../src/server/retention/retention.js'
import { openStore } from '../../../src/server/store/open-store.js'
import type { RunRecord } from '../../../src/server/store/records.js'
import type { SqliteStore } from '../../../src/server/store/sqlite-store.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createFolders } from '../support.js'
import { makeGrid, makeRun } from '../store/records.js'

const folders = createFolders()
afterAll(() => folders.remove())

const HOUR_MS = 3_600_000

/** A store with one run of the given bytes for each status, oldest first; each has a grid of its own and a shared one. */
function fill(
  statuses: readonly RunRecord['status'][],
  bytes = 100
): { store: SqliteStore; runs: RunRecord[] } {
  const store = openStore(folders.create(), { log: () => undefined })
  const shared = makeGrid({ status: 'stopped' })
  store.create({ grids: [shared] })
  const runs = statuses.map((status, index) => {
    const run = makeRun({ sequence: index + 1, status, createdMs: new ManualClock().now() })
    const own = makeGrid({ batchId: run.batchId, status: 'stopped' })
    const full = { ...run, gridIds: [own.id, shared.id] }
    writeResult(store, full, bytes)
    store.create({ run: full, grids: [own] })
    return full
  })
  return { store, runs }
}

function writeResult(store: SqliteStore, run: RunRecord, bytes: number): void {
  const file = store.folder.resultFile(run.id, run.gridIds[0]!)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, 'x'.repeat(bytes))
}

const left = (store: SqliteStore): string[] =>
  store.listRuns({ offset: 0, limit: 99 }).runs.map(({ id }) => id)
const foldersOf = (store: SqliteStore): string[] => readdirSync(join(store.folder.path, 'runs')).sort()

describe('the limits of a service', () => {
  test('hold after its start, after the end of each run, and every hour', async () => {
    const { store, runs } = fill(['finished', 'problem', 'finished', 'running'])
    const clock = new ManualClock()
    const lines: string[] = []
    const log = (line: string): void => void lines.push(line)
    const retention = startRetention({ store, clock, log, retention: { runsPerProject: 3, days: 1 } })
    await retention.settled()
    const [first, second, third, fourth] = runs.map(({ id }) => id)
    expect(left(store)).toEqual([fourth, third, second])
    expect(lines).toEqual([
      `deleted run ${first} with its results: there are, without a project, more than 3 runs`
    ])
    store.create({ run: makeRun({ sequence: 5, createdMs: clock.now() }), grids: [] })
    const running = store.run(fourth!)!
    running.status = 'finished'
    store.saveRun(running)
    await retention.settled()
    expect(left(store).slice(1)).toEqual([fourth, third])
    await clock.advance(25 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toHaveLength(1)
    expect(foldersOf(store)).toEqual([])
    expect(store.database.prepare('SELECT count(*) AS count FROM grids').get()?.count).toBe(1)
    expect(store.database.prepare('SELECT count(*) AS count FROM run_records').get()?.count).toBe(1)
    await retention.close()
    store.close()
  })

  test('without any, runs are measured and nothing is deleted', async () => {
    const { store } = fill(['finished', 'running'])
    const retention = startRetention({ store, clock: new ManualClock(), log: () => undefined, retention: {} })
    await retention.settled()
    const rows = store.database.prepare('SELECT bytes FROM runs ORDER BY sequence').all()
    expect(rows.map(({ bytes }) => bytes)).toEqual([100, null])
    await retention.close()
    store.close()
  })
})

describe('pruning beside a service', () => {
  const by = { retention: { bytes: 250 }, nowMs: 1000 }

  test('finds the same as it deletes, and says how many bytes', async () => {
    const { store, runs } = fill(['finished', 'running', 'finished', 'finished'])
    const dataDir = store.folder.path
    const found = await pruneBeside(dataDir, { ...by, isDry: true })
    expect(found.map(({ run: { id, bytes } }) => [id, bytes])).toEqual([[runs[0]!.id, 100]])
    expect(left(store)).toHaveLength(4)
    expect(await pruneBeside(dataDir, { ...by, isDry: false })).toEqual(found)
    expect(left(store)).toEqual([runs[3]!.id, runs[2]!.id, runs[1]!.id])
    expect(await pruneBeside(dataDir, { ...by, isDry: false })).toEqual([])
    store.close()
  })

  test.each(['renamed', 'half removed', 'removed'])(
    'a kill when the files are %s is finished by the next one',
    async (state) => {
      const { store, runs } = fill(['finished', 'finished'])
      const { id } = runs[1]!
      const trash = join(store.folder.trashDir(), id)
      renameSync(store.folder.runDir(id), trash)
      if (state === 'half removed') renameSync(join(trash, 'results'), join(trash, 'rest'))
      if (state === 'removed') renameSync(join(trash, 'results'), join(folders.create(), 'away'))
      await pruneBeside(store.folder.path, { ...by, retention: {}, isDry: false })
      expect([left(store), foldersOf(store), readdirSync(store.folder.trashDir())]).toEqual([
        ...[[runs[0]!.id], [runs[0]!.id], []]
      ])
      store.close()
    }
  )

  test('a folder without data does not become one', async () => {
    const dataDir = join(folders.create(), 'typo')
    await expect(pruneBeside(dataDir, { ...by, isDry: true })).rejects.toThrow(
      'there is no data of a service in'
    )
    expect(existsSync(dataDir)).toBe(false)
  })
})

test('a service removes the folders of runs that were never created, and none with traces of a run', () => {
  const { store, runs } = fill(['finished'])
  const [unborn, lost] = ['a'.repeat(24), 'b'.repeat(24)]
  mkdirSync(join(store.folder.uploadDir(unborn)), { recursive: true })
  mkdirSync(join(store.folder.resultsDir(lost)), { recursive: true })
  store.claim()
  expect(foldersOf(store)).toEqual([runs[0]!.id, lost].sort())
  store.close()
})
