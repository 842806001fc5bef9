import { afterAll, describe, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { TeamAccounts, createToken, readTokenId } from '../../../src/service/accounts/accounts.js'
import { openSessionRows } from '../../../src/service/accounts/sessions.js'
import { createSingleUser, type Accounts } from '../../../src/service/accounts/users.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createFolders } from '../support.js'

const HOUR_MS = 3_600_000
const folders = createFolders()
const opened: DatabaseSync[] = []
afterAll(() => {
  for (const database of opened) database.close()
  folders.remove()
})

function open(dataDir = folders.create()): {
  accounts: TeamAccounts
  clock: ManualClock
  database: DatabaseSync
  dataDir: string
} {
  const database = openDatabase(dataDir)
  opened.push(database)
  const clock = new ManualClock()
  return { accounts: new TeamAccounts(database, clock), clock, database, dataDir }
}

describe('tokens', () => {
  test('are all different, have 256 random bits and their id', () => {
    const tokens = Array.from({ length: 2000 }, createToken)
    expect(new Set(tokens.map(({ text }) => text)).size).toBe(2000)
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(2000)
    for (const { text, id } of tokens) {
      expect(text).toMatch(/^lg_[0-9a-f]{12}_[\w-]{43}$/)
      expect(readTokenId(text)).toBe(id)
      expect(Buffer.from(text.slice(-43), 'base64url')).toHaveLength(32)
    }
  })

  test('open nothing once any character is changed, left out or added', () => {
    const { accounts } = open()
    const { token } = accounts.add('anna', 'admin')
    expect(accounts.findByToken(token)?.name).toBe('anna')
    for (let at = 0; at < token.length; at++) {
      const other = token[at] === 'a' ? 'b' : 'a'
      expect(accounts.findByToken(token.slice(0, at) + other + token.slice(at + 1))).toBeUndefined()
      expect(accounts.findByToken(token.slice(0, at) + token.slice(at + 1))).toBeUndefined()
      expect(accounts.findByToken(`${token.slice(0, at)}a${token.slice(at)}`)).toBeUndefined()
    }
    for (const guess of ['', 'lg_', token.toUpperCase(), `${token}\n`, ` ${token}`, `${token}\0`])
      expect(accounts.findByToken(guess)).toBeUndefined()
  })

  test('are nowhere in the data folder', () => {
    const { accounts, dataDir, database } = open()
    const { token } = accounts.add('anna', 'admin')
    const cookie = accounts.openSession(accounts.findByToken(token)!, token)
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const bytes = readFileSync(join(dataDir, 'loadgate.sqlite')).toString('latin1')
    expect(bytes).toContain('anna')
    expect(bytes).toContain(readTokenId(token))
    expect(bytes).not.toContain(token.slice(-43))
    expect(bytes).not.toContain(cookie)
  })
})

describe('users', () => {
  test.each([
    '',
    '.',
    '-a',
    'a b',
    'a\nb',
    'a<b',
    'a"b',
    'ä',
    'a/b',
    'a:b',
    'x'.repeat(65),
    '\u202ea',
    'a\0'
  ])('cannot have the name %j', (name) => {
    const { accounts } = open()
    expect(() => accounts.add(name, 'member')).toThrow('cannot be the name of a user')
    expect(accounts.users()).toEqual([])
  })

  test('have names that differ by more than case', () => {
    const { accounts } = open()
    accounts.add('Anna@example.com', 'admin')
    expect(() => accounts.add('anna@EXAMPLE.com', 'viewer')).toThrow(
      'there is a user Anna@example.com already'
    )
    expect(accounts.rotate('ANNA@example.com').name).toBe('Anna@example.com')
  })

  test('never get the id of a removed one', () => {
    const { accounts } = open()
    accounts.add('anna', 'admin')
    accounts.add('ben', 'member')
    const { id } = accounts.remove('ben')
    accounts.add('ben', 'member')
    expect(accounts.users().map((user) => user.id)).not.toContain(id)
  })

  test('always include an admin, once there was one', () => {
    const { accounts } = open()
    accounts.add('anna', 'admin')
    accounts.add('ben', 'member')
    expect(() => accounts.remove('anna')).toThrow('anna is the last admin; add another one')
    accounts.add('carl', 'admin')
    expect(accounts.remove('anna')).toMatchObject({ name: 'anna', role: 'admin' })
  })

  test('always include an admin whose token works', async () => {
    const { accounts, clock } = open()
    accounts.add('anna', 'admin', clock.now() + HOUR_MS)
    accounts.add('ben', 'admin')
    await clock.advance(HOUR_MS)
    expect(() => accounts.remove('ben')).toThrow('ben is the last admin; add another one')
    accounts.rotate('anna', clock.now() + HOUR_MS)
    expect(accounts.remove('ben')).toMatchObject({ name: 'ben', role: 'admin' })
    // One whose token has expired may go, as long as another one's works.
    accounts.add('carl', 'admin')
    await clock.advance(HOUR_MS)
    expect(accounts.remove('anna')).toMatchObject({ name: 'anna', role: 'admin' })
  })

  test('that are not there cannot be rotated or removed', () => {
    const { accounts } = open()
    expect(() => accounts.rotate('nobody')).toThrow('there is no user "nobody"')
    expect(() => accounts.remove('nobody')).toThrow('there is no user "nobody"')
  })
})

describe('what another process changes', () => {
  test.each(['rotate', 'remove'] as const)('holds at once: %s ends the token and the sessions', (action) => {
    const { accounts, dataDir } = open()
    accounts.add('anna', 'admin')
    const { token } = accounts.add('ben', 'member')
    const cookie = accounts.openSession(accounts.findByToken(token)!, token)
    expect(accounts.findBySession(cookie)?.name).toBe('ben')
    open(dataDir).accounts[action]('ben')
    expect(accounts.findByToken(token)).toBeUndefined()
    expect(accounts.findBySession(cookie)).toBeUndefined()
  })

  test('a session never outlives its token, even if its row does', () => {
    const { accounts, database } = open()
    const { token } = accounts.add('anna', 'admin')
    const cookie = accounts.openSession(accounts.findByToken(token)!, token)
    const rows = database.prepare('SELECT * FROM sessions').all()
    accounts.rotate('anna')
    const insert = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    for (const row of rows) insert.run(...Object.values(row))
    expect(accounts.findBySession(cookie)).toBeUndefined()
  })

  test.each(['rotate', 'remove'] as const)(
    '%s between the check of a token and its session opens nothing',
    (action) => {
      const { accounts, dataDir } = open()
      accounts.add('anna', 'admin')
      const { token } = accounts.add('ben', 'member')
      const user = accounts.findByToken(token)!
      open(dataDir).accounts[action]('ben')
      expect(accounts.findBySession(accounts.openSession(user, token))).toBeUndefined()
    }
  )

  test('two processes that add and remove at a time lose nothing', async () => {
    const { accounts, dataDir } = open()
    accounts.add('anna', 'admin')
    const program = `
      import { openDatabase } from './src/service/store/database.js'
      import { TeamAccounts } from './src/service/accounts/accounts.js'
      import { systemClock } from './src/contract/clock.js'
      const [dataDir, own] = process.argv.slice(1)
      const accounts = new TeamAccounts(openDatabase(dataDir), systemClock)
      let shared = 0
      for (let i = 0; i < 30; i++) {
        accounts.add(own + i, 'member')
        if (i % 2) accounts.remove(own + i)
        try { accounts.add('shared' + i, 'viewer'); shared++ } catch (e) { if (!/already/.test(e.message)) throw e }
      }
      console.log(shared)`
    const run = async (own: string): Promise<number> => {
      const args = [
        '--experimental-transform-types',
        '--no-warnings',
        '--import',
        './__tests__/support/typescript-hooks.mjs',
        '--input-type=module',
        '-e',
        program
      ]
      const { stdout } = await promisify(execFile)(process.execPath, [...args, dataDir, own])
      return Number(stdout)
    }
    const shared = await Promise.all([run('x'), run('y')])
    expect(shared[0] + shared[1]).toBe(30)
    const names = accounts.users().map(({ name }) => name)
    expect(names).toHaveLength(1 + 15 + 15 + 30)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('sessions', () => {
  function openOne(): ReturnType<typeof open> & { cookie: string; token: string } {
    const made = open()
    const { token } = made.accounts.add('anna', 'admin')
    return { ...made, token, cookie: made.accounts.openSession(made.accounts.findByToken(token)!, token) }
  }
  const countRows = (database: DatabaseSync): unknown =>
    database.prepare('SELECT count(*) AS n FROM sessions').get()?.n

  test('end after twelve hours without a visit', async () => {
    const { accounts, clock, cookie } = openOne()
    await clock.advance(12 * HOUR_MS - 1)
    expect(accounts.findBySession(cookie)?.name).toBe('anna')
    await clock.advance(12 * HOUR_MS)
    expect(accounts.findBySession(cookie)).toBeUndefined()
  })

  test('end after seven days, however often they are used', async () => {
    const { accounts, clock, cookie } = openOne()
    let hours = 0
    while (accounts.findBySession(cookie) && hours < 1000) {
      await clock.advance(HOUR_MS)
      hours++
    }
    expect(hours).toBe(7 * 24)
  })

  test('that nobody comes back to are removed by the next login', async () => {
    const { accounts, clock, database, token } = openOne()
    await clock.advance(13 * HOUR_MS)
    accounts.openSession({ id: 1, name: 'anna', role: 'admin' }, token)
    expect(countRows(database)).toBe(1)
  })

  test('end by logout, one at a time', () => {
    const { accounts, cookie, token } = openOne()
    const other = accounts.openSession({ id: 1, name: 'anna', role: 'admin' }, token)
    accounts.closeSession(cookie)
    expect(accounts.findBySession(cookie)).toBeUndefined()
    expect(accounts.findBySession(other)?.name).toBe('anna')
  })
})

test('visitors of the one user outlive a restart with the same token, until they log out', () => {
  const { database, clock } = open()
  const start = (token: string): Accounts =>
    createSingleUser(token, { clock, rows: openSessionRows(database) })
  const first = start('same')
  const cookie = first.openSession(first.findByToken('same')!, 'same')
  expect(start('same').findBySession(cookie)?.role).toBe('admin')
  expect(start('other').findBySession(cookie)).toBeUndefined()
  start('same').closeSession(cookie)
  expect(first.findBySession(cookie)).toBeUndefined()
})

test('a sign-in is counted once per hour, and nothing is written in between', async () => {
  const { accounts, clock, database } = open()
  const { token } = accounts.add('anna', 'admin')
  const signIns = (): unknown => accounts.users()[0]!
  expect(signIns()).toMatchObject({ signIns: 0, currentSignInMs: null, lastSignInMs: null })
  const startMs = clock.now()
  accounts.findByToken(token)
  const changes = (): unknown => database.prepare('SELECT total_changes() AS n').get()?.n
  const before = changes()
  for (let i = 0; i < 50; i++) accounts.findByToken(token)
  expect(changes()).toBe(before)
  await clock.advance(HOUR_MS)
  accounts.findByToken(token)
  expect(signIns()).toMatchObject({
    signIns: 2,
    currentSignInMs: startMs + HOUR_MS,
    lastSignInMs: startMs
  })
})
