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
  mkdirSync(path.join(root, 'docs'))
  put('action.yml', ACTION)
  put('README.md', `# Title\n\n${markers('main inputs')}\n\nThe end.\n`)
  put('docs/inputs.md', `# Inputs\n\n${markers('inputs')}\n\nBetween.\n\n${markers('outputs')}\n`)
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

  test('says which markers are missing', () => {
    put('README.md', '# Title\n')
    const { status, stderr } = run()
    expect(status).toBe(1)
    expect(stderr).toContain('README.md lacks the markers for its main inputs')
  })
})
