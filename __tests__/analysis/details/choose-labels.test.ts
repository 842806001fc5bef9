import { expect, test } from '@jest/globals'
import { chooseLabels } from '../../../src/analysis/details/choose-labels.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'
import { measure } from '../../support/data/sample-csv.js'

/** Label `n` has `n` samples, of `200 - n` ms; every tenth one has failures. */
function makeLabels(count: number) {
  const rows = Array.from({ length: count }, (_, n) => {
    const name = `label ${String(n + 1).padStart(3, '0')}`
    const isFailing = (n + 1) % 10 === 0
    return Array.from({ length: n + 1 }, () => `1700000000000,${200 - n},${name},${!isFailing}\n`).join('')
  })
  return measure(`timeStamp,elapsed,label,success\n${rows.join('')}`)
}

function choose(count: number, lines = '') {
  return chooseLabels(makeLabels(count), parseThresholds(lines).thresholds).map(
    ({ label, why }) => `${why} ${Number(label.slice(-3))}`
  )
}

test('are the slowest, the most failing and the largest', () => {
  expect(choose(100)).toEqual([
    ...Array.from({ length: 10 }, (_, i) => `slowest ${i + 1}`),
    ...['failing 100', 'failing 90', 'failing 80', 'failing 70', 'failing 60'],
    ...['largest 99', 'largest 98', 'largest 97', 'largest 96', 'largest 95']
  ])
})

test('are all of them where they are few', () => {
  expect(choose(20)).toHaveLength(20)
  expect(choose(3)).toEqual(['slowest 1', 'slowest 2', 'slowest 3'])
})

test('are first those that lines name, also in baseline lines and for another metric', () => {
  const lines =
    'p95{label="label 050"} < 1s\nwarn: error_rate{label="label 049"} < 1%\np95{label="gone"} < 1s'
  expect(choose(100, lines).slice(0, 3)).toEqual(['named 50', 'named 49', 'slowest 1'])
  expect(choose(100, 'p95{label="label 042"} <= baseline + 10%')[0]).toBe('named 42')
})

test('of those that a pattern matches, the worst; and others too', () => {
  const chosen = choose(100, 'p95{label="*"} < 1s\np95{label="label 077"} < 1s')
  expect(chosen.slice(0, 3)).toEqual(['named 77', 'named 1', 'named 2'])
  expect(chosen).toHaveLength(20)
  expect(chosen.filter((one) => one.startsWith('named')).length).toBeLessThan(12)
  expect(chosen).toContain('failing 100')
  expect(chosen).toContain('largest 99')
})

test('are never more than twenty', () => {
  const lines = Array.from(
    { length: 30 },
    (_, n) => `p95{label="label ${String(n + 41).padStart(3, '0')}"} < 1s`
  )
  const chosen = choose(100, lines.join('\n'))
  expect(chosen).toHaveLength(20)
  expect(new Set(chosen.map((one) => one.split(' ')[0]))).toEqual(new Set(['named']))
})
