import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createFindFiles } from '../../../src/gate/github/runner-files.js'
import { resolveResultFiles } from '../../../src/gate/settings/result-files.js'
import { describeUnused } from '../../../src/gate/settings/unused-inputs.js'
import { LOCAL, REMOTE, problemsOf, readGiven } from '../../support/gate/settings-sources.js'

describe('the input results', () => {
  const filesOf = async (results: string, configText?: string) => {
    const given = configText === undefined ? { results } : { config: 'loadgate.yml' }
    const { origin } = await readGiven(given, configText === undefined ? {} : { configText })
    return origin.kind === 'results' ? origin.files.map(({ shown, grid }) => [shown, grid]) : origin.kind
  }

  test.each([
    ['a path', 'out/k6.csv', [['out/k6.csv', 'k6']]],
    [
      'paths on lines of their own',
      'out/a.csv.gz\n\n  out/b.jtl  \n',
      [
        ['out/a.csv.gz', 'a'],
        ['out/b.jtl', 'b']
      ]
    ],
    [
      'a map in a line',
      '{ eu: a.csv, us: b.csv }',
      [
        ['a.csv', 'eu'],
        ['b.csv', 'us']
      ]
    ],
    [
      'a map on lines',
      'eu: a.csv\nus: b.csv',
      [
        ['a.csv', 'eu'],
        ['b.csv', 'us']
      ]
    ],
    [
      'two files of the same name',
      'x/a.csv\ny/a.csv',
      [
        ['x/a.csv', 'x/a.csv'],
        ['y/a.csv', 'y/a.csv']
      ]
    ],
    [
      'two files of the same name in different regions',
      'us-east-1-load.csv\neu-west-1-load.csv\nother.csv',
      [
        ['us-east-1-load.csv', 'us-east-1-load'],
        ['eu-west-1-load.csv', 'eu-west-1-load'],
        ['other.csv', 'other']
      ]
    ]
  ])('is %s', async (_, results, files) => {
    expect(await filesOf(results)).toEqual(files)
  })

  test('in the config file it is a path, a list or a map', async () => {
    expect(await filesOf('', 'results: a.csv\n')).toEqual([['a.csv', 'a']])
    expect(await filesOf('', 'results:\n  - a.csv\n  - b.csv\n')).toEqual([
      ['a.csv', 'a'],
      ['b.csv', 'b']
    ])
    expect(await filesOf('', 'results:\n  eu: a.csv\n')).toEqual([['a.csv', 'eu']])
  })

  test('a file of the artifact has the region of its name', async () => {
    const { origin } = await readGiven({ results: 'us-east-1-abc.csv' })
    expect(origin).toMatchObject({ files: [{ region: 'us-east-1', grid: 'abc' }] })
  })

  test('needs no service and no token, also where a missing token skips the gate', async () => {
    const settings = await readGiven({ results: 'a.csv', 'on-missing-token': 'skip', duration: '1m' })
    expect(settings).toMatchObject({ target: { kind: 'none' }, durationSeconds: 60, apdexTargetMs: 500 })
  })

  test('on the command line what is exported for other commands is not used', async () => {
    const environment = { baseUrl: 'https://service.example' }
    const settings = await readGiven({ results: 'a.csv', token: 'exported' }, { environment })
    expect(settings.target).toEqual({ kind: 'none' })
  })

  test('every problem is told at once', async () => {
    const refused = await problemsOf({
      ...REMOTE,
      ...{ results: 'a.csv', 'run-id': 'abc', repeat: 'def', wait: 'false', 'stop-early': 'true' },
      ...{ confirm: '1', baseline: 'side-by-side', 'tool-exit-code': 'failure', 'apdex-target': '500' }
    })
    expect(refused.map((problem) => problem.replace(/:.*/s, ''))).toEqual(
      expect.arrayContaining([
        ...['base-url', 'token', 'files', 'run-id', 'repeat', 'wait', 'stop-early'],
        ...['confirm', 'baseline', 'tool-exit-code', 'apdex-target']
      ])
    )
    expect(refused).toContain(
      'apdex-target: "500" is invalid; expected a time in whole ms, with its unit, such as 500ms or 1.5s: did you mean 500ms?'
    )
  })

  test.each([
    [{ results: 'a.csv', 'base-url': 'local' }, /^base-url: cannot be combined with results/],
    [{ results: 'a.csv', files: 'plan.jmx' }, /^files: cannot be combined with results/],
    [{ results: '{ eu: [a.csv] }' }, /^results: is neither text nor a map of texts/],
    [{ results: '{ eu: a.csv, eu: b.csv }' }, /^results: is not YAML: .*unique/],
    [{ results: '{ "e/u": a.csv }' }, /^results: the name "e\/u" is invalid/],
    [{ results: '!a.csv' }, /^results: names no file/],
    [{ results: '{ eu: a.csv, us: "!b.csv" }' }, /^results: us: "!b\.csv" excludes files; give the path/]
  ])('%j is refused', async (given, words) => {
    const resolveResults = (lines: readonly string[]) =>
      Promise.resolve({
        files: lines.filter((line) => !line.startsWith('!')).map((line) => ({ path: line, shown: line })),
        problems: []
      })
    expect(await problemsOf(given, { resolveResults })).toEqual([expect.stringMatching(words)])
  })

  test('a name for several files is refused', async () => {
    const files = ['a.csv', 'b.csv'].map((path) => ({ path, shown: path }))
    const resolveResults = () => Promise.resolve({ files, problems: [] })
    expect(await problemsOf({ results: '{ eu: "*.csv" }' }, { resolveResults })).toEqual([
      'results: eu: "*.csv" must match one file; it matches 2'
    ])
  })

  test('inputs without an effect are named', async () => {
    const settings = await readGiven({
      ...{ results: 'a.csv', tool: 'k6', grids: '[]', 'poll-interval': '5s', timeout: '1h', tags: 'a' },
      ...{ name: 'shop', threads: '5', duration: '1m', rampup: '5s', 'tool-exit-code': '0' }
    })
    expect([...settings.unused].sort()).toEqual([
      'grids',
      'poll-interval',
      'rampup',
      'tags',
      'timeout',
      'tool'
    ])
    expect(describeUnused(settings)).toContain('(results judges files that exist, and runs nothing)')
    const other = await readGiven({ ...REMOTE, 'tool-exit-code': '0', 'apdex-target': '1s' })
    expect([...other.unused].sort()).toEqual(['apdex-target', 'tool-exit-code'])
    expect((await readGiven({ ...LOCAL, 'apdex-target': '1.5s' })).unused).toEqual([])
  })
})

