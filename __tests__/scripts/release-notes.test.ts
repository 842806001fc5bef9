import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const SCRIPT = path.join(import.meta.dirname, '../../scripts/release-notes.mjs')
const CHANGELOG = `# Changelog

## [Unreleased]

## [1.2.0] - 2026-11-15

### Added

- A thing.

## [1.1.0] - 2026-10-01

- An older thing.

## [1.0.0]

[1.2.0]: https://example.com
`

let root: string
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'loadgate-release-'))
  writeFileSync(path.join(root, 'CHANGELOG.md'), CHANGELOG)
})
afterEach(() => {
  rmSync(root, { recursive: true })
})

function release({ tag, version }: { tag: string; version: string }) {
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ version }))
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, tag, '--root', root], {
    encoding: 'utf8'
  })
  return { status, stdout, stderr }
}

describe('release-notes', () => {
  test('prints the section of the version', () => {
    expect(release({ tag: 'v1.2.0', version: '1.2.0' })).toEqual({
      status: 0,
      stdout: '### Added\n\n- A thing.\n',
      stderr: ''
    })
  })

  test('stops before the links at the end', () => {
    writeFileSync(
      path.join(root, 'CHANGELOG.md'),
      '## [1.0.0] - 2026-01-01\n\n- First.\n\n[1.0.0]: https://example.com\n'
    )
    expect(release({ tag: 'v1.0.0', version: '1.0.0' }).stdout).toBe('- First.\n')
  })

  test.each([
    { name: 'another tag than the version', tag: 'v1.2.1', version: '1.2.0', says: 'the tag is "v1.2.1"' },
    { name: 'a tag without its v', tag: '1.2.0', version: '1.2.0', says: 'the tag is "1.2.0"' },
    {
      name: 'a version without a section',
      tag: 'v2.0.0',
      version: '2.0.0',
      says: 'nothing under "## [2.0.0]'
    },
    { name: 'a section without a date', tag: 'v1.0.0', version: '1.0.0', says: 'nothing under "## [1.0.0]' },
    {
      name: 'a version that is the start of another',
      tag: 'v1.2',
      version: '1.2',
      says: 'nothing under "## [1.2]'
    }
  ])('refuses $name', ({ tag, version, says }) => {
    const { status, stdout, stderr } = release({ tag, version })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toContain(says)
  })
})
