import { afterEach, expect, test } from '@jest/globals'
import type { DatabaseSync } from 'node:sqlite'
import { renameUsers } from '../../../../src/service/accounts/oidc/rename-users.js'
import { inTransaction, openDatabase } from '../../../../src/service/store/database.js'
import { startCpuTimer } from '../../../support/cpu-time.js'
import { createFolders } from '../../support.js'

const ISSUER = 'https://ci.example'
const OIDC = { oidc: [{ issuer: ISSUER, name: 'ci', audience: 'a', userClaim: 'sub', allow: [] }] }

const folders = createFolders()
const databases: DatabaseSync[] = []
afterEach(() => {
  for (const database of databases.splice(0)) database.close()
  folders.remove()
})

interface Written {
  readonly user: { readonly id: number; readonly name: string }
  readonly project: string
  /** Of the run, where the record is not one. */
  readonly record?: string
}

/** A database of before the issuer had a name: users in the order of their names, and a run with a grid for each of `written`. */
function open(users: readonly string[], written: readonly Written[]): DatabaseSync {
  const database = openDatabase(folders.create())
  databases.push(database)
  inTransaction(database, () => {
    const user = database.prepare(
      "INSERT INTO users (name, role, token_id, token_hash, created_ms, issuer, subject) VALUES (?, 'member', ?, x'00', 1, ?, ?)"
    )
    for (const name of users) user.run(name, name, ISSUER, name)
    const run = database.prepare(
      "INSERT INTO runs (id, status, is_unsettled, name, project, user_name, created_ms, user_id) VALUES (?, 'finished', 0, 'run', ?, ?, 1, ?)"
    )
    const runRecord = database.prepare('INSERT INTO run_records (sequence, record) VALUES (?, ?)')
    const grid = database.prepare(
      'INSERT INTO grids (id, is_active, record, user_id, project) VALUES (?, 0, ?, ?, ?)'
    )
    for (const [index, { user: of, project, record }] of written.entries()) {
      const { lastInsertRowid } = run.run(`run ${index}`, project, of.name, of.id)
      const ofRun = { user: of, request: { project } }
      runRecord.run(lastInsertRowid, record ?? JSON.stringify(ofRun))
      const ofGrid = { user: of, createdFor: { project } }
      grid.run(`grid ${index}`, record ?? JSON.stringify(ofGrid), of.id, project)
    }
  })
  return database
}

const all = (database: DatabaseSync, sql: string): unknown[] =>
  database
    .prepare(sql)
    .all()
    .map((row) => ({ ...row }))

test('each user and what the user has done is renamed, and nothing of anyone else', () => {
  const [shop, pay] = [
    { id: 1, name: 'acme/shop' },
    { id: 2, name: 'acme/pay' }
  ]
  const database = open(
    [shop.name, pay.name],
    [
      { user: shop, project: shop.name },
      { user: shop, project: 'tools' },
      // Another user's run may be in the project that is called after this one.
      { user: pay, project: shop.name },
      { user: pay, project: pay.name, record: 'not JSON' }
    ]
  )
  renameUsers(database, OIDC)
  expect(all(database, 'SELECT name FROM users ORDER BY id')).toEqual([
    { name: 'ci:acme/shop' },
    { name: 'ci:acme/pay' }
  ])
  const expected = [
    { user: 'ci:acme/shop', project: 'ci:acme/shop' },
    { user: 'ci:acme/shop', project: 'tools' },
    { user: 'ci:acme/pay', project: 'acme/shop' },
    { user: 'ci:acme/pay', project: 'ci:acme/pay' }
  ]
  expect(all(database, 'SELECT user_name AS user, project FROM runs ORDER BY sequence')).toEqual(expected)
  expect(all(database, 'SELECT project FROM grids ORDER BY id')).toEqual(
    expected.map(({ project }) => ({ project }))
  )
  const read = (path: string): string =>
    `SELECT json_extract(record, '$.user.name') AS user, json_extract(record, '${path}') AS project`
  const valid = expected.slice(0, 3)
  const ofRuns = `${read('$.request.project')} FROM run_records WHERE json_valid(record) ORDER BY sequence`
  expect(all(database, ofRuns)).toEqual(valid)
  const ofGrids = `${read('$.createdFor.project')} FROM grids WHERE json_valid(record) ORDER BY id`
  expect(all(database, ofGrids)).toEqual(valid)
  const broken = [{ record: 'not JSON' }]
  expect(all(database, 'SELECT record FROM run_records WHERE NOT json_valid(record)')).toEqual(broken)
  expect(all(database, 'SELECT record FROM grids WHERE NOT json_valid(record)')).toEqual(broken)
})

test('the time does not grow with users times grids', () => {
  const users = Array.from({ length: 3000 }, (_, i) => ({ id: i + 1, name: `acme/shop${i}` }))
  const written = users.map((user) => ({ user, project: user.name }))
  const database = open(
    users.map(({ name }) => name),
    [...written, ...written]
  )
  const cpuMs = startCpuTimer()
  renameUsers(database, OIDC)
  expect(cpuMs()).toBeLessThan(1500)
  expect(all(database, "SELECT count(*) AS moved FROM grids WHERE project LIKE 'ci:%'")).toEqual([
    { moved: 6000 }
  ])
})
