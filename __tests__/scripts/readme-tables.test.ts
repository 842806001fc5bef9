import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { INPUT_GROUPS, INPUT_NAMES } from '../../src/contract/inputs.js'

const ROOT = path.join(import.meta.dirname, '../..')
const HOOKS = path.join(ROOT, '__tests__/support/typescript-hooks.mjs')
const SCRIPT = path.join(ROOT, 'scripts/readme-tables.mjs')
const markers = (name: string): string =>
  [
    `<!-- ${name}: written by \`npm run generate -- docs\` -->`,
    '<!-- prettier-ignore-start -->',
    '<!-- prettier-ignore-end -->',
    `<!-- /${name} -->`
  ].join('\n')
const ACTION = `
outputs:
  speed:
    description: >-
      As measured: \`a|b\`,
      or faster.
`

let root: string
const readPage = (name: string): string => readFileSync(path.join(root, name), 'utf8')
const put = (name: string, text: string): void => writeFileSync(path.join(root, name), text)
const COLUMNS = 'date,commit,machine,cores,load,bench,figure,value,unit,goal,outcome'
const record = (...rows: string[]): void => put('bench/history.csv', `${[COLUMNS, ...rows].join('\n')}\n`)
const run = (...args: string[]) =>
  spawnSync(
    process.execPath,
    [
      ...['--experimental-transform-types', '--no-warnings', '--import', HOOKS],
      ...[SCRIPT, '--root', root, ...args]
    ],
    { encoding: 'utf8' }
  )

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'loadgate-readme-'))
  for (const folder of ['docs', 'bench']) mkdirSync(path.join(root, folder))
  put('action.yml', ACTION)
  put('README.md', `# Title\n\n${markers('main inputs')}\n\nThe end.\n`)
  put('docs/inputs.md', `# Inputs\n\n${markers('inputs')}\n\nBetween.\n\n${markers('outputs')}\n`)
  put('bench/README.md', `# Performance\n\n${markers('recorded figures')}\n\nThe end.\n`)
  record()
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

describe('readme-tables', () => {
  test('writes ten inputs into the README, and leaves the rest alone', () => {
    expect(run().status).toBe(0)
    const names = [...readPage('README.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name)
    expect(names).toEqual([
      ...['config', 'base-url', 'token', 'files', 'tool'],
      ...['threads', 'duration', 'thresholds', 'baseline', 'wait-for']
    ])
    expect(readPage('README.md')).toMatch(/^# Title\n.*\| `tool` \| .* \| `jmeter` \|\n.*\nThe end\.\n$/s)
  })

  test('writes every input once into the page of inputs, in its groups, and the outputs', () => {
    run()
    const page = readPage('docs/inputs.md')
    const names = [...page.matchAll(/^\| `([a-z-]+)` \| .* \| .* \|$/gm)].map(([, name = '']) => name)
    expect(names.sort()).toEqual([...INPUT_NAMES].sort())
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, group]) => group)).toEqual([...INPUT_GROUPS])
    expect(page).toMatch(/^# Inputs\n.*\nBetween\.\n/s)
    expect(page).toContain('| `speed` | As measured: `a\\|b`, or faster. |\n')
  })

  test('changes nothing the second time', () => {
    run()
    const once = ['README.md', 'docs/inputs.md'].map(readPage)
    expect(run().status).toBe(0)
    expect(['README.md', 'docs/inputs.md'].map(readPage)).toEqual(once)
  })

  test.each(['README.md', 'docs/inputs.md'])(
    '--check passes on fresh tables, and fails on stale ones of %s without fixing them',
    (page) => {
      run()
      expect(run('--check').status).toBe(0)
      const stale = readPage(page).replace('Tool that runs', 'Tool that ran')
      put(page, stale)
      const { status, stderr } = run('--check')
      expect(status).toBe(1)
      expect(stderr).toContain(page)
      expect(stderr).toContain('npm run generate -- docs')
      expect(readPage(page)).toBe(stale)
    }
  )

  test('writes the last run of each bench on the machine that recorded last, with goals, misses and losses', () => {
    const row = (day: number, at: string, figure: string): string =>
      `2026-01-0${day}T10:00:00Z,c0ffee0${day},${at},${figure}`
    record(
      row(1, 'A,2,0.2', 'csv,speed,2.1,ratio,at least 2,met'),
      row(1, 'A,2,0.2', 'csv,renamed since,7,ratio,at least 2,met'),
      row(1, 'A,2,0.2', 'upload,memory,130,MB,at most 250,met'),
      row(2, 'B,2,0.2', 'page,opened,300,ms,at most 1000,met'),
      row(3, 'A,2,3.5', 'csv,speed,1.8,ratio,at least 2,missed')
    )
    expect(run('--check').status).toBe(1)
    run()
    expect(run('--check').status).toBe(0)
    expect(readPage('bench/README.md')).toContain(`
On A, 2 cores:

| Bench | Figure | Value | Goal |  | Run before | Recorded |
| --- | --- | --: | --- | --- | --: | --- |
| upload | memory | 130 MB | at most 250 | met | – | 2026-01-01, c0ffee01 |
| csv | speed | 1.8 | at least 2 | **missed** | 2.1: **worse by more than 10 %** | 2026-01-03, c0ffee03, **busy** (load average 3.5) |

`)
  })

  test('says that no figure is recorded', () => {
    run()
    expect(readPage('bench/README.md')).toContain('\nNo run is recorded yet.\n')
  })

  test.each([
    ['a line without all fields', '2026-01-01T10:00:00Z,c0ffee01,A,2,0.2,csv,speed,2.1,ratio,at least 2'],
    [
      'a value that is not a number',
      '2026-01-01T10:00:00Z,c0ffee01,A,2,0.2,csv,speed,fast,ratio,at least 2,met'
    ],
    ['a value that is missing', '2026-01-01T10:00:00Z,c0ffee01,A,2,0.2,csv,speed,,ratio,at least 2,met']
  ])('refuses %s', (_, line) => {
    record(line)
    const { status, stderr } = run()
    expect(status).toBe(1)
    expect(stderr).toContain(`Line 2 of the history is not a recorded figure: ${line}`)
  })

  test('says which markers are missing', () => {
    put('README.md', '# Title\n')
    const { status, stderr } = run()
    expect(status).toBe(1)
    expect(stderr).toContain('README.md lacks the markers for its main inputs')
  })
})
