import { expect, test } from '@jest/globals'
import { LostArrivals } from '../../../../src/service/engines/jmeter/lost-arrivals.js'
import * as plans from '../../../support/data/jmeter-plans.js'

const SCHEDULE = 'rate(${__P(rate,10)}/s) random_arrivals(${__P(duration,10)} s) pause(5 s)'
const buy = plans.sample('buy')

/** The losses where the first users of the group have rows, several each. */
function lostOf(
  elements: readonly string[],
  users: number,
  { properties = {}, thread = 'Users 1-' }: { properties?: Record<string, string>; thread?: string } = {}
): string[] {
  const arrivals = new LostArrivals(plans.makePlan(...elements), new Map(Object.entries(properties)))
  const threads = Array.from({ length: users }, (_, at) => `${thread}${at + 1}`)
  for (const name of [...threads, ...threads]) arrivals.push(name)
  return arrivals.lost()
}

test.each([
  [100, []],
  [95, []],
  [120, []],
  [
    94,
    [
      'the thread group Users recorded samples of 94 of the 100 users who should have arrived (94 %); does a data file end, or was the machine too busy to start them?'
    ]
  ]
])('%i of 100 users', (users, words) => {
  expect(lostOf([plans.openGroup('Users', SCHEDULE, [buy])], users)).toEqual(words)
})

test('rate and duration are those of the run', () => {
  const properties = { rate: '1000', duration: '20' }
  expect(lostOf([plans.openGroup('Users', SCHEDULE, [buy])], 20_000, { properties })).toEqual([])
  expect(lostOf([plans.openGroup('Users', SCHEDULE, [buy])], 10_000, { properties })).toEqual([
    expect.stringContaining('10000 of the 20000 users who should have arrived (50 %)')
  ])
})

test.each<[string, string]>([
  ['may have nothing to do', plans.openGroup('Users', SCHEDULE, [plans.ifTrue('${x}', [buy])])],
  [
    'has a schedule that is only known at run time',
    plans.openGroup('Users', 'rate(${x}/s) random_arrivals(9 s)', [buy])
  ],
  ['has a name that is only known at run time', plans.openGroup('Users${x}', SCHEDULE, [buy])],
  ['is closed', plans.group('Users', [buy])],
  ['is disabled', plans.openGroup('Users', SCHEDULE, [buy]).replace('enabled="true"', 'enabled="false"')]
])('a group that %s is not judged', (_, group) => {
  expect(lostOf([group], 3)).toEqual([])
})

test('a group whose threads have other names is not judged', () => {
  expect(lostOf([plans.openGroup('Users', SCHEDULE, [buy])], 3, { thread: 'others 1-' })).toEqual([])
})

test('two groups of one name are counted together', () => {
  const group = plans.openGroup('Users', SCHEDULE, [buy])
  const arrivals = new LostArrivals(plans.makePlan(group, group), new Map())
  for (const number of [1, 2])
    for (let user = 1; user <= 100; user++) arrivals.push(`Users ${number}-${user}`)
  expect(arrivals.lost()).toEqual([])
})
