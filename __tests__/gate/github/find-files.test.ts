import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createFindFiles } from '../../../src/gate/github/runner-files.js'

let root: string

beforeEach(async () => {
  // The toolkit writes where it looks to the debug log.
  jest.spyOn(process.stdout, 'write').mockReturnValue(true)
  root = await realpath(await mkdtemp(join(tmpdir(), 'find-')))
})
afterEach(async () => {
  jest.restoreAllMocks()
  await rm(root, { recursive: true })
})

async function makeWorkspace(name: string, files: readonly string[]): Promise<string> {
  const workspace = join(root, name)
  for (const file of files) {
    await mkdir(dirname(join(workspace, file)), { recursive: true })
    await writeFile(join(workspace, file), 'x')
  }
  return workspace
}

async function find(workspace: string, pattern: string, excluded: string[] = []): Promise<string[]> {
  const found = await createFindFiles(workspace)(pattern, excluded)
  return found.map((path) => relative(workspace, path)).sort()
}

const FILES = ['plan.jmx', 'data/a.csv', 'data/b.csv', 'data/deep/c.csv', 'data/d.txt', 'a[1].jmx']

describe('patterns', () => {
  test.each<[string, string, string[], string[]]>([
    ['a file', 'plan.jmx', [], ['plan.jmx']],
    ['a file in a folder', './data/a.csv', [], ['data/a.csv']],
    ['a glob', 'data/*.csv', [], ['data/a.csv', 'data/b.csv']],
    ['a deep glob', 'data/**/*.csv', [], ['data/a.csv', 'data/b.csv', 'data/deep/c.csv']],
    ['a glob and what it leaves out', 'data/*', ['data/b.csv', '**/*.txt'], ['data/a.csv']],
    ['one character', 'data/?.csv', [], ['data/a.csv', 'data/b.csv']],
    ['no match', 'nothing.jmx', [], []],
    ['a folder is no file', 'data', [], []],
    ['a name with brackets, escaped', 'a[[]1].jmx', [], ['a[1].jmx']],
    ['a hash is no comment', '#plan.jmx', [], []]
  ])('%s', async (_, pattern, excluded, found) => {
    const workspace = await makeWorkspace('shop', FILES)
    await expect(find(workspace, pattern, excluded)).resolves.toEqual(found)
  })

  test('an absolute path', async () => {
    const workspace = await makeWorkspace('shop', FILES)
    await expect(find(workspace, join(workspace, 'plan.jmx'))).resolves.toEqual(['plan.jmx'])
  })

  test('a path outside is found, for the caller to refuse', async () => {
    const workspace = await makeWorkspace('shop', FILES)
    await writeFile(join(root, 'outside.jmx'), 'x')
    await expect(find(workspace, '../outside.jmx')).resolves.toEqual(['../outside.jmx'])
  })

  test('links are followed, for the caller to look where they lead', async () => {
    const workspace = await makeWorkspace('shop', FILES)
    await writeFile(join(root, 'outside.csv'), 'x')
    await symlink(join(root, 'outside.csv'), join(workspace, 'data/link.csv'))
    await expect(find(workspace, 'data/l*.csv')).resolves.toEqual(['data/link.csv'])
  })
})

describe('a workspace whose own name looks like a pattern', () => {
  test.each([
    'with space',
    'a[b]c',
    'what?',
    'st*r',
    '#hash',
    '!not',
    '{a,b}',
    "it's",
    '(x)',
    '+(y)',
    '~tilde',
    'ünï'
  ])('%s', async (name) => {
    const workspace = await makeWorkspace(name, FILES)
    // Would be found instead if the name were used as a pattern.
    await makeWorkspace('abc', FILES)
    await makeWorkspace('whatx', FILES)
    await makeWorkspace('star', FILES)
    await expect(find(workspace, 'data/*.csv', ['data/b.csv'])).resolves.toEqual(['data/a.csv'])
  })
})
