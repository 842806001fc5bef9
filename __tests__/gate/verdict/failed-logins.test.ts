import { describe, expect, test } from '@jest/globals'
import type { Details } from '../../../src/analysis/outcome.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { ByteScanner } from '../../../src/analysis/results/scan/byte-scanner.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { describeOutcome } from '../../../src/cli/outcome-text.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import { describeFailedChecks, describeRefused } from '../../../src/gate/verdict/failed-logins.js'
import { CSV_HEADER } from '../../support/gate/gate-service.js'
import { makeRun, makeSettings } from '../../support/gate/gate-ports.js'

type Row = readonly [label: string, code: string, count?: number]

/** Codes of 2xx and 3xx are of samples that passed. */
function measure(...rows: readonly Row[]): Measurements {
  const lines = rows.flatMap(([label, code, count = 1]) =>
    Array.from({ length: count }, (_, i) => {
      return `${1_760_000_000_000 + i * 1000},5,${label},${code},words,t-1,${/^[23]/.test(code)},512,5`
    })
  )
  const scanner = new ByteScanner({ grid: 'g1', region: 'us-east-1' })
  scanner.push(Buffer.from(`${[CSV_HEADER, ...lines].join('\n')}\n`))
  return mergeScans([scanner.end()])
}

const FIRST = { failures: [{ label: 'POST /login', code: '401' }] } as unknown as Details

describe('where most failures are 401 and 403', () => {
  const refused = measure(['GET /account', '401', 20], ['POST /login', '401', 9], ['GET /', '200', 10])

  test('the request that was refused first, and the variables that the plan logs in with', () => {
    const variables = ['LOADGATE_PARAMETER_EMAIL', 'LOADGATE_PARAMETER_PASSWORD']
    expect(describeRefused(refused, FIRST, variables)).toEqual([
      '"POST /login" was refused (401): the requests are not logged in. Check LOADGATE_PARAMETER_EMAIL and LOADGATE_PARAMETER_PASSWORD.'
    ])
  })

  test('without such variables, the plan; without the order of failures, the most frequent one', () => {
    expect(describeRefused(refused, undefined, [])).toEqual([
      '"GET /account" was refused (401): the requests are not logged in. Check that the plan logs in, and with what.'
    ])
  })

  test.each<[string, Row[]]>([
    ['most fail otherwise', [['a', '401', 3], ['b', '500', 9]]], // prettier-ignore
    ['few fail at all', [['a', '403', 1], ['b', '200', 99]]], // prettier-ignore
    ['none fails', [['b', '200', 9]]]
  ])('nothing where %s', (_, rows) => {
    expect(describeRefused(measure(...rows), FIRST, [])).toEqual([])
  })
})

describe('whether the target runs is asked', () => {
  const textOf = (code: string): string => {
    const outcome = conclude(makeSettings({ thresholdLines: 'error_rate < 1%' }), { run: makeRun() })
    const measured = { ...outcome, measurements: measure(['POST /login', code, 9]) }
    return describeOutcome(measured, { place: '', width: 200 })
  }

  test('only where it did not answer', () => {
    expect(textOf('Non HTTP response code: java.net.ConnectException')).toContain(
      'that the target is running'
    )
    expect(textOf('401')).not.toContain('that the target is running')
    expect(textOf('500')).not.toContain('that the target is running')
  })
})

describe('a check of k6 that fails in most of its calls', () => {
  const failed = measure(['check: logged in', '', 9], ['check: open', '200', 9], ['POST /login', '200', 9])
  const say = (lines: string, toolLines: string[] = []): string[] =>
    describeFailedChecks(
      failed,
      parseThresholds(lines).thresholds,
      toolLines.map((text) => ({ text, holds: true }))
    )
  const warning =
    'The check "logged in" failed in 9 of 9 calls, and no threshold names it. Add error_rate{label="check: *"} < 1%.'

  test('is a warning of the run', () => {
    const collection = { measurements: failed, grids: [], missingGrids: [], spansMs: new Map() } as never
    expect(conclude(makeSettings(), { run: makeRun(), collection }).warnings).toContain(warning)
  })

  test.each([
    [
      'no line names it',
      'error_rate < 1%\nerror_rate{label="check: open"} < 1%\np95{label="*"} < 1s',
      [warning]
    ],
    ['a line names it', 'error_rate{label="check: *"} < 1%', []],
    ['a line of its own', 'warn: failures{label="check: logged in"} < 5', []]
  ])('%s', (_, lines, expected) => {
    expect(say(lines)).toEqual(expected)
  })

  test('the script itself may judge its checks', () => {
    expect(say('', ['k6: checks: rate>0.9'])).toEqual([])
    expect(say('', ['k6: http_req_failed: rate<0.1'])).toEqual([warning])
  })
})
