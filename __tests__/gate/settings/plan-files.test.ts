import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { resolvePlanFiles } from '../../../src/gate/settings/plan-files.js'
import { createFindFiles } from '../../../src/gate/github/runner-files.js'

let workspace: string

beforeEach(async () => {
  // The glob tells of its searches.
  jest.spyOn(process.stdout, 'write').mockImplementation(() => true)
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'gate-files-')))
})

afterEach(() => void jest.restoreAllMocks())

async function put(...paths: string[]): Promise<void> {
  for (const path of paths) {
    await mkdir(dirname(join(workspace, path)), { recursive: true })
    await writeFile(join(workspace, path), path)
  }
}

/** The paths relative to the workspace, and the problems. */
async function resolveLines(...lines: string[]): Promise<{ paths: string[]; problems: string[] }> {
  const find = createFindFiles(workspace)
  const { paths, problems } = await resolvePlanFiles(lines, { workspace, find })
  return { paths: paths.map((path) => relative(workspace, path)), problems }
}

const noMatch = (line: string): string =>
  `"${line}" matches no file in the workspace; check the path, which starts at ${workspace}`

describe('what the lines find', () => {
  test('the plan first, then the data files in the order of the lines', async () => {
    await put('plan.jmx', 'data/b.csv', 'data/a.csv', 'z.csv')
    expect(await resolveLines('plan.jmx', 'z.csv', 'data/*.csv')).toEqual({
      paths: ['plan.jmx', 'z.csv', 'data/a.csv', 'data/b.csv'],
      problems: []
    })
  })

  test('a file that several lines match is taken once, where it came first', async () => {
    await put('plan.jmx', 'a.csv', 'b.csv')
    expect(await resolveLines('plan.jmx', 'b.csv', '*')).toEqual({
      paths: ['plan.jmx', 'b.csv', 'a.csv'],
      problems: []
    })
    expect((await resolveLines('plan.jmx', './plan.jmx', join(workspace, 'plan.jmx'))).paths).toEqual([
      'plan.jmx'
    ])
  })

  test('lines with ! exclude, wherever they stand', async () => {
    await put('plan.jmx', 'a.csv', 'b.csv', 'deep/c.csv')
    expect(await resolveLines('plan.jmx', '!b.csv', '**/*.csv', '! deep/**')).toEqual({
      paths: ['plan.jmx', 'a.csv'],
      problems: []
    })
  })

  test('an excluded file is excluded even where it is named', async () => {
    await put('plan.jmx', 'a.csv')
    expect(await resolveLines('plan.jmx', 'a.csv', '!a.csv')).toEqual({
      paths: ['plan.jmx'],
      problems: [noMatch('a.csv')]
    })
  })

  test('** goes down, names with the signs of patterns are found by their own name', async () => {
    await put('a/b/plan.jmx', 'data [1].csv')
    expect((await resolveLines('**/*.jmx', 'data [1].csv')).paths).toEqual(['a/b/plan.jmx', 'data [1].csv'])
  })

  test('a workspace whose own path has the signs of patterns', async () => {
    workspace = join(workspace, 'we[i]rd')
    await put('plan.jmx')
    expect((await resolveLines('*.jmx')).paths).toEqual(['plan.jmx'])
  })

  test('a workspace that lies in a hidden folder', async () => {
    workspace = join(workspace, '.cache/work')
    await put('plan.jmx')
    expect((await resolveLines('*.jmx')).paths).toEqual(['plan.jmx'])
  })

  test('a link within the workspace is a file like any other', async () => {
    await put('real/data.csv', 'plan.jmx')
    await symlink(join(workspace, 'real/data.csv'), join(workspace, 'link.csv'))
    expect(await resolveLines('plan.jmx', 'link.csv')).toEqual({
      paths: ['plan.jmx', 'link.csv'],
      problems: []
    })
  })
})

describe('what is an error', () => {
  test('a pattern without a match, whichever line', async () => {
    await put('plan.jmx')
    expect((await resolveLines('*.jmx', '*.csv')).problems).toEqual([noMatch('*.csv')])
    expect((await resolveLines('gone.jmx')).problems).toEqual([noMatch('gone.jmx')])
  })

  test('a first line that matches two, which are named', async () => {
    await put('a.jmx', 'b.jmx')
    expect((await resolveLines('*.jmx')).problems).toEqual([
      'the first line, "*.jmx", must match one file, the plan; it matches 2: a.jmx and b.jmx'
    ])
  })

  test('of many, only some are named', async () => {
    await put(...Array.from({ length: 9 }, (_, index) => `${index}.jmx`))
    expect((await resolveLines('*.jmx')).problems[0]).toMatch(/it matches 9: .*4\.jmx and 4 more$/)
  })

  test('two files of the same base name', async () => {
    await put('plan.jmx', 'a/users.csv', 'b/users.csv')
    expect((await resolveLines('plan.jmx', '**/*.csv')).problems).toEqual([
      'two files have the same base name users.csv: a/users.csv and b/users.csv; the service ignores folders'
    ])
  })

  test('several problems are all told', async () => {
    expect((await resolveLines('a', 'b', 'c')).problems).toHaveLength(3)
  })
})

