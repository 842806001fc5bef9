import { afterAll, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FolderError, makeFolder } from '../../../src/contract/files.js'

const root = mkdtempSync(join(tmpdir(), 'loadgate-folder-'))
afterAll(() => rmSync(root, { recursive: true }))
let place: string
beforeEach(() => {
  place = mkdtempSync(join(root, 'x-'))
})

const isFolder = (path: string): boolean => statSync(path).isDirectory()

describe('a folder is made', () => {
  test('with those above it, and with the mode', () => {
    makeFolder(join(place, 'a/b/c'), { mode: 0o700 })
    expect(statSync(join(place, 'a')).mode & 0o777).toBe(0o700)
    expect(isFolder(join(place, 'a/b/c'))).toBe(true)
  })

  test('or left as it is, also by a link', () => {
    mkdirSync(join(place, 'there'))
    symlinkSync('there', join(place, 'link'))
    makeFolder(join(place, 'there'))
    makeFolder(join(place, 'link/below/'))
    makeFolder('/')
    expect(isFolder(join(place, 'there/below'))).toBe(true)
  })
})

describe('a folder that cannot be made is told with its path and what to do', () => {
  const onLinux = process.platform === 'linux' ? test : test.skip
  onLinux.each(['/proc/x', '/proc/x/y/z'])('where the system lets nothing be made: %s', (path) => {
    expect(() => makeFolder(path)).toThrow(
      /^the folder \/proc\/x\S* could not be created: ENOENT: .*; choose another folder$/
    )
  })

  test.each(['file', 'file/below', 'file/below/it'])('where a file is in the way: %s', (name) => {
    writeFileSync(join(place, 'file'), '')
    const file = join(place, 'file')
    expect(() => makeFolder(join(place, name))).toThrow(
      `the folder ${join(place, name)} could not be created: ${file} is a file, not a folder; choose another folder, or remove the file`
    )
  })

  test('where a link leads nowhere', () => {
    symlinkSync('nowhere', join(place, 'link'))
    expect(() => makeFolder(join(place, 'link'))).toThrow(/^the folder .*link could not be created: EEXIST/)
  })

  test('with the system’s own error', () => {
    writeFileSync(join(place, 'file'), '')
    let thrown: unknown
    try {
      makeFolder(join(place, 'file'))
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(FolderError)
    expect(thrown).toMatchObject({ code: 'EEXIST', cause: { code: 'EEXIST' } })
  })
})
