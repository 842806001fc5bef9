import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../src/contract/clock.js'
import { TeamAccounts } from '../../../src/service/accounts/accounts.js'
import { openStore } from '../../../src/service/serve.js'
import { SeenRuns } from '../../../src/service/store/seen-runs.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

const VERSION_1 = fileURLToPath(new URL('../../fixtures/service/database-version-1.sql', import.meta.url))
/** Of Ann, in that database only. */
const TOKEN = 'lg_e34e642c5d0b_NCbLj-FzsdhCWJo1uGVGMRoOiDOqR64LQxNN1nUDP5Q'
const SESSION = '3A0tUN44IwmUjGtmI9g9w9qHeIk-mDE2UtaLWcT_wss'
const ANN = 1
const STRANGER = 99
const idOf = (number: number): string => String(number).padStart(24, '0')
const ALL = { offset: 0, limit: 100 }

type Rows = Record<string, Record<string, SQLOutputValue>[]>

function readAll(dataDir: string): Rows {
  const database = new DatabaseSync(join(dataDir, 'loadgate.sqlite'))
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all()
  const rows = tables.map(
    ({ name }) => [name, database.prepare(`SELECT * FROM ${String(name)}`).all()] as const
  )
  database.close()
  return Object.fromEntries(rows) as Rows
}

describe('a database of the version before, opened by this one', () => {
  let dataDir: string
  let before: Rows
  beforeEach(() => {
    dataDir = folders.create()
    const database = new DatabaseSync(join(dataDir, 'loadgate.sqlite'))
    database.exec(readFileSync(VERSION_1, 'utf8'))
    database.close()
    before = readAll(dataDir)
  })

  function open(): SqliteStore {
    return openStore(dataDir, { log: () => undefined })
  }

  test('has every row that it had, with all of its values, however often it is opened', () => {
    expect(Object.keys(before).length).toBeGreaterThan(6)
    for (let round = 1; round <= 2; round++) {
      open().close()
      const after = readAll(dataDir)
      for (const [table, rows] of Object.entries(before))
        expect([table, after[table]]).toEqual([
          table,
          rows.map((row): unknown => expect.objectContaining(row))
        ])
    }
  })

  test('has its runs, grids and filters', () => {
    const store = open()
    const idsOf = (filter: object): string[] => store.listRuns({ filter, ...ALL }).runs.map(({ id }) => id)
    expect(idsOf({})).toEqual([4, 3, 2, 1].map(idOf))
    expect(idsOf({ tag: 'nightly' })).toEqual([2, 1].map(idOf))
    expect(idsOf({ project: 'shop', status: 'finished', name: 'run', user: 'Ann' })).toEqual([idOf(1)])
    for (const { record } of before.run_records!) {
      const run = JSON.parse(String(record)) as { id: string }
      expect(store.run(run.id)).toEqual(run)
    }
    expect(store.unsettledRuns().map(({ id }) => id)).toEqual([3, 4].map(idOf))
    expect(store.listGrids(ALL).total).toBe(5)
    expect(store.activeGrids().map(({ id }) => id)).toEqual([104, 150].map(idOf))
    expect(store.nextSequence()).toBe(5)
    store.close()
  })

  test('shows runs to those who may see them, and knows when they have ended', () => {
    const store = open()
    const seenBy = (userId: number, projects: string[] = []) => {
      const seen = new SeenRuns(store, { userId, projects })
      return [seen.listRuns({ ...ALL }).runs, seen.listGrids(ALL).grids].map((each) =>
        each.map(({ id }) => id)
      )
    }
    expect(seenBy(ANN)).toEqual([[4, 3, 1].map(idOf), [150, 104, 103, 101].map(idOf)])
    expect(seenBy(STRANGER)).toEqual([[idOf(1)], []])
    expect(seenBy(STRANGER, ['shop'])[0]).toEqual([4, 3, 1].map(idOf))
    const ends = store.database.prepare('SELECT ended_ms, is_pinned, bytes FROM runs ORDER BY sequence').all()
    const stoppedMs = Date.UTC(2026, 0, 1)
    expect(ends.map(({ ended_ms, is_pinned, bytes }) => [ended_ms, is_pinned, bytes])).toEqual([
      [stoppedMs + 20, 0, 1234],
      [stoppedMs + 40, 0, null],
      [null, 0, null],
      [null, 0, null]
    ])
    store.close()
  })

  test('has its users, with their tokens and sessions', () => {
    const store = open()
    const accounts = new TeamAccounts(store.database, { ...systemClock, now: () => Date.UTC(2026, 0, 2) })
    expect(accounts.findByToken(TOKEN)).toMatchObject({ id: ANN, name: 'Ann', role: 'member' })
    expect(accounts.findBySession(SESSION)).toMatchObject({ id: ANN, role: 'member' })
    expect(
      accounts.users().map(({ name, role, expiresMs, issuer }) => [name, role, expiresMs, issuer])
    ).toEqual([
      ['Ann', 'member', null, ''],
      ['ops', 'admin', null, '']
    ])
    // Nobody gets the number, and with it the runs, of somebody else.
    expect(accounts.add('new', 'member').id).toBe(3)
    store.close()
  })

  test('holds its queue: nothing tells it from a backup', () => {
    const store = open()
    store.claim()
    expect(store.hold.why).toContain('may have been restored from an older copy')
    store.close()
  })
})