describe('what must never leave', () => {
  let outside: string

  beforeEach(async () => {
    outside = await mkdtemp(join(tmpdir(), 'gate-outside-'))
    await writeFile(join(outside, 'secret.csv'), 'secret')
    await put('plan.jmx')
  })

  test.each([
    ['a link to a system file, by name', 'link.csv'],
    ['a link to a system file, by pattern', '*.csv']
  ])('%s', async (_, line) => {
    await symlink('/etc/passwd', join(workspace, 'link.csv'))
    expect(await resolveLines('plan.jmx', line)).toEqual({
      paths: ['plan.jmx'],
      problems: [`"${line}" is outside the workspace`]
    })
  })

  test('files behind a link to a folder', async () => {
    await symlink(outside, join(workspace, 'data'))
    expect(await resolveLines('plan.jmx', 'data/*.csv')).toEqual({
      paths: ['plan.jmx'],
      problems: ['"data/*.csv" is outside the workspace']
    })
  })

  test('.. and absolute paths', async () => {
    const up = join('..', relative(dirname(workspace), join(outside, 'secret.csv')))
    expect((await resolveLines('plan.jmx', up)).problems).toEqual([`"${up}" is outside the workspace`])
    expect((await resolveLines('/etc/passwd')).problems).toEqual(['"/etc/passwd" is outside the workspace'])
    const wild = join('..', relative(dirname(workspace), outside), '*.csv')
    expect(await resolveLines('plan.jmx', wild)).toEqual({
      paths: ['plan.jmx'],
      problems: [`"${wild}" is outside the workspace`]
    })
  })

  test('a neighbour whose name begins like the workspace', async () => {
    await mkdir(`${workspace}-other`)
    await writeFile(`${workspace}-other/x.csv`, '')
    const { problems } = await resolveLines('plan.jmx', `${workspace}-other/x.csv`)
    expect(problems).toEqual([expect.stringContaining('is outside the workspace')])
  })

  test('a link that leads nowhere', async () => {
    await symlink(join(workspace, 'gone'), join(workspace, 'link.csv'))
    expect((await resolveLines('plan.jmx', 'link.csv')).problems).toEqual([
      expect.stringMatching(/^"link\.csv" cannot be read: .*ENOENT/)
    ])
  })

  test('a FIFO, which would never end', async () => {
    execFileSync('mkfifo', [join(workspace, 'pipe.csv')])
    expect(await resolveLines('plan.jmx', 'pipe.csv')).toEqual({
      paths: ['plan.jmx'],
      problems: ['"pipe.csv" is not a regular file']
    })
    expect((await resolveLines('plan.jmx', '*.csv')).problems).toEqual(['"*.csv" is not a regular file'])
  })

  test('a folder', async () => {
    await put('data/a.csv')
    expect((await resolveLines('plan.jmx', 'data')).problems).toEqual(['"data" is not a regular file'])
  })
})

describe('hidden files are taken only when they are named', () => {
  beforeEach(() =>
    put('plan.jmx', '.git/config', '.env', 'data/.secret', 'data/a.csv', '.data/b.csv', '.data/.git/config')
  )

  test('a pattern passes them over', async () => {
    expect(await resolveLines('plan.jmx', '**')).toEqual({ paths: ['plan.jmx', 'data/a.csv'], problems: [] })
  })

  test('a pattern that matches hidden files only says so', async () => {
    expect((await resolveLines('plan.jmx', 'data/*ecret')).problems).toEqual([
      '"data/*ecret" matches only hidden files; name a hidden file explicitly to send it'
    ])
  })

  test.each([
    ['.env', ['.env']],
    ['.git/config', ['.git/config']],
    ['.e*', ['.env']],
    ['data/.*', ['data/.secret']],
    ['.data/*', ['.data/b.csv']],
    ['.data/**', ['.data/b.csv']],
    ['./data/**', ['data/a.csv']]
  ])('%s names what it names, and no more', async (line, paths) => {
    expect(await resolveLines('plan.jmx', line)).toEqual({ paths: ['plan.jmx', ...paths], problems: [] })
  })

  test('a link does not lend them another name', async () => {
    await symlink(join(workspace, '.git/config'), join(workspace, 'users.csv'))
    expect(await resolveLines('plan.jmx', '*.csv')).toEqual({
      paths: ['plan.jmx'],
      problems: ['"*.csv" points to the hidden file .git/config; name it explicitly to send it']
    })
  })
})
