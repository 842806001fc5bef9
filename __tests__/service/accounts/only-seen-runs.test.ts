import { expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceFacts } from '../../../src/service/service-facts.js'
import type { Store } from '../../../src/service/store/store.js'

const SERVICE = fileURLToPath(new URL('../../../src/service/', import.meta.url))
const FINDS =
  /\bstore\s*\??\.\s*(run|grid|listRuns|listGrids|listProjects|runsLike|unsettledRuns|activeGrids)\b|\b(?:Sqlite)?Store\b/

/** The modules that answer requests. */
const MODULES = [
  'service-facts.ts',
  'accounts/permissions.ts',
  ...['api', 'pages', 'metrics'].flatMap((folder) =>
    readdirSync(join(SERVICE, folder)).map((name) => `${folder}/${name}`)
  )
].filter((name) => name.endsWith('.ts'))

/** The metrics count runs by status, for operators. */
const ALLOWED = ['metrics/metrics.ts']

test.each(MODULES.filter((name) => !ALLOWED.includes(name)))(
  '%s finds runs and grids as a user sees them, never in the store itself',
  (name) => {
    const lines = readFileSync(join(SERVICE, name), 'utf8').split('\n')
    expect(lines.filter((line) => FINDS.test(line))).toEqual([])
  }
)

test('what answers requests has no type with which it could', () => {
  type Finding = Exclude<
    keyof Store & keyof ServiceFacts['store'],
    'folder' | 'gridsOf' | 'saveRun' | 'flush' | 'flushWhenFree' | 'hold'
  >
  const none: [Finding] extends [never] ? true : false = true
  expect(none).toBe(true)
})

test('the check sees what it is for', () => {
  expect(
    ['facts.store.run(id)', 'store\t.listRuns({', 'import type { Store } from'].every((line) =>
      FINDS.test(line)
    )
  ).toBe(true)
})
