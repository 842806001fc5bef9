import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from '../cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'

const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-transactions-'))
})
afterEach(() => removeFolder(folder))

/** What JMeter writes without sub-results: a home page, and a checkout of two requests that always fails. */
function writeCheckouts(count: number): void {
  const rows = Array.from({ length: count }, (_, i) => {
    const startMs = 1_700_000_000_000 + i * 100
    return [
      `${startMs},40,home,200,OK,Shoppers 1-1,text,true,,9,9,1,1,http://127.0.0.1/,1,0,1`,
      `${startMs + 40},50,checkout,503,"Number of samples in transaction : 2, number of failing samples : 1",Shoppers 1-1,,false,,9,9,1,1,null,1,0,1`
    ]
  })
  writeFileSync(join(folder, 'load.csv'), [HEADER, ...rows.flat(), ''].join('\n'))
}

describe('parent samples whose requests have no rows', () => {
  // In several threads, as large files are, and in one.
  test.each([200, 300_000])('%i failing checkouts fail the gate, and are named', async (count) => {
    writeCheckouts(count)
    const { code, out, err } = await runCommand(
      ['report', 'load.csv', '--thresholds', 'error_rate < 1%', '--output', 'out'],
      { cwd: folder, env: {} }
    )
    expect([code, err]).toEqual([1, ''])
    expect(out).toMatch(/^FAILED: .*error_rate is 50 %/m)
    expect(out).toMatch(/^[\d,]+ +503 +Number of samples in transaction : 2.* +checkout$/m)
    const verdict: unknown = JSON.parse(readFileSync(join(folder, 'out/verdict.json'), 'utf8'))
    expect(verdict).toMatchObject({
      verdict: 'failed',
      metrics: { overall: { samples: 2 * count, failures: count } },
      errors: [{ label: 'checkout', code: '503', count }]
    })
    expect(readFileSync(join(folder, 'out/report.html'), 'utf8')).toContain('<h2 id="errors-title">')
  })
})
