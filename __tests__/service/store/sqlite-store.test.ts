import { afterAll, describe, expect, jest, test } from '@jest/globals'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/service/store/database.js'
import { createId } from '../../../src/service/store/data-folder.js'
import { openStore } from '../../../src/service/serve.js'
import { type GridRecord, isSettled, type RunRecord, type RunStatus } from '../../../src/contract/records.js'
import { choose } from '../../../src/service/store/tables.js'
import type { Visibility } from '../../../src/service/store/visibility.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { type RunFilter, Store } from '../../../src/service/store/store.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { slice } from '../../support/slice.js'
import { createFolders } from '../support.js'
import { makeGrid, makeRun } from './records.js'

const folders = createFolders()
afterAll(() => folders.remove())

const open = (dataDir: string, lines: string[] = []): SqliteStore =>
  openStore(dataDir, { log: (line) => lines.push(line) })

describe('against a store in memory', () => {
  const NAMES = [null, 'Checkout of the shop', 'checkout', 'ÄRGER 100%', "it's_"]
  const PROJECTS = [null, 'shop', 'Shop', '']
  const TAGS = ['nightly', 'slow', 'a%', 'é']
  const USERS = ['ada', 'bob', undefined]
  const STATUSES: readonly RunStatus[] = ['queued', 'running', 'stopping', 'finished', 'problem']

  /** Everything that anybody can see. */
  function look(
    store: Store,
    { runs, grids, isBlocked }: { runs: readonly string[]; grids: readonly string[]; isBlocked: boolean }
  ): unknown {
    const filters: RunFilter[] = [
      ...[{}, { name: 'CHECK' }, { name: 'ärger 100%' }, { name: "'s_" }, { name: '' }],
      ...PROJECTS.flatMap((project) => (project === null ? [] : [{ project }, { project, name: 'c' }])),
      ...TAGS.flatMap((tag) => [{ tag }, { tag, user: 'ada' }, { tag, project: 'shop', name: 'o' }]),
      ...[{ user: 'ada' }, { user: '' }],
      // While changes cannot be written, runs are found by the status that they had before.
      ...(isBlocked
        ? []
        : [{ user: 'bob', status: 'finished' as const }, ...STATUSES.map((status) => ({ status }))])
    ]
    return {
      runs: runs.map((id) => store.run(id)),
      grids: grids.map((id) => store.grid(id)),
      ofRuns: runs.map((id) => store.gridsOf(store.run(id)!)),
      lists: filters.flatMap((filter) => [
        store.listRuns({ filter, offset: 0, limit: 3 }),
        store.listRuns({ filter, offset: 2, limit: 100 })
      ]),
      unsettled: store.unsettledRuns(),
      active: store
        .activeGrids()
        .map(({ id }) => id)
        .sort(),
      next: store.nextSequence()
    }
  }

  /** Both stores get the same changes, in records of their own. */
  function createPair(dataDir: string): {
    both(act: (store: Store) => void): void
    reopen(): void
    block(isBlocked: boolean): void
    compare(known: Parameters<typeof look>[1]): void
    close(): void
  } {
    const model = new Store(folders.create())
    let store = open(dataDir)
    return {
      both: (act) => [model, store].forEach(act),
      reopen: () => {
        store.close()
        store = open(dataDir)
      },
      block: (isBlocked) => store.database.exec(`PRAGMA query_only = ${isBlocked ? 'ON' : 'OFF'}`),
      compare: (known) => {
        if (!known.isBlocked) store.flush()
        expect(look(store, known)).toEqual(look(model, known))
        for (const run of store.unsettledRuns()) {
          expect(store.run(run.id)).toBe(run)
          for (const grid of store.gridsOf(run)) expect(store.grid(grid.id)).toBe(grid)
        }
        for (const grid of store.activeGrids()) expect(store.grid(grid.id)).toBe(grid)
      },
      close: () => store.close()
    }
  }

  test.each(Array.from({ length: slice(12, 200) }, (_, seed) => seed + 1))('seed %i', (seed) => {
    const random = makeRandom(seed)
    const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!
    const pair = createPair(folders.create())
    const [runs, grids]: [string[], string[]] = [[], []]
    let isBlocked = false
    const steps: (() => void)[] = [
      () => {
        const alone = makeGrid()
        pair.both((store) => store.create({ grids: [{ ...alone }] }))
        grids.push(alone.id)
      },
      () => {
        const batchId = createId()
        const own = [makeGrid({ batchId }), ...(random() < 0.5 ? [makeGrid({ batchId })] : [])]
        const user = pick(USERS)
        const others = grids.length > 0 && random() < 0.5 ? [pick(grids)] : []
        const wish = makeRun({
          ...{ batchId, gridIds: [...own.map(({ id }) => id), ...others], createdMs: seed },
          ...(user !== undefined && { user: { id: 1, name: user } }),
          request: { name: pick(NAMES), project: pick(PROJECTS), tags: TAGS.filter(() => random() < 0.3) }
        })
        pair.both((store) =>
          store.create({
            run: { ...wish, sequence: store.nextSequence() },
            grids: own.map((grid) => ({ ...grid }))
          })
        )
        runs.push(wish.id)
        grids.push(...own.map(({ id }) => id))
      },
      () => {
        if (runs.length === 0) return
        const [id, status, isUnmerged] = [pick(runs), pick(STATUSES), random() < 0.3]
        pair.both((store) => {
          const run = store.run(id)!
          // What has settled stays so.
          if (isSettled(run)) return
          run.status = status
          if (isUnmerged) run.unmerged = true
          else delete run.unmerged
          store.saveRun(run)
        })
      },
      () => {
        if (grids.length === 0) return
        const [id, status] = [pick(grids), pick(['started', 'stopped'] as const)]
        pair.both((store) => {
          const grid = store.grid(id)!
          grid.status = status
          store.saveGrid(grid)
        })
      }
    ]
    for (let step = 0; step < 60; step++) {
      // New records are refused while nothing can be written; changes are not.
      pick(isBlocked ? steps.slice(2) : steps)()
      if (random() < 0.1) pair.block((isBlocked = !isBlocked))
      if (random() < 0.1) {
        if (isBlocked) pair.block((isBlocked = false))
        pair.reopen()
      }
      if (step % 6 === 0) pair.compare({ runs, grids, isBlocked })
    }
    pair.compare({ runs, grids, isBlocked })
    pair.close()
  })
})

