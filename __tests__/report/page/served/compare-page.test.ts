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

function pageOf(labels: Readonly<Record<string, number>>, samples = 3) {
  const rows = Object.entries(labels).flatMap(([label, elapsed]) =>
    Array.from({ length: samples }, (_, i) => `${1_700_000_000_000 + i * 1000},${elapsed},${label},true,1\n`)
  )
  const csv = `timeStamp,elapsed,label,success,allThreads\n${rows.join('')}`
  return describeRun({ ...STATE, measurements: measure(csv) })
}

const VIEW = {
  ...{ warnings: [], comparePath: '/c', choices: [], chosen: 'b', homePath: '/' },
  visitor: { name: 'v', logoutPath: '/logout' }
}
const FACTS = [['Threads', '–']] as const

function compare(a: ReturnType<typeof pageOf>, b: ReturnType<typeof pageOf>, warnings: string[] = []) {
  const other = { name: 'A', path: '/a', facts: FACTS, page: a }
  const run = { name: 'B', path: '/b', facts: FACTS, page: b }
  const { html } = renderComparePage({ ...VIEW, warnings, run, other })
  const [, labels = ''] = html.split('id="compared-labels"')
  return { html, labels }
}

test('the label that grew the most is first, and a label of one run alone is last', () => {
  const { html, labels } = compare(
    pageOf({ a: 10, b: 10, c: 50, old: 9 }),
    pageOf({ a: 12, b: 90, c: 20, new: 7 }),
    ['They <differ>.']
  )
  expect([...labels.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, label]) => label)).toEqual([
    ...['b', 'a', 'c'],
    ...[expect.stringMatching(/new|old/), expect.stringMatching(/new|old/)]
  ])
  expect(labels).toContain(
    '<td class="number">10 ms</td><td class="number">90 ms</td><td class="number"><span class="few">+80 ms <span class="origin">+800 %, few samples</span></span></td>'
  )
  expect(labels).not.toContain('labels, B')
  expect(html).toContain('<strong>Warning:</strong> They &#60;differ&#62;.</p>')
  expect(html).not.toContain('Threads')
})

test('a percentile of enough samples is not grey', () => {
  const { labels } = compare(pageOf({ a: 10 }, 400), pageOf({ a: 20 }, 400))
  expect(labels).toContain('+10 ms <span class="origin">+100 %</span>')
})

test('how many labels there are is said where not all are shown', () => {
  const many = (prefix: string): Record<string, number> =>
    Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`${prefix}${i}`, 10]))
  expect(compare(pageOf(many('a')), pageOf({ a1: 3 })).labels).toContain(
    ' A has 600 labels, B 1: the 500 with the most samples are shown.<'
  )
})

test('a label that may be among those left out of a list is not shown as one of the other run alone', () => {
  const page = pageOf({ a: 10, b: 10 })
  const cut = { ...page, views: page.views.map((view) => ({ ...view, labelsLeftOut: 7_000 })) }
  const { labels } = compare(cut, pageOf({ a: 20, c: 10 }))
  expect([...labels.matchAll(/<th scope="row">(.*?)<\/th>/g)].map(([, label]) => label).sort()).toEqual([
    'a',
    'b'
  ])
  expect(labels).toContain(' A has 7,002 labels, B 2: the 2 with the most samples are shown.<')
})