test('a target of the apdex is given once', async () => {
  const property = 'jmeter.reportgenerator.apdex_satisfied_threshold'
  const given = { ...LOCAL, 'apdex-target': '1s', 'override-parameters': `-J${property}=700` }
  expect(await problemsOf(given)).toEqual([
    `apdex-target: override-parameters has ${property} too; remove one of the two`
  ])
})

describe('files of results in a workspace', () => {
  let root: string
  let workspace: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'loadgate-found-'))
    workspace = join(root, 'workspace')
    for (const folder of ['workspace/out', 'temp', 'elsewhere'])
      mkdirSync(join(root, folder), { recursive: true })
    for (const file of ['workspace/out/a.csv', 'workspace/out/b.csv', 'temp/k6.csv', 'elsewhere/secret'])
      writeFileSync(join(root, file), file)
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const resolve = (...lines: string[]) =>
    resolveResultFiles(lines, {
      ...{ workspace, find: createFindFiles(workspace), roots: [workspace, join(root, 'temp')] }
    })

  test('are found by patterns, each once, and excluded', async () => {
    symlinkSync('a.csv', join(workspace, 'out/link.csv'))
    const { files, problems } = await resolve('out/*.csv', 'out/a.csv', '!out/b.csv')
    expect(files.map(({ shown }) => shown)).toEqual(['out/a.csv'])
    expect(problems).toEqual([])
  })

  test("may be in the runner's temporary folder", async () => {
    const { files } = await resolve(join(root, 'temp/k6.csv'))
    expect(files).toEqual([{ path: join(root, 'temp/k6.csv'), shown: join(root, 'temp/k6.csv') }])
  })

  test.each([
    ['no file', () => 'none/*.csv', /^"none\/\*\.csv" matches no file; .* the step before has written it$/],
    ['a folder', () => 'out', /^"out" is a folder; give its files, such as out\/\*\.csv$/],
    [
      'a pipe',
      () => {
        execFileSync('mkfifo', [join(workspace, 'pipe')])
        return 'pipe'
      },
      /^"pipe" is not a regular file$/
    ],
    [
      'a link out of it',
      () => {
        symlinkSync('../elsewhere/secret', join(workspace, 'link'))
        return 'link'
      },
      /^"link" is outside the workspace and the runner's temporary folder$/
    ],
    ['a path out of it', () => '../elsewhere/secret', /is outside the workspace/],
    [
      'a link to a hidden file',
      () => {
        writeFileSync(join(workspace, '.netrc'), 'secret')
        symlinkSync('.netrc', join(workspace, 'x.csv'))
        return 'x.csv'
      },
      /^"x\.csv" points to a hidden file/
    ],
    [
      'a hidden file that is not named',
      () => {
        mkdirSync(join(workspace, 'h'))
        writeFileSync(join(workspace, 'h/.x.csv'), '')
        return 'h/*'
      },
      /matches no file/
    ]
  ])('%s is refused', async (_, prepare, words) => {
    const { files, problems } = await resolve(prepare())
    expect(files).toEqual([])
    expect(problems).toEqual([expect.stringMatching(words)])
  })

  test('may be anywhere for somebody who types them', async () => {
    const find = createFindFiles(workspace)
    const { files } = await resolveResultFiles(['../elsewhere/secret'], { workspace, find })
    expect(files).toHaveLength(1)
  })
})
