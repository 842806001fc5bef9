import { expect, test } from '@jest/globals'
import { formatChange, renderComparePage } from '../../../../src/report/page/served/compare-page.js'
import { describeRun, type RunState } from '../../../../src/report/page/served/run-page.js'
import { measure } from '../../../support/data/sample-csv.js'

test.each<[Parameters<typeof formatChange>[0], number | null, number | null, string]>([
  ['p95', 200, 210, '+5 %'],
  ['p95', 200, 190, '−5 %'],
  ['p95', 3, 4, '+33.3 %'],
  ['p95', 1, 20.13, '+1,913 %'],
  ['p95', 100, 100.01, '0 %'],
  ['p95', 100, 100, '0 %'],
  ['min', 0, 0, '0 %'],
  ['min', 0, 3, '–'],
  ['p95', null, 3, '–'],
  ['throughput', 5, null, '–'],
  ['error_rate', 0, 0.0125, '+1.25 points'],
  ['error_rate', 0.5, 0.25, '−25 points'],
  ['apdex', 0.9, 0.885, '−0.015'],
  ['apdex', 1, 1, '0']
])('the change of %s from %p to %p is %s', (key, before, after, words) => {
  expect(formatChange(key, before, after)).toBe(words)
})

const STATE: RunState = {
  ...{ id: 'r1', name: 'one', status: 'finished', tool: 'jmeter', nowMs: 0, apdexTargetMs: 500 },
  ...{ problem: undefined, summary: undefined, rehearsal: false, warnings: [], grids: [] },
  measurements: undefined
}

function pageOf(labels: Readonly<Record<string, number>>) {
  const rows = Object.entries(labels).flatMap(([label, elapsed]) =>
    Array.from({ length: 3 }, (_, i) => `${1_700_000_000_000 + i * 1000},${elapsed},${label},true,1\n`)
  )
  const csv = `timeStamp,elapsed,label,success,allThreads\n${rows.join('')}`
  return describeRun({ ...STATE, measurements: measure(csv) })
}

test('the label that grew the most is first, and a label of one run alone is last', () => {
  const view = {
    ...{ differences: [], comparePath: '/c', choices: [], chosen: 'b', homePath: '/' },
    visitor: { name: 'v', logoutPath: '/logout' }
  }
  const other = {
    name: 'A',
    path: '/a',
    facts: [['Threads', '–']] as const,
    page: pageOf({ a: 10, b: 10, c: 50, old: 9 })
  }
  const run = {
    name: 'B',
    path: '/b',
    facts: [['Threads', '–']] as const,
    page: pageOf({ a: 12, b: 90, c: 20, new: 7 })
  }
  const { html, policy } = renderComparePage({ ...view, run, other })
  const [, labels = ''] = html.split('id="compared-labels"')
  expect([...labels.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, label]) => label)).toEqual([
    ...['b', 'a', 'c'],
    ...[expect.stringMatching(/new|old/), expect.stringMatching(/new|old/)]
  ])
  expect(labels).toContain(
    '<td class="number">10 ms</td><td class="number">90 ms</td><td class="number">+800 %</td>'
  )
  expect(html).not.toContain('Threads')
  expect(policy).not.toContain('script-src')
})
