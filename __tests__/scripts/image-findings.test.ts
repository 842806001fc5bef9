import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-findings-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** One package with one vulnerability, as osv-scanner writes it. */
function makeFinding({
  score,
  fixed,
  of = 'openssl'
}: {
  score?: string
  fixed?: string
  of?: string
}): object {
  const events = [{ introduced: '0' }, ...(fixed === undefined ? [] : [{ fixed }])]
  const affected = [
    { package: { name: of, ecosystem: 'Debian:12' }, ranges: [{ type: 'ECOSYSTEM', events }] }
  ]
  return {
    package: { name: 'openssl', version: '3.0.1', ecosystem: 'Debian:12' },
    vulnerabilities: [{ id: 'CVE-1', affected }],
    groups: [{ ids: ['CVE-1'], ...(score !== undefined && { max_severity: score }) }]
  }
}

function judge(findings: unknown): { code: number | null; out: string; err: string } {
  const file = join(folder, 'findings.json')
  writeFileSync(file, JSON.stringify(findings))
  const args = ['scripts/image-findings.mjs', file]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return { code: status, out: stdout, err: stderr }
}

test.each([
  ['grave, with a fix', { score: '9.8', fixed: '3.0.2' }, 1],
  ['just grave, with a fix', { score: '7.0', fixed: '3.0.2' }, 1],
  ['grave, with a fix of another package only', { score: '9.8', fixed: '3.0.2', of: 'curl' }, 0],
  ['grave, without a fix', { score: '9.8' }, 0],
  ['not grave, with a fix', { score: '6.9', fixed: '3.0.2' }, 0],
  ['of unknown gravity, with a fix', { fixed: '3.0.2' }, 0]
])('%s', (_, finding, code) => {
  const judged = judge({ results: [{ packages: [makeFinding(finding)] }] })
  expect(judged).toMatchObject({ code, out: expect.stringContaining('| openssl 3.0.1 | CVE-1 |') })
  expect(judged.err.includes('which 3.0.2 fixes')).toBe(code === 1)
})

test('nothing found', () => {
  expect(judge({ results: [] })).toMatchObject({ code: 0, out: expect.stringContaining(': 0, of which 0') })
})

test('a file of another kind is no clean bill', () => {
  expect(judge({ error: 'no network' }).code).toBe(1)
})
