import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLogErrors } from '../../../../src/server/engines/gatling/log-errors.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
const { signal } = new AbortController()
let file: string
beforeEach(() => {
  file = join(folders.create(), 'gatling.log')
})
afterEach(() => folders.remove())

test('errors are counted, and the first one is quoted', async () => {
  writeFileSync(
    file,
    [
      '2026-01-01 12:00:00.000 INFO  i.g.c.c.Controller: ERROR is a word',
      '2026-01-01 12:00:00.001 ERROR i.g.c.a.SessionHook: crashed with odd',
      'java.lang.IllegalStateException: odd',
      '2026-01-01 12:00:00.002 ERROR i.g.c.a.SessionHook: crashed again',
      ''
    ].join('\n')
  )
  expect(await readLogErrors(file, signal)).toEqual({
    count: 2,
    first: 'i.g.c.a.SessionHook: crashed with odd'
  })
})

test('no log has no errors', async () => {
  expect(await readLogErrors(file, signal)).toEqual({ count: 0, first: '' })
  writeFileSync(file, '2026-01-01 12:00:00.001 ERROR a: b\n')
  expect(await readLogErrors(file, AbortSignal.abort())).toEqual({ count: 0, first: '' })
})
