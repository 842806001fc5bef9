import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** Takes a patch back: it fails unless the package is exactly as the patch makes it. */
function takeBack(patch: string, ...options: string[]): void {
  execFileSync('git', ['apply', '--reverse', ...options, resolve('patches', patch)], {
    cwd: options.length === 0 ? folder : process.cwd(),
    // A folder of the tests may be within a clone, whose .gitignore lists node_modules.
    env: { ...process.env, GIT_DIR: join(folder, 'none') },
    stdio: 'pipe'
  })
}

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-patches-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test.each(readdirSync('patches'))('%s is applied: if not, run `npm ci`', (patch) => {
  expect(() => takeBack(patch, '--check')).not.toThrow()
})

/** A connection that ends while its reply is read slowly: nodejs/undici#5360. */
describe('a reply whose connection ends while it is not being read', () => {
  function readSlowly(undici: string): { code: number | null; out: string; err: string } {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['__tests__/support/slow-reader.mjs', undici],
      { encoding: 'utf8' }
    )
    return { code: status, out: stdout.trim(), err: stderr }
  }

  test('arrives completely with the patch that the bundles have', () => {
    expect(readSlowly('node_modules/undici')).toEqual({ code: 0, out: '10000', err: '' })
  })

  test('brings the process down without it; when it no longer does, the patch of undici can go', () => {
    const copy = join(folder, 'node_modules/undici')
    cpSync('node_modules/undici', copy, { recursive: true })
    takeBack(readdirSync('patches').find((name) => name.startsWith('undici+'))!)
    const { code, err } = readSlowly(copy)
    expect(code).not.toBe(0)
    expect(err).toContain('assert(!this.paused)')
  })
})
