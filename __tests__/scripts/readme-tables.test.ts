import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const SCRIPT = path.join(import.meta.dirname, '../../scripts/readme-tables.mjs')
const MARKERS = ['inputs', 'outputs']
  .map((name) =>
    [
      `<!-- ${name}: written by \`npm run generate -- docs\` -->`,
      '<!-- prettier-ignore-start -->',
      '<!-- prettier-ignore-end -->',
      `<!-- /${name} -->`
    ].join('\n')
  )
  .join('\n\nBetween.\n\n')
const ACTION = `
inputs:
  pace:
    description: >-
      How fast: \`a|b\`,
      or faster. Default: \`a\`.
  where:
    description: Required.
outputs:
  speed:
    description: As measured.
`

let root: string
const readme = () => readFileSync(path.join(root, 'README.md'), 'utf8')
const run = (...args: string[]) =>
  spawnSync(process.execPath, [SCRIPT, '--root', root, ...args], { encoding: 'utf8' })

beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'loadgate-readme-'))
  writeFileSync(path.join(root, 'action.yml'), ACTION)
  writeFileSync(path.join(root, 'README.md'), `# Title\n\n${MARKERS}\n\nThe end.\n`)
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

describe('readme-tables', () => {
  test('writes both tables between their markers, and leaves the rest alone', () => {
    expect(run().status).toBe(0)
    expect(readme()).toContain(
      '| `pace` | How fast: `a\\|b`, or faster. | `a` |\n| `where` | Required. | – |\n'
    )
    expect(readme()).toContain('| `speed` | As measured. |\n')
    expect(readme()).toMatch(/^# Title\n.*\nBetween\.\n.*\nThe end\.\n$/s)
  })

  test('changes nothing the second time', () => {
    run()
    const once = readme()
    expect(run().status).toBe(0)
    expect(readme()).toBe(once)
  })

  test('--check passes on fresh tables, and fails on stale ones without fixing them', () => {
    run()
    expect(run('--check').status).toBe(0)
    writeFileSync(path.join(root, 'action.yml'), ACTION.replace('As measured', 'As guessed'))
    const { status, stderr } = run('--check')
    expect(status).toBe(1)
    expect(stderr).toContain('npm run generate -- docs')
    expect(readme()).toContain('As measured')
  })

  test('says which markers are missing', () => {
    writeFileSync(path.join(root, 'README.md'), '# Title\n')
    const { status, stderr } = run()
    expect(status).toBe(1)
    expect(stderr).toContain('markers for its inputs')
  })
})
