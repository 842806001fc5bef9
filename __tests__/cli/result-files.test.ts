import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listResultFiles } from '../../src/cli/result-files.js'

const NOBODY = 65_534
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-files-'))
  chmodSync(folder, 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Root may read everything, so run as another user for a moment. */
async function asOrdinaryUser<T>(act: () => Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(NOBODY)
  try {
    return await act()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

describe('what cannot be read is reported, and not skipped', () => {
  test.each([
    { name: 'a file that was named', place: 'x.csv', words: 'x.csv cannot be read: permission denied' },
    { name: 'a file in a folder', place: '.', words: 'x.csv cannot be read: permission denied' }
  ])('$name', async ({ place, words }) => {
    writeFileSync(join(folder, 'x.csv'), '')
    writeFileSync(join(folder, 'y.csv'), '')
    chmodSync(join(folder, 'x.csv'), 0)
    await expect(asOrdinaryUser(() => listResultFiles([join(folder, place)]))).rejects.toThrow(words)
  })

  test('a folder in a folder', async () => {
    writeFileSync(join(folder, 'y.csv'), '')
    mkdirSync(join(folder, 'closed'), { mode: 0 })
    await expect(asOrdinaryUser(() => listResultFiles([folder]))).rejects.toThrow(
      'closed cannot be read: permission denied'
    )
  })
})

test('a device is not a result', async () => {
  await expect(listResultFiles(['/dev/null'])).rejects.toThrow('/dev/null is a device, not a file')
})
