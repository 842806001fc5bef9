import { expect, test } from '@jest/globals'
import { renderRunList } from '../../../../src/report/page/served/run-list.js'
import type { RunLine } from '../../../../src/report/page/served/run-list.js'

function statusOf(changes: Partial<RunLine>): string | undefined {
  const run: RunLine = {
    path: '/runs/r1',
    id: 'r1',
    name: undefined,
    status: 'finished',
    apdex: undefined,
    createdMs: 0,
    elapsedMs: undefined,
    samples: undefined,
    errorRate: undefined,
    rehearsal: false,
    ...changes
  }
  return /<td>(.*?)<\/td>/.exec(renderRunList({ runs: [run], first: 1, total: 1 }))?.[1]
}

test.each<[string, Partial<RunLine>, string]>([
  ['finished', {}, '<span class="pill neutral">finished</span>'],
  [
    'finished with load lost',
    { isLoadLost: true, problem: 'load lost: node 2' },
    '<span class="pill doubtful" title="load lost: node 2">finished, load lost</span>'
  ],
  [
    'a problem, with the reason as text only',
    { status: 'problem', isLoadLost: true, problem: 'a " onclick="x' },
    '<span class="pill bad" title="a &#34; onclick=&#34;x">problem</span>'
  ]
])('%s', (_name, changes, html) => expect(statusOf(changes)).toBe(html))

test('a reason of any length stays a hint', () => {
  expect(statusOf({ status: 'problem', problem: 'x'.repeat(10_000) })?.length).toBeLessThan(600)
})
