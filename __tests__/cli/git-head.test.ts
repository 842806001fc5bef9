import { afterAll, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nameRepository } from '../../src/cli/git-head.js'
import { removeFolder } from '../support/remove-folder.js'

const top = mkdtempSync(join(tmpdir(), 'loadgate-git-'))
const folder = join(top, 'cart')
mkdirSync(folder)
afterAll(() => removeFolder(top))

const git = (...args: string[]): Buffer => execFileSync('git', args, { cwd: folder })

test('runs belong to the repository of the remote, or to the folder', () => {
  expect(nameRepository(folder)).toBe('cart')
  git('init', '-q')
  git('remote', 'add', 'origin', 'x')
  const named = (remote: string): string => {
    git('remote', 'set-url', 'origin', remote)
    return nameRepository(folder)
  }
  expect(named('https://x-access-token:ghs_secret@github.com/acme/shop.git')).toBe('acme/shop')
  expect(named('git@github.com:acme/shop.git')).toBe('acme/shop')
  expect(named('ssh://git@git.example.com:2222/acme/team/shop')).toBe('acme/team/shop')
  for (const path of ['/srv/shop.git', '../shop', 'file:///srv/shop', 'C:\\shop'])
    expect(named(path)).toBe('cart')
})
