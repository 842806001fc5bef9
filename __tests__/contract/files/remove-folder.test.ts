import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../../src/contract/files.js'
import { swapLinks } from '../../support/swap-links.js'

let around: string
let folder: string
beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), 'loadgate-remove-'))
  folder = join(around, 'folder')
  mkdirSync(folder)
})
afterEach(() => removeFolder(around))

function writeFiles(place: string, count: number): void {
  mkdirSync(place)
  for (let file = 0; file < count; file++) writeFileSync(join(place, String(file)), '')
}

test('removes what is there, and is content if there is nothing', async () => {
  writeFiles(join(folder, '-rf $HOME\n*'), 3)
  await removeFolder(folder)
  expect(readdirSync(around)).toEqual([])
  await removeFolder(folder)
})

test('a link goes, and what it leads to stays', async () => {
  writeFiles(join(around, 'target'), 3)
  symlinkSync(join(around, 'target'), join(folder, 'link'))
  symlinkSync(join(around, 'target'), join(around, 'top'))
  await removeFolder(folder)
  await removeFolder(join(around, 'top'))
  expect(readdirSync(around)).toEqual(['target'])
  expect(readdirSync(join(around, 'target'))).toHaveLength(3)
})

test('links that are swapped in meanwhile lead nowhere else', async () => {
  const [target, away] = [join(around, 'target'), join(around, 'away')]
  writeFiles(target, 500)
  for (let attempt = 0; attempt < 10; attempt++) {
    mkdirSync(folder, { recursive: true })
    writeFiles(join(folder, 'dir'), 500)
    const stop = await swapLinks({ folder, target, away })
    // It may find something new there each time.
    await removeFolder(folder).catch(() => undefined)
    await stop()
    expect(readdirSync(target)).toHaveLength(500)
    await Promise.all([removeFolder(folder), removeFolder(away)])
    expect(existsSync(folder)).toBe(false)
  }
})

test('a tree may be deeper than a path can be long', async () => {
  const makeDeep = `const { mkdirSync } = require('node:fs')
    for (let level = 0; level < 300; level++) { mkdirSync('d'.repeat(100)); process.chdir('d'.repeat(100)) }`
  execFileSync(process.execPath, ['-e', makeDeep], { cwd: folder })
  await removeFolder(folder)
  expect(existsSync(folder)).toBe(false)
})

test('says what is left if it cannot be removed', async () => {
  await expect(removeFolder('/proc/self')).rejects.toThrow(
    /^\/proc\/self could not be removed: .*rm: cannot remove/
  )
})
