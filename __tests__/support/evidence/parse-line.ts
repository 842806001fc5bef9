import { expect } from '@jest/globals'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import type { Threshold } from '../../../src/analysis/thresholds/grammar/threshold.js'

/** The only threshold of a text without problems. */
export function parseOne(line: string): Threshold {
  const { thresholds, problems } = parseThresholds(line)
  expect(problems).toEqual([])
  expect(thresholds).toHaveLength(1)
  return thresholds[0]!
}

/** The problems' first lines without the line number: `column 11: …`. */
export function problemsOf(line: string): string[] {
  const { thresholds, problems } = parseThresholds(line)
  expect(thresholds).toEqual([])
  return problems.map((problem) => problem.split('\n')[0]!.replace(/^line 1, /u, ''))
}