describe('the plans of the list', () => {
  const filters: readonly RunFilter[] = [
    ...[{}, { project: 'p' }, { user: 'u' }, { status: 'running' as const }, { tag: 't' }],
    ...[{ project: 'p', name: 'n' }, { tag: 't', project: 'p', status: 'finished' as const }, { name: 'n' }],
    { user: 'u', project: 'p', name: 'n', status: 'problem' }
  ]
  const database = openDatabase(folders.create())
  afterAll(() => database.close())

  const users: readonly Visibility[] = ['all', { userId: 1, projects: ['p', 'q'] }]
  const cases = filters.flatMap((filter) => users.map((seenBy) => [filter, seenBy] as const))

  test.each(cases)('%j for %j: in the order of an index, without sorting', (filter, seenBy) => {
    const { from, where, order, values } = choose(filter, seenBy)
    const explain = (sql: string): string =>
      database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(values)
        .map(({ detail }) => String(detail))
        .join('\n')
    const page = explain(`SELECT runs.id FROM ${from} ${where} ${order} LIMIT 50 OFFSET 0`)
    expect(page).not.toContain('TEMP B-TREE')
    // A part of a name is in no index; the rows are small and in order.
    const isScan = Object.keys(filter).every((key) => key === 'name')
    expect(page.includes('SCAN run')).toBe(isScan)
    expect(explain(`SELECT count(*) FROM ${from} ${where}`).includes('SCAN run')).toBe(isScan)
  })

  test('what is read at the start is found by partial indexes', () => {
    const explain = (sql: string): string =>
      JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all())
    expect(explain('SELECT id FROM runs WHERE is_unsettled = 1 ORDER BY sequence')).toMatch(
      /SEARCH runs USING INDEX unsettled_runs(?!.*TEMP B-TREE)/
    )
    expect(explain('SELECT id FROM grids WHERE is_active = 1')).toContain('active_grids')
    expect(explain('SELECT id FROM runs WHERE is_unsettled = 0 AND bytes IS NULL LIMIT 9')).toContain(
      'unmeasured_runs'
    )
  })
})

