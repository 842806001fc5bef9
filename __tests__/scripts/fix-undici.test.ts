import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import type { SpawnSyncReturns } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A connection that ends while its reply is read slowly: nodejs/undici#5360. */
describe('a reply whose connection ends while it is not being read', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'loadgate-undici-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function readSlowly(...how: string[]): { code: number | null; out: string; err: string } {
    const bundled = join(folder, `${how.join('') || 'as-it-is'}.mjs`)
    run('bundle-undici.mjs', bundled, ...how)
    const { status, stdout, stderr } = run('slow-reader.mjs', bundled)
    return { code: status, out: stdout.trim(), err: stderr }
  }

  test('arrives completely with the fix that the bundles have', () => {
    expect(readSlowly('fixed')).toEqual({ code: 0, out: '10000', err: '' })
  })

  test('brings the process down without it; when it no longer does, scripts/fix-undici.mjs can go', () => {
    const { code, err } = readSlowly()
    expect(code).not.toBe(0)
    expect(err).toContain('assert(!this.paused)')
  })
})

function run(script: string, ...args: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [join('__tests__/support', script), ...args], { encoding: 'utf8' })
}
