import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readLogErrors } from '../../../../src/service/engines/gatling/run-simulation.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
const { signal } = new AbortController()
const redact = (text: string): string => text.replaceAll('secret', '***')
const NONE = { count: 0, first: '' }
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
      '2026-01-01 12:00:00.001 ERROR i.g.h.a.HttpRequestAction: Failed to build request pay: odd',
      'java.lang.IllegalStateException: odd',
      '2026-01-01 12:00:00.002 ERROR i.g.c.a.GroupStart: Failed to resolve name of group',
      ''
    ].join('\n')
  )
  const first = 'i.g.h.a.HttpRequestAction: Failed to build request pay: odd'
  expect(await readLogErrors(file, { redact, signal })).toEqual({
    lost: NONE,
    other: { count: 2, first },
    first
  })
})

test.each([
  "i.g.c.a.b.SessionHookBuilder$$anon$1: 'hook-18' failed to execute: j.l.IllegalStateException: odd",
  "i.g.c.action.If: 'if-3' failed to execute: No attribute named 'missing' is defined",
  "i.g.c.a.SessionHook: 'hook-1' crashed with 'j.l.Error: odd', forwarding to the next one",
  "i.g.c.s.LoopBlock$: Condition evaluation crashed with message 'No attribute named 'no' is defined', exiting loop",
  "i.g.c.a.InnerTryMax: Condition evaluation for tryMax x crashed with message 'odd', exiting tryMax",
  "i.g.h.a.HttpRequestAction: Failed to build request name: No attribute named 'no' is defined"
])('a step that was not executed is lost load: %s', async (text) => {
  const lines = ['ERROR a: odd', `ERROR ${text}`, `ERROR ${text} again`]
  writeFileSync(file, lines.map((line) => `2026-01-01 12:00:00.001 ${line}\n`).join(''))
  expect(await readLogErrors(file, { redact, signal })).toEqual({
    lost: { count: 2, first: text },
    other: { count: 1, first: 'a: odd' },
    first: 'a: odd'
  })
})

test('secrets are redacted before a long text is cut', async () => {
  writeFileSync(file, `2026-01-01 12:00:00.001 ERROR a: ${'x'.repeat(494)}secret and more\n`)
  const { first } = await readLogErrors(file, { redact, signal })
  expect(first).toBe(`a: ${'x'.repeat(494)}***`)
})

test('no log has no errors', async () => {
  const none = { lost: NONE, other: NONE, first: '' }
  expect(await readLogErrors(file, { redact, signal })).toEqual(none)
  writeFileSync(file, '2026-01-01 12:00:00.001 ERROR a: b\n')
  expect(await readLogErrors(file, { redact, signal: AbortSignal.abort() })).toEqual(none)
})
