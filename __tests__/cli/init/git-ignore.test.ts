import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ignoreResults } from '../../../src/cli/init/git-ignore.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { makeCommandPorts } from '../command-ports.js'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-ignore-'))
  file = join(folder, '.gitignore')
})
afterEach(() => rmSync(folder, { recursive: true }))

test.each([
  ['no file', undefined, 'loadgate-results/\n', 'Wrote .gitignore: it ignores loadgate-results/, the'],
  ['an empty file', '', 'loadgate-results/\n', 'Added loadgate-results/ to .gitignore, the'],
  ['lines', 'dist/\n', 'dist/\nloadgate-results/\n', 'Added'],
  ['a last line without its end', 'dist/', 'dist/\nloadgate-results/\n', 'Added'],
  ['lines of Windows', 'a\r\ndist/', 'a\r\ndist/\r\nloadgate-results/\r\n', 'Added'],
  ['only a comment about it', '# loadgate-results/\n', '# loadgate-results/\nloadgate-results/\n', 'Added'],
  ['a longer name', 'loadgate-results-old/\n', 'loadgate-results-old/\nloadgate-results/\n', 'Added']
])('%s: the folder is added, once, and git ignores it', async (_, before, after, words) => {
  if (before !== undefined) writeFileSync(file, before)
  expect(await ignoreResults(folder)).toEqual({
    written: ['.gitignore'],
    said: [expect.stringContaining(words)],
    notes: []
  })
  expect(readFileSync(file, 'utf8')).toBe(after)
  expect(await ignoreResults(folder)).toEqual({ written: [], said: [], notes: [] })
  expect(readFileSync(file, 'utf8')).toBe(after)
  execFileSync('git', ['init', '-q'], { cwd: folder })
  // It fails where the path is not ignored.
  execFileSync('git', ['check-ignore', '-q', 'loadgate-results/a/report.html'], { cwd: folder })
})

test.each(['loadgate-results', '/loadgate-results/', 'loadgate-results/ \r', '**/loadgate-results/**'])(
  'a file that has %j stays as it is',
  async (line) => {
    writeFileSync(file, `a\n${line}\nb\n`)
    expect(await ignoreResults(folder)).toEqual({ written: [], said: [], notes: [] })
    expect(readFileSync(file, 'utf8')).toBe(`a\n${line}\nb\n`)
  }
)

test('a link is not followed, and what is left to do is said', async () => {
  mkdirSync(join(folder, 'other'))
  writeFileSync(join(folder, 'other/file'), 'a\n')
  symlinkSync('other/file', file)
  const ports = makeCommandPorts({ workspace: folder })
  expect(await runCommandLine(['init', '--yes'], ports)).toBe(0)
  expect(ports.screen.out.text).toContain(
    '- .gitignore could not be changed (it is not a plain file): add loadgate-results/ to it'
  )
  expect(readFileSync(join(folder, 'other/file'), 'utf8')).toBe('a\n')
  expect(lstatSync(file).isSymbolicLink()).toBe(true)
})
