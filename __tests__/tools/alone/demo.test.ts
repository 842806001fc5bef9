import { describe, expect, test } from '@jest/globals'
import { cpSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { INSTALL_MS, jmeterNote, lacksJMeter, runCommand } from '../../e2e/cli-command.js'
import { K6, k6Note, lacksK6 } from '../../support/tools/k6.js'
import { removeFolder } from '../../support/remove-folder.js'

const describeWithJMeter = lacksJMeter ? describe.skip : describe

describeWithJMeter(`the demo of a fresh clone with nothing installed${jmeterNote}`, () => {
  test.each([
    { args: [], code: 0, verdict: 'PASSED' },
    { args: ['--slow'], code: 1, verdict: 'FAILED' },
    {
      args: ['--stall'],
      code: 1,
      verdict: 'FAILED: .* for the requests that were sent, but at \\w+ .* over time'
    }
  ])(
    'npm start -- $args: $verdict',
    async ({ args, code, verdict }) => {
      const folder = mkdtempSync(join(tmpdir(), 'loadgate-demo-'))
      try {
        for (const part of ['dist', 'examples', 'package.json'])
          cpSync(part, join(folder, part), { recursive: true })
        const around = { cwd: folder, cli: join(folder, 'dist/cli/index.js') }
        const ended = await runCommand(['demo', ...args], around)
        expect(ended.out).toMatch(new RegExp(`^${verdict}`, 'm'))
        expect(ended.out).not.toMatch(/rehearsal/i)
        expect([ended.code, ended.err]).toEqual([code, ''])
        const served = Number(/The shop answered (\d+) requests/.exec(ended.out)![1])
        const results = /verdict\.json are in (.*)/.exec(ended.out)![1]!
        const verdictJson = JSON.parse(readFileSync(join(results, 'verdict.json'), 'utf8')) as {
          metrics: { overall: { samples: number } }
          thresholds: unknown[]
        }
        expect(verdictJson.metrics.overall.samples).toBe(served)
        expect(verdictJson.thresholds).toHaveLength(6)
        expect(readdirSync(results).sort()).toEqual(['report.html', 'results', 'verdict.json'])
      } finally {
        removeFolder(folder)
      }
    },
    INSTALL_MS
  )
})

const testWithK6 = lacksK6 ? test.skip : test

testWithK6.each([
  { args: [], code: 0, verdict: 'PASSED' },
  { args: ['--slow'], code: 1, verdict: 'FAILED' }
])(`npm start -- --tool k6 $args: $verdict${k6Note}`, async ({ args, code, verdict }) => {
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-demo-'))
  try {
    for (const part of ['dist', 'examples', 'package.json'])
      cpSync(part, join(folder, part), { recursive: true })
    const around = { cwd: folder, cli: join(folder, 'dist/cli/index.js'), env: { K6 } }
    const ended = await runCommand(['demo', '--tool', 'k6', ...args], around)
    expect(ended.out).toMatch(new RegExp(`^${verdict}`, 'm'))
    expect(ended.out).not.toMatch(/rehearsal/i)
    expect([ended.code, ended.err]).toEqual([code, ''])
    const served = Number(/The shop answered (\d+) requests/.exec(ended.out)![1])
    const results = /verdict\.json are in (.*)/.exec(ended.out)![1]!
    const { metrics } = JSON.parse(readFileSync(join(results, 'verdict.json'), 'utf8')) as {
      metrics: { overall: { samples: number } }
    }
    expect(metrics.overall.samples).toBe(served)
  } finally {
    removeFolder(folder)
  }
})
