import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type KeptRun, prune, pruneBeside } from '../../../src/service/retention/prune.js'
import { startRetention } from '../../../src/service/retention/retention.js'
import { openStore } from '../../../src/service/serve.js'
import type { RunRecord } from '../../../src/contract/records.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
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
  const store = openStore(folders.create(), { log: () => undefined, clock: new ManualClock() })
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
    const limits = { runsPerProject: 2, days: 1, atLeastMs: 0 }
    const retention = startRetention({ store, clock, log, retention: limits })
    await retention.settled()
    const [first, second, third, fourth] = runs.map(({ id }) => id)
    // The one that is running does not count.
    expect(left(store)).toEqual([fourth, third, second])
    expect(lines).toEqual([
      `deleted run ${first} with its results: there are, without a project, more than 2 runs`
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
    expect(store.database.prepare('SELECT count(*) AS count FROM grids').get()?.count).toBe(0)
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

describe('a clock that jumps', () => {
  const DAY_MS = 24 * HOUR_MS
  /** As the clock of a machine: it can be set, and timers do not notice. */
  class SetClock extends ManualClock {
    aheadMs = 0
    override now(): number {
      return super.now() + this.aheadMs
    }
  }
  function start(
    store: SqliteStore,
    clock: SetClock
  ): ReturnType<typeof startRetention> & { lines: string[] } {
    const lines: string[] = []
    const log = (line: string): void => void lines.push(line)
    return { ...startRetention({ store, clock, log, retention: { days: 90 } }), lines }
  }
  const endOne = (store: SqliteStore, clock: SetClock): void => {
    const run = makeRun({ sequence: store.nextSequence(), createdMs: clock.now(), status: 'finished' })
    store.create({ run, grids: [] })
  }

  test.each([1.1, 91, 200, 3650])(
    'forward by %f days for a while: nothing is deleted for its age',
    async (days) => {
      const { store } = fill(['finished', 'finished'])
      const clock = new SetClock()
      const retention = start(store, clock)
      await retention.settled()
      for (const jump of [days, 2 * days]) {
        clock.aheadMs = jump * DAY_MS
        endOne(store, clock)
        await retention.settled()
        await clock.advance(2 * HOUR_MS)
        await retention.settled()
      }
      clock.aheadMs = 0
      await clock.advance(30 * HOUR_MS)
      await retention.settled()
      expect(left(store)).toHaveLength(4)
      expect(retention.lines.join()).toMatch(
        /the clock says 20\d\d-.*no run is deleted because of its age, in case the clock is wrong/
      )
      await retention.close()
      store.close()
    }
  )

  test('before a start is the same, also for the newest run of an earlier version; after a day the clock is believed', async () => {
    const { store } = fill(['finished', 'finished'])
    const clock = new SetClock()
    for (const jump of [200, 400]) {
      clock.aheadMs = jump * DAY_MS
      const retention = start(store, clock)
      await retention.settled()
      await clock.advance(3 * HOUR_MS)
      await retention.close()
      expect([left(store).length, retention.lines.length]).toEqual([2, 1])
    }
    const retention = start(store, clock)
    await clock.advance(20 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toHaveLength(2)
    await clock.advance(2 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([])
    await retention.close()
    store.close()
  })
})

describe('a run stays at least for a day', () => {
  const limits = { runsPerProject: 1, bytes: 50 }
  /** A run of 100 bytes that ends now. */
  const endOne = (store: SqliteStore, clock: ManualClock, changes: Partial<RunRecord> = {}): string => {
    const run = makeRun({
      sequence: store.nextSequence(),
      status: 'running',
      createdMs: clock.now(),
      ...changes
    })
    writeResult(store, { ...run, gridIds: ['a'] }, 100)
    store.create({ run, grids: [] })
    store.saveRun(Object.assign(store.run(run.id)!, { status: 'finished' }))
    return run.id
  }
  function open(clock: ManualClock): { store: SqliteStore; retention: ReturnType<typeof startRetention> } {
    const store = openStore(folders.create(), { log: () => undefined, clock })
    return { store, retention: startRetention({ store, clock, log: () => undefined, retention: limits }) }
  }

  test('after its end, however many there are and however large it is; then it goes', async () => {
    const clock = new ManualClock()
    const { store, retention } = open(clock)
    const ids = [1, 2, 3].map(() => endOne(store, clock))
    await retention.settled()
    await clock.advance(23 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual(ids.reverse())
    await clock.advance(2 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([])
    await retention.close()
    store.close()
  })

  test('from when its results were complete, although its load ended days before', async () => {
    const clock = new ManualClock()
    const { store, retention } = open(clock)
    const stoppedMs = clock.now() - 100 * HOUR_MS
    const id = endOne(store, clock, { createdMs: stoppedMs, startedMs: stoppedMs, stoppedMs })
    await clock.advance(HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([id])
    await retention.close()
    store.close()
  })

  test('by a clock that may be wrong too: a jump does not make it old', async () => {
    class SetClock extends ManualClock {
      aheadMs = 0
      override now(): number {
        return super.now() + this.aheadMs
      }
    }
    const clock = new SetClock()
    const { store, retention } = open(clock)
    const id = endOne(store, clock)
    await clock.advance(HOUR_MS)
    clock.aheadMs = 1000 * HOUR_MS
    await clock.advance(20 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([id])
    await clock.advance(5 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([])
    await retention.close()
    store.close()
  })

  test('and for ever, if it is pinned', async () => {
    const clock = new ManualClock()
    const { store, retention } = open(clock)
    const [pinned] = [endOne(store, clock), endOne(store, clock)]
    await retention.settled()
    const run = store.run(pinned)!
    run.isPinned = true
    store.saveRun(run)
    await clock.advance(200 * HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([pinned])
    store.saveRun({ ...store.run(pinned)!, isPinned: false })
    await clock.advance(HOUR_MS)
    await retention.settled()
    expect(left(store)).toEqual([])
    await retention.close()
    store.close()
  })

  test('a run that is pinned while others are being deleted stays', async () => {
    const { store, runs } = fill(['finished', 'finished'])
    const data = { database: store.database, folder: store.folder }
    const prunings = runs.map((run) => ({ run: { ...kept(run), id: run.id }, why: 'tested' }))
    await prune(data, prunings, {
      onDeleted: () => store.saveRun({ ...store.run(runs[1]!.id)!, isPinned: true })
    })
    expect([left(store), foldersOf(store)]).toEqual([[runs[1]!.id], [runs[1]!.id]])
    store.close()
  })

  const kept = ({ sequence, createdMs }: RunRecord): Omit<KeptRun, 'id'> => ({
    ...{ sequence, project: null, userId: null, createdMs, bytes: 100, endedMs: createdMs, isPinned: false }
  })
})

test('stopped grids go with their age, unless a run that is kept names them', async () => {
  const clock = new ManualClock()
  const { store, runs } = fill(['finished'])
  const endedMs = clock.now() - 100 * 24 * HOUR_MS
  const ended = { by: 'deleted' as const, atMs: endedMs }
  const old = makeGrid({ status: 'stopped', createdMs: endedMs, ended })
  const recent = makeGrid({ status: 'stopped', createdMs: endedMs, ended: { ...ended, atMs: clock.now() } })
  const working = makeGrid({ status: 'started', createdMs: endedMs })
  store.create({ grids: [old, recent, working] })
  store.database.prepare("INSERT INTO grids (id, is_active, record) VALUES ('odd', 0, '{')").run()
  const retention = startRetention({ store, clock, log: () => undefined, retention: { days: 90 } })
  await retention.settled()
  const ids = store.database.prepare('SELECT id FROM grids').all()
  expect(ids.map(({ id }) => id).sort()).toEqual([...runs[0]!.gridIds, recent.id, working.id, 'odd'].sort())
  await retention.close()
  store.close()
})

test("a deleted run's own grid stays while it is started or another run names it, and goes then", async () => {
  const clock = new ManualClock()
  const { store, runs } = fill(['finished', 'finished', 'finished'])
  const [first, second] = runs.map(({ gridIds }) => store.grid(gridIds[0]!)!)
  store.saveGrid({ ...first!, status: 'started' })
  const user = makeRun({ sequence: 4, status: 'finished', gridIds: [second!.id] })
  store.create({ run: { ...user, createdMs: clock.now() }, grids: [] })
  const retention = startRetention({
    store,
    clock,
    log: () => undefined,
    retention: { runsPerProject: 1, atLeastMs: 0 }
  })
  await retention.settled()
  expect(left(store)).toEqual([user.id])
  const idle = runs[0]!.gridIds[1]!
  const kept = (): unknown[] =>
    store.database
      .prepare('SELECT id FROM grids')
      .all()
      .map(({ id }) => id)
  expect(kept().sort()).toEqual([first!.id, second!.id, idle].sort())
  store.saveGrid({ ...first!, status: 'stopped' })
  store.create({ run: makeRun({ sequence: 5, status: 'finished', createdMs: clock.now() }), grids: [] })
  await retention.settled()
  expect(kept()).toEqual([idle])
  await retention.close()
  store.close()
})

test('a database that cannot be written is no reason to keep files: they go first, the records when that works again', async () => {
  const { store, runs } = fill(['finished', 'finished', 'finished', 'finished'])
  const lines: string[] = []
  const log = (line: string): void => void lines.push(line)
  store.database.exec('PRAGMA query_only = ON')
  const clock = new ManualClock()
  const retention = startRetention({ store, clock, log, retention: { bytes: 150, atLeastMs: 0 } })
  await retention.settled()
  const kept = runs[3]!.id
  expect([foldersOf(store), left(store)]).toEqual([[kept], runs.map(({ id }) => id).reverse()])
  expect(lines).toEqual([expect.stringMatching(/^results beyond the limits could not be deleted: /)])
  store.database.exec('PRAGMA query_only = OFF')
  await clock.advance(HOUR_MS)
  await retention.settled()
  expect([left(store), readdirSync(store.folder.trashDir())]).toEqual([[kept], []])
  await retention.close()
  store.close()
})

describe('pruning beside a service', () => {
  const by = { retention: { bytes: 250, atLeastMs: 0 }, nowMs: new ManualClock().now() }

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
