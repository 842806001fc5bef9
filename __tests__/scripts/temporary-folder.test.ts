import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string
let temp: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-jest-'))
  temp = join(folder, 'temp')
  mkdirSync(temp)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Jest as `npm test` runs it, on tests that leave folders behind; with no timings of earlier runs it takes workers for two files. */
function runUntidyTests(outcome: string): { code: number | null; text: string } {
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      ...['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', '--maxWorkers=2'],
      ...['--testMatch', '**/support/untidy/*.ts', '--cacheDirectory', join(folder, 'cache')],
      ...['--selectProjects', 'tests']
    ],
    {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: temp, UNTIDY_OUTCOME: outcome, LOADGATE_COVERAGE: undefined }
    }
  )
  return { code: status, text: stderr }
}

test.each([
  { outcome: 'pass', code: 0, counts: 'Tests:       2 passed, 2 total' },
  { outcome: 'fail', code: 1, counts: 'Tests:       1 failed, 1 passed, 2 total' }
])('tests that $outcome leave nothing in the temporary folder of the system', ({ outcome, code, counts }) => {
  const run = runUntidyTests(outcome)
  expect(run.text).toContain(counts)
  expect(run.code).toBe(code)
  expect(readdirSync(temp)).toEqual([])
})

test('the tests use their own folder', () => {
  expect(tmpdir()).toMatch(/loadgate-tests-\w+$/)
})
