import { afterAll, expect, test } from '@jest/globals'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { openStore } from '../../../src/service/serve.js'
import type { SqliteStore } from '../../../src/service/store/sqlite-store.js'
import { createFolders } from '../support.js'
import { makeRun } from './records.js'

const folders = createFolders()
afterAll(() => folders.remove())

/** A service in the folder has started: why its queue is held, if it is. */
function claim(dataDir: string): { store: SqliteStore; why: string | undefined } {
  const store = openStore(dataDir, { log: () => undefined })
  store.claim()
  return { store, why: store.hold.why }
}

const fileOf = (dataDir: string): string => join(dataDir, 'changes')

function fill(): { dataDir: string; store: SqliteStore } {
  const dataDir = folders.create()
  const { store } = claim(dataDir)
  store.create({ run: makeRun({ sequence: 1 }), grids: [] })
  return { dataDir, store }
}

test('a change that was rolled back does not count: the file is never ahead of the database', () => {
  const { dataDir, store } = fill()
  const [run] = store.unsettledRuns()
  const before = readFileSync(fileOf(dataDir), 'utf8')
  expect(() => store.create({ run: run!, grids: [] })).toThrow('the run was not created')
  store.flush()
  expect(readFileSync(fileOf(dataDir), 'utf8')).toBe(before)
  store.close()
  const next = claim(dataDir)
  expect(next.why).toBeUndefined()
  next.store.close()
})

test('a database that is ahead, as after a kill before the file was written, is no reason for doubt', () => {
  const { dataDir, store } = fill()
  const before = readFileSync(fileOf(dataDir), 'utf8')
  store.saveRun(store.unsettledRuns()[0]!)
  store.saveRun(store.unsettledRuns()[0]!)
  expect(readFileSync(fileOf(dataDir), 'utf8')).not.toBe(before)
  store.close()
  writeFileSync(fileOf(dataDir), before)
  const next = claim(dataDir)
  expect(next.why).toBeUndefined()
  next.store.close()
})

test.each([
  [
    'one change ahead',
    (text: string) => text.replace(/\d+$/m, (digits) => String(Number(digits) + 1).padStart(16, '0'))
  ],
  ['of another database', (text: string) => text.replace(/^\w{24}/, 'f'.repeat(24))],
  ['damaged', () => 'nonsense']
])('a file that is %s is one', (_, change) => {
  const { dataDir, store } = fill()
  store.close()
  writeFileSync(fileOf(dataDir), change(readFileSync(fileOf(dataDir), 'utf8')))
  const next = claim(dataDir)
  expect(next.why).toMatch(
    /restored from an older copy \(runs have changed since it was copied\), and waiting runs may/
  )
  // Once it is let go, it does not come back.
  next.store.hold.release()
  next.store.close()
  const last = claim(dataDir)
  expect(last.why).toBeUndefined()
  last.store.close()
})

test('a copy of the folder that is written over what is left of it is a reason for doubt', () => {
  const { dataDir, store } = fill()
  store.close()
  const backup = folders.create()
  execFileSync('cp', ['-a', `${dataDir}/.`, backup])
  const next = claim(dataDir)
  expect(next.why).toBeUndefined()
  next.store.saveRun(next.store.unsettledRuns()[0]!)
  next.store.close()
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `loadgate.sqlite${end}`), { force: true })
  execFileSync('cp', ['-a', `${backup}/.`, dataDir])
  const restored = claim(dataDir)
  expect(restored.why).toMatch('its data folder is a copy of the one in which it was last used')
  restored.store.close()
})

test('a service that was killed before its file was in its place is no reason for doubt', () => {
  const { dataDir, store } = fill()
  store.close()
  // As before the start, with the file of that start beside it.
  const before = join(folders.create(), 'changes')
  cpSync(fileOf(dataDir), before)
  renameSync(fileOf(dataDir), join(dataDir, 'changes.next'))
  renameSync(before, fileOf(dataDir))
  for (let start = 0; start < 2; start++) {
    const next = claim(dataDir)
    expect(next.why).toBeUndefined()
    next.store.close()
  }
})