describe('records that somebody else wrote', () => {
  const ofOthers = [JSON.stringify(makeRun()), JSON.stringify(makeGrid())]
  test.each(['', '{', 'null', '[]', '{}', '7', ...ofOthers])('%j: logged once and skipped', (record) => {
    const dataDir = folders.create()
    const store = open(dataDir)
    const grid = makeGrid({ status: 'stopped' })
    const [good, odd] = [makeRun({ status: 'finished', gridIds: [grid.id] }), makeRun({ sequence: 2 })]
    store.create({ run: good, grids: [grid] })
    store.create({ run: odd, grids: [] })
    store.database.prepare('UPDATE run_records SET record = ? WHERE sequence = 2').run(record)
    store.database.prepare('UPDATE grids SET record = ?').run(record)
    store.close()
    const lines: string[] = []
    const again = open(dataDir, lines)
    expect(again.listRuns({ offset: 0, limit: 9 }).runs).toEqual([good])
    expect([again.run(odd.id), again.grid(grid.id), again.gridsOf(good)]).toEqual([undefined, undefined, []])
    expect(lines).toEqual([
      `the record of run ${odd.id} was not written by this service, and is ignored`,
      `the record of grid ${grid.id} was not written by this service, and is ignored`
    ])
    again.close()
  })
})

