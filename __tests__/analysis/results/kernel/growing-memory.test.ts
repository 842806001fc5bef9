import { expect, test } from '@jest/globals'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { asZonelessDate } from '../../../support/evidence/made-run.js'

const HEADER = 'timeStamp,elapsed,label,responseMessage,success,threadName\n'
const START_MS = 1_700_000_000_000
const ROWS = 100_000

// Rows with dates are read one by one, in the kernel's memory, and counted in it.
test.each([
  ['with a date', 100, asZonelessDate],
  ['with a new label', 50_000, String]
])('memory may grow while a row in it is read: one %s', (_, labels, write) => {
  const rows = Array.from(
    { length: ROWS },
    (_row, i) =>
      `${write(START_MS + i)},${(i * 7919) % 60_000},label ${i % labels},no ${i % 9},false,users 1-1\n`
  )
  const bytes = new TextEncoder().encode(HEADER + rows.join(''))
  const [counted, plain] = [0, Infinity].map((kernelFrom) => {
    const scanner = new ByteScanner({ grid: 'g', region: 'r', kernelFrom })
    scanner.push(bytes)
    const measured = mergeScans([scanner.end()])
    const scopes = [{}, { label: 'label 0' }, { label: `label ${labels - 1}` }]
    return scopes.map((scope) => {
      const found = measured.figures(scope)
      return { ...found, counts: found?.countTimes(), errors: measured.errors(scope) }
    })
  })
  expect(counted?.[0]?.samples).toBe(ROWS)
  expect(JSON.stringify(counted)).toBe(JSON.stringify(plain))
})
