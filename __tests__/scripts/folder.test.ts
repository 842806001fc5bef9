import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

type Files = Map<string, Buffer>
interface FolderScript {
  readFolder: (folder: string) => Promise<Files>
  compareFiles: (actual: Files, wanted: Files) => { missing: string[]; extra: string[]; different: string[] }
  syncFolder: (folder: string, wanted: Files) => Promise<void>
}
const script = new URL('../../scripts/folder.mjs', import.meta.url).href
const { readFolder, compareFiles, syncFolder } = (await import(script)) as FolderScript

const files = (texts: Record<string, string>): Files =>
  new Map(Object.entries(texts).map(([name, text]) => [name, Buffer.from(text)]))

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'loadgate-folder-'))
  mkdirSync(path.join(folder, 'main'))
  writeFileSync(path.join(folder, 'main/index.js'), 'one')
  writeFileSync(path.join(folder, 'old.js'), 'old')
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

describe('what check-dist compares', () => {
  test('equal folders have no differences', async () => {
    const wanted = files({ 'main/index.js': 'one', 'old.js': 'old' })
    expect(compareFiles(await readFolder(folder), wanted)).toEqual({ missing: [], extra: [], different: [] })
  })

  test('missing, left-over and changed files are all named', async () => {
    const wanted = files({ 'main/index.js': 'two', 'post/index.js': 'new', 'a.js': 'new' })
    expect(compareFiles(await readFolder(folder), wanted)).toEqual({
      missing: ['a.js', 'post/index.js'],
      extra: ['old.js'],
      different: ['main/index.js']
    })
  })

  test('a missing folder has no files', async () => {
    expect(await readFolder(path.join(folder, 'none'))).toEqual(new Map())
  })
})

describe('what build writes', () => {
  test('the folder holds exactly the files, whatever was there', async () => {
    const wanted = files({ 'main/index.js': 'two', 'post/index.js': 'new' })
    await syncFolder(folder, wanted)
    expect(await readFolder(folder)).toEqual(wanted)
  })

  test('a file that is right already is not touched', async () => {
    const kept = path.join(folder, 'main/index.js')
    utimesSync(kept, 1000, 1000)
    await syncFolder(folder, files({ 'main/index.js': 'one' }))
    expect(statSync(kept).mtimeMs).toBe(1_000_000)
  })
})