describe('a database that cannot be used', () => {
  const read = (dataDir: string): Buffer => readFileSync(join(dataDir, 'loadgate.sqlite'))

  test('one of a newer version is left alone', () => {
    const dataDir = folders.create()
    const database = openDatabase(dataDir)
    database.exec('PRAGMA user_version = 99')
    database.close()
    const before = read(dataDir)
    expect(() => open(dataDir)).toThrow(/written by a newer loadgate \(version 99 .*start that one$/)
    expect(read(dataDir)).toEqual(before)
  })

  test('a file that is something else is left alone', () => {
    const dataDir = folders.create()
    const text = 'not a database\n'.repeat(100)
    writeFileSync(join(dataDir, 'loadgate.sqlite'), text)
    expect(() => open(dataDir)).toThrow(
      /loadgate\.sqlite is not a database; move it away, or choose another folder/
    )
    expect(read(dataDir).toString()).toBe(text)
  })

  test('a damaged one is named', () => {
    const dataDir = folders.create()
    open(dataDir).close()
    const bytes = read(dataDir)
    bytes.fill(0x5a, 100)
    writeFileSync(join(dataDir, 'loadgate.sqlite'), bytes)
    expect(() => open(dataDir)).toThrow(/loadgate\.sqlite is damaged; restore it from a backup/)
    expect(read(dataDir)).toEqual(bytes)
  })

  test('one that is damaged further inside is named too', () => {
    const dataDir = folders.create()
    const store = open(dataDir)
    for (let sequence = 1; sequence <= 50; sequence++)
      store.create({ run: makeRun({ sequence, status: 'running' }), grids: [] })
    store.close()
    const bytes = read(dataDir)
    // The schema is on the first pages; everything after them is gone.
    bytes.fill(0, 4 * 4096)
    writeFileSync(join(dataDir, 'loadgate.sqlite'), bytes)
    expect(() => open(dataDir)).toThrow(
      new RegExp(`${dataDir} cannot be used: .*loadgate\\.sqlite is damaged; restore it from a backup`)
    )
  })

  test('one that somebody else is writing to: no word about space', () => {
    const dataDir = folders.create()
    const store = open(dataDir)
    const other = openDatabase(dataDir)
    other.exec('BEGIN IMMEDIATE')
    store.database.exec('PRAGMA busy_timeout = 1')
    expect(() => store.claim()).toThrow(/another process is writing to it for longer than usual; try again/)
    other.close()
    store.claim()
    store.close()
  })

  test('only its owner reads it', () => {
    const dataDir = folders.create()
    const store = open(dataDir)
    store.create({ grids: [makeGrid()] })
    for (const end of ['', '-wal', '-shm'])
      expect(statSync(join(dataDir, `loadgate.sqlite${end}`)).mode & 0o777).toBe(0o600)
    store.close()
  })

  const testAsRoot = process.getuid?.() === 0 ? test : test.skip
  testAsRoot('one of another user is refused, and nothing is created in it', async () => {
    const { chownSync, readdirSync } = await import('node:fs')
    const dataDir = folders.create()
    chmodSync(dataDir, 0o700)
    chownSync(dataDir, 65534, 65534)
    expect(() => open(dataDir)).toThrow(
      /belongs to another user; run the command as that one: sudo -u (nobody|'#65534') loadgate …$/
    )
    expect(readdirSync(dataDir)).toEqual([])
    // A command before the first start does not take the place of the folder.
    expect(() => openDatabase(join(dataDir, 'data'))).toThrow(/sudo -u (nobody|'#65534') loadgate …$/)
    expect(readdirSync(dataDir)).toEqual([])
  })

  testAsRoot.each([
    ['without rights', 0o700, /belongs to another user; .*if root made it by mistake.*chown -R/],
    ['that may look but not touch', 0o755, /belongs to another user; .*if root made it by mistake.*chown -R/]
  ])('a user %s is told whose folder it is', async (_, mode, words) => {
    const dataDir = folders.create()
    open(dataDir).close()
    chmodSync(dataDir, mode)
    const getuid = jest.spyOn(process as Required<typeof process>, 'getuid').mockReturnValue(65534)
    process.seteuid?.(65534)
    try {
      expect(() => openDatabase(dataDir)).toThrow(words)
    } finally {
      process.seteuid?.(0)
      getuid.mockRestore()
    }
  })
})

test('a full database refuses a run in plain words, and nothing of it remains', () => {
  const store = open(folders.create())
  store.database.exec('PRAGMA max_page_count = 1')
  const grid = makeGrid()
  const run: RunRecord = makeRun({ gridIds: [grid.id], request: { notes: 'x'.repeat(100_000) } })
  const create = (): void => store.create({ run, grids: [grid] as GridRecord[] })
  expect(create).toThrow(
    "the run was not created: the service's disk is full; free up space there and try again"
  )
  expect(create).toThrow(expect.objectContaining({ statusCode: 507 }))
  expect([store.run(run.id), store.grid(grid.id), store.listRuns({ offset: 0, limit: 9 }).total]).toEqual([
    ...[undefined, undefined, 0]
  ])
  store.database.exec('PRAGMA max_page_count = 1000000')
  create()
  expect(store.run(run.id)).toBe(run)
  store.close()
})

test('the marker of a folder stays the same, and is made anew if something else is in its place', () => {
  const dataDir = folders.create()
  const markerOf = (folder: string): string => {
    const store = open(folder)
    const marker = store.marker()
    store.close()
    return marker
  }
  const marker = markerOf(dataDir)
  expect(marker).toMatch(/^[\da-f]{24}$/)
  expect(markerOf(dataDir)).toBe(marker)
  expect(markerOf(folders.create())).not.toBe(marker)
  const database = openDatabase(dataDir)
  database.exec("UPDATE facts SET value = 'a,b in (c)' WHERE key = 'marker'")
  database.close()
  expect(markerOf(dataDir)).toMatch(/^[\da-f]{24}$/)
})

test.each([
  ['that of a run that was never created goes', { hasRuns: true, hasResults: false }],
  ['also beside results of which nobody knows, which are told', { hasRuns: true, hasResults: true }],
  ['but not if nothing is known of any run', { hasRuns: false, hasResults: true }]
])('a folder without a record: %s', (_, { hasRuns, hasResults }) => {
  const dataDir = folders.create()
  const [known, unborn, lost] = [createId(), createId(), createId()]
  const folderOf = (id: string): string => join(dataDir, 'runs', id)
  const before = open(dataDir)
  if (hasRuns) before.create({ run: makeRun({ id: known }), grids: [] })
  for (const id of [known, unborn]) mkdirSync(join(folderOf(id), 'files'), { recursive: true })
  if (hasResults) mkdirSync(join(folderOf(lost), 'results'), { recursive: true })
  before.close()
  const lines: string[] = []
  const store = open(dataDir, lines)
  store.claim()
  store.close()
  expect([known, unborn, lost].map((id) => existsSync(folderOf(id)))).toEqual([true, !hasRuns, hasResults])
  const told = expect.stringMatching(/^1 folder in .* with results that the database does not know/)
  expect(lines).toEqual(hasResults ? [told] : [])
})
