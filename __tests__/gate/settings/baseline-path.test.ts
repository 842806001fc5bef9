import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resolveBaselinePath } from '../../../src/gate/settings/plan-files.js'

let root: string
let workspace: string

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'baseline-path-')))
  workspace = join(root, 'work')
  await mkdir(join(workspace, 'data'), { recursive: true })
  await mkdir(join(root, 'elsewhere'))
  await writeFile(join(workspace, 'data/b.gz'), '')
  await writeFile(join(root, 'elsewhere/b.gz'), '')
  await symlink(join(root, 'elsewhere/b.gz'), join(workspace, 'link.gz'))
  await symlink(join(root, 'elsewhere'), join(workspace, 'away'))
  await symlink(join(workspace, 'data'), join(workspace, 'near'))
})
afterEach(() => rm(root, { recursive: true }))

test.each([
  ['a document', 'data/b.gz', true],
  ['one that is not there yet', 'data/new/b.gz', false],
  ['an odd way to it', 'data/../data/b.gz', true],
  ['a name that starts with dots', '..b.gz', false],
  ['a link within the workspace', 'near/b.gz', true]
])('inside the workspace: %s', async (_, text, exists) => {
  const found = await resolveBaselinePath(text, { workspace, isConfined: true })
  expect(found).toEqual({ path: join(workspace, text), exists })
})

test('an absolute path inside the workspace is one too', async () => {
  const path = join(workspace, 'data/b.gz')
  expect(await resolveBaselinePath(path, { workspace, isConfined: true })).toEqual({ path, exists: true })
})

test.each([
  ['a way up', '../elsewhere/b.gz'],
  ['a way up to nothing', '../none/b.gz'],
  ['the folder above', '..'],
  ['an absolute path', '/etc/passwd'],
  ['a link to a file', 'link.gz'],
  ['a file behind a link', 'away/b.gz'],
  ['a new file behind a link', 'away/new/b.gz']
])('outside the workspace: %s', async (_, text) => {
  expect(await resolveBaselinePath(text, { workspace, isConfined: true })).toEqual({
    problem: `"${text}" is outside the workspace; give a path inside it, such as .loadgate/baseline.json.gz`
  })
})

test('the command line takes any path', async () => {
  const path = join(root, 'elsewhere/b.gz')
  for (const text of ['../elsewhere/b.gz', path])
    expect(await resolveBaselinePath(text, { workspace, isConfined: false })).toEqual({ path, exists: true })
})

test.each([
  ['a folder', 'data/', /^"data\/" is a folder; give the path of a file, such as data\/baseline\.json\.gz$/],
  ['a file as a folder', 'data/b.gz/x', /^"data\/b\.gz\/x" cannot be read: .*ENOTDIR/]
])('%s is refused', async (_, text, problem) => {
  expect(await resolveBaselinePath(text, { workspace, isConfined: true })).toEqual({
    problem: expect.stringMatching(problem)
  })
})
