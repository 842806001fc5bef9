import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sizeOfFolder } from '../../../src/contract/files.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-size-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('the size of a folder is what its files take on the disk: holes take nothing', async () => {
  mkdirSync(join(folder, 'below'))
  writeFileSync(join(folder, 'below', 'full'), Buffer.alloc(1_000_000, 'x'))
  const full = await sizeOfFolder(folder)
  expect(full).toBeGreaterThanOrEqual(1_000_000)
  expect(full).toBeLessThan(1_200_000)
  writeFileSync(join(folder, 'holes'), 'x')
  truncateSync(join(folder, 'holes'), 60e9)
  expect(await sizeOfFolder(folder)).toBeLessThan(full + 100_000)
})
