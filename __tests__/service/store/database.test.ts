import { afterAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
/** Node 22 and the first of 24 warn when SQLite is loaded; newer ones do not any more. */
const WARNS_AS_BEFORE = `data:text/javascript,${encodeURIComponent(`
  const load = process.getBuiltinModule
  process.getBuiltinModule = (name) => {
    if (name.endsWith('sqlite')) process.emitWarning('SQLite is an experimental feature', 'ExperimentalWarning')
    return load(name)
  }`)}`

test("Node's warning about SQLite reaches nobody, and other warnings are not swallowed", () => {
  const flags = ['--experimental-transform-types', '--import', here('../../support/typescript-hooks.mjs')]
  const script = `
    const { openDatabase } = await import(${JSON.stringify(here('../../../src/service/store/database.ts'))})
    openDatabase(${JSON.stringify(folders.create())}).close()
    process.emitWarning('another one')`
  const args = [...flags, '--import', WARNS_AS_BEFORE, '--input-type=module', '--eval', script]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status).toBe(0)
  expect(stderr).not.toContain('SQLite')
  expect(stderr).toContain('another one')
})

test('nothing is used of SQLite that Node 22.13 does not have: there it would silently be undefined', () => {
  const newer = /database\.(isOpen|isTransaction|aggregate|createTagStore)\b|new DatabaseSync\([^)]*\{/
  const folder = here('../../../src/service')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts')
  )
  expect(files.length).toBeGreaterThan(100)
  expect(files.filter((name) => newer.test(readFileSync(join(folder, name), 'utf8')))).toEqual([])
})
