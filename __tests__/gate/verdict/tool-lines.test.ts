import { describe, expect, test } from '@jest/globals'
import { joinToolLines, type ToolLine } from '../../../src/analysis/thresholds/judge/tool-lines.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { conclude, withoutBaselineLines } from '../../../src/gate/verdict/conclude.js'
import type { Findings } from '../../../src/gate/findings.js'
import { annotate } from '../../../src/report/annotations.js'
import { renderJUnit } from '../../../src/report/junit.js'
import { thresholdTable } from '../../../src/report/markdown/threshold-tables.js'
import { renderPage } from '../../../src/report/page/page.js'
import { judgementRows } from '../../../src/report/rows.js'
import { verdictDocument } from '../../../src/report/verdict-document.js'
import { makeRun, makeSettings } from '../../support/gate/gate-ports.js'
import { makeCsv } from '../../support/gate/gate-service.js'

const HELD: ToolLine = { text: 'k6: checks rate>0.99', holds: true }
const UNKNOWN: ToolLine = { ...HELD, holds: null, reason: 'k6 has no samples for it' }
const CROSSED: ToolLine = { text: 'k6: http_req_failed rate<0.01', holds: false }

function makeFindings(toolLines: readonly ToolLine[], changes: Parameters<typeof makeRun>[0] = {}): Findings {
  const scanner = new ByteScanner({ grid: 'g1', region: 'us-east-1' })
  scanner.push(Buffer.from(makeCsv()))
  const run = makeRun({ ...changes, toolLines: [...toolLines] })
  return {
    run,
    collection: {
      run,
      report: { summary: '', means: {}, rehearsal: false, warnings: [] },
      reportProblem: undefined,
      resultsDir: '/r',
      grids: [
        { gridId: 'g1', region: 'us-east-1', nodeCount: 2, path: '/r/g1.csv', bytes: 700, problem: undefined }
      ],
      missingGrids: [],
      spansMs: new Map([['g1', 20_000]]),
      measurements: mergeScans([scanner.end()])
    }
  }
}

const SETTINGS = makeSettings({ thresholdLines: 'apdex >= 0.85' })
const judge = (...lines: ToolLine[]): Outcome => conclude(SETTINGS, makeFindings(lines))

describe('what the plan itself says must hold', () => {
  test('is listed after the lines of the gate, and counts with them', () => {
    const outcome = judge(HELD)
    expect(outcome).toMatchObject({ verdict: 'passed', reason: 'All 2 thresholds hold.' })
    expect(outcome.judgements.map(({ threshold }) => threshold.text)).toEqual(['apdex >= 0.85', HELD.text])
  })

  test('fails the gate where it is broken, in the words of its tool', () => {
    expect(judge(HELD, CROSSED)).toMatchObject({
      verdict: 'failed',
      reason: expect.stringMatching(/^1 threshold is broken: .*k6: http_req_failed rate<0\.01/)
    })
  })

  test('is inconclusive where the tool does not know it, and says why', () => {
    const outcome = judge(UNKNOWN)
    const reason = `${HELD.text} could not be judged: k6 has no samples for it`
    expect(outcome).toMatchObject({ verdict: 'inconclusive', reason: expect.stringContaining(reason) })
    expect(conclude(makeSettings(), makeFindings([UNKNOWN])).verdict).toBe('inconclusive')
    for (const text of [renderPage(outcome), renderJUnit(outcome), thresholdTable(outcome, 50)])
      expect(text).toContain('inconclusive')
    expect(judge(UNKNOWN, CROSSED).verdict).toBe('failed')
  })

  test('is all that is judged where the gate has no lines', () => {
    expect(conclude(makeSettings(), makeFindings([CROSSED])).verdict).toBe('failed')
    expect(conclude(makeSettings(), makeFindings([HELD]))).toMatchObject({
      verdict: 'passed',
      reason: 'The threshold holds.'
    })
  })

  test.each([
    ['that was cut short, as by abortOnFail', { durationSeconds: 3600 }],
    ['that ended badly', { status: 'problem' }],
    ['that lost load', { remoteErrors: 'load lost: k6: 60 of 100 iterations were dropped' }]
  ])('fails a run %s, which without it would be inconclusive', (_, changes) => {
    const settings = { ...SETTINGS, durationSeconds: 3600 }
    const whole = 'durationSeconds' in changes ? settings : SETTINGS
    expect(conclude(whole, makeFindings([HELD], changes)).verdict).toBe('inconclusive')
    expect(conclude(whole, makeFindings([CROSSED], changes)).verdict).toBe('failed')
  })

  test('is part of the verdict without baseline lines', () => {
    const findings = makeFindings([CROSSED])
    expect(withoutBaselineLines(SETTINGS, findings, conclude(SETTINGS, findings)).verdict).toBe('failed')
  })
})

test('a confirming run is judged by its own lines', () => {
  const confirming = [{ stage: 'confirming run 1', findings: makeFindings([CROSSED, HELD]) }]
  const outcome = conclude(SETTINGS, { ...makeFindings([HELD, { ...CROSSED, holds: true }]), confirming })
  expect(outcome).toMatchObject({ verdict: 'failed', reason: expect.stringContaining(CROSSED.text) })
})

test('of several runs, a line is broken if it is in one, and holds if it does in all of them', () => {
  expect(joinToolLines([HELD, CROSSED, { ...HELD, holds: false }, { ...CROSSED, holds: true }])).toEqual([
    { ...HELD, holds: false },
    CROSSED
  ])
  expect(joinToolLines([HELD, UNKNOWN, HELD])).toEqual([UNKNOWN])
  expect(joinToolLines([UNKNOWN, { ...HELD, holds: false }, UNKNOWN])).toEqual([{ ...HELD, holds: false }])
})

describe('shown', () => {
  const outcome = judge(HELD, CROSSED)

  test('as rows without figures, broken ones first', () => {
    expect(
      judgementRows(outcome.judgements).map(({ threshold, actual, verdict }) => [threshold, actual, verdict])
    ).toEqual([
      [CROSSED.text, '–', 'failed'],
      ['apdex >= 0.85', '0.93', 'passed'],
      [HELD.text, '–', 'passed']
    ])
  })

  test('in the summary, the page, JUnit and the annotations', () => {
    for (const text of [thresholdTable(outcome, 50), renderPage(outcome), renderJUnit(outcome)])
      expect(text).toMatch(/k6: http(?:_|&#95;)req(?:_|&#95;)failed rate(?:<|&lt;|&#60;)0\.01/)
    expect(annotate(outcome)).toEqual([expect.objectContaining({ level: 'error' })])
  })

  test('in verdict.json', () => {
    expect(verdictDocument(outcome).thresholds).toContainEqual(
      expect.objectContaining({ text: CROSSED.text, level: 'fail', verdict: 'failed', actual: null })
    )
  })
})
