import { describe, expect, test } from '@jest/globals'
import { MissingThreads } from '../../../../src/service/engines/jmeter/missing-threads.js'
import { readThreadGroups } from '../../../../src/service/plans/thread-groups.js'
import { readPlanTree } from '../../../../src/analysis/plans/jmx/plan-tree.js'
import * as plans from '../../../support/data/jmeter-plans.js'

const WORDS =
  'recorded no samples; does the number of threads evaluate to 0, or does a condition prevent its requests?'

const good = plans.group('good', [plans.sample('fine')])

/** A group with any text as its number of threads. */
const idle = (threads: string, name = 'idle', loops = '1'): string =>
  plans
    .group(name, [plans.sample('never')])
    .replace(/(num_threads">)[^<]*/, `$1${threads}`)
    .replace(/(LoopController.loops">)[^<]*/, `$1${loops}`)

const asKind = (kind: string, group: string): string =>
  group.replace('<ThreadGroup ', `<${kind} `).replace('</ThreadGroup>', `</${kind}>`)

function read(plan: string, properties: Record<string, string> = {}): MissingThreads {
  const parameters = Object.entries(properties).map(([name, value]) => ({ kind: 'J' as const, name, value }))
  const settings = { threads: undefined, rampupSeconds: undefined, durationSeconds: undefined }
  return new MissingThreads(readThreadGroups(readPlanTree(plan), { others: [], parameters, ...settings }))
}

function groupsIn(
  plan: string,
  threads: readonly string[] = [],
  properties: Record<string, string> = {}
): MissingThreads {
  const groups = read(plan, properties)
  for (const thread of ['good 1-1', 'good 1-2', ...threads]) groups.push(thread)
  return groups
}

const idleIn = (...given: Parameters<typeof groupsIn>): string[] => groupsIn(...given).idle()

const table = (name: string, value: string): string =>
  `<Arguments testname="v" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="${name}" elementType="Argument"><stringProp name="Argument.name">${name}</stringProp><stringProp name="Argument.value">${value}</stringProp></elementProp></collectionProp></Arguments><hashTree/>`

describe('a thread group without a sample', () => {
  test.each(['${users}0', '2', '${__P(users,5)}', '${__P(users)}', '${__groovy(0)}'])(
    'is reported if its number of threads is %s',
    (threads) => {
      expect(idleIn(plans.makePlan(good, idle(threads)))).toEqual([`the thread group idle ${WORDS}`])
      expect(idleIn(plans.makePlan(good, idle(threads)), ['idle 2-1'])).toEqual([])
    }
  )

  test('of a plugin is reported, and found by the start of its thread names', () => {
    const plan = plans.makePlan(good, asKind('com.blazemeter.ConcurrencyThreadGroup', idle('1')))
    expect(idleIn(plan)).toEqual([`the thread group idle ${WORDS}`])
    expect(idleIn(plan, ['idle-ThreadStarter 2-1'])).toEqual([])
  })

  test('is counted where several have one name', () => {
    const plan = plans.makePlan(good, idle('1', 'twin'), idle('1', 'twin'), idle('1', 'twin'))
    expect(idleIn(plan, ['twin 2-1', 'twin 2-2'])).toEqual([`2 of 3 thread groups called twin ${WORDS}`])
    expect(idleIn(plan, ['twin 2-1', 'twin 3-1', 'twin 4-1'])).toEqual([])
  })

  test('has any name', () => {
    const plan = plans.makePlan(good, idle('1', 'a &amp; &quot;b&quot; 1-1'))
    expect(idleIn(plan)).toEqual([`the thread group a & "b" 1-1 ${WORDS}`])
    expect(idleIn(plan, ['a & "b" 1-1 2-1'])).toEqual([])
  })

  const disabled = idle('1').replace('enabled="true"', 'enabled="false"')
  const inside = (...elements: string[]): string => plans.group('idle', elements)
  test.each([
    ['is disabled', disabled],
    ['has 0 threads in the plan', idle('0')],
    ['has 0 threads by a property’s default', idle('${__P(users,0)}')],
    ['has 0 threads by another function', idle('${__property(users,,0)}')],
    ['has 0 threads by a property', idle('${__P(off,3)}')],
    ['has no loops by a property', idle('1', 'idle', '${__P(off)}')],
    ['has a function in its name', idle('1', 'idle ${__P(x)}')],
    ['has no samplers', inside()],
    ['has only what prepares', inside(plans.script('JSR223PreProcessor', 'x', { groovy: '1' }))],
    ['has disabled samplers only', inside(plans.sample('x').replace('enabled="true"', 'enabled="false"'))],
    ['includes what it does', inside(plans.include('x.jmx'))],
    ['points to what it does', inside(plans.missingModule())],
    [
      'has a script that leaves no row',
      inside(plans.script('JSR223Sampler', 'x', { groovy: 'SampleResult.setIgnore()' }))
    ]
  ])('does not matter if it %s', (_, group) => {
    expect(idleIn(plans.makePlan(good, group), [], { off: '0' })).toEqual([])
  })

  test('is no matter where a variable of the plan says 0', () => {
    expect(idleIn(plans.makePlan(table('n', '${__P(users,0)}'), good, idle('${n}')))).toEqual([])
    expect(
      idleIn(plans.makePlan(table('n', '${__P(users,0)}'), good, idle('${n}')), [], { users: '1' })
    ).toHaveLength(1)
  })

  test('is not reported if one of another kind has its name: their threads cannot be told apart', () => {
    const setUp = asKind('SetupThreadGroup', idle('1', 'twin'))
    expect(idleIn(plans.makePlan(good, setUp, idle('1', 'twin')), ['twin 1-1'])).toEqual([])
  })

  test('is not reported if threads are not named after groups, nor for a plan that cannot be parsed', () => {
    expect(idleIn(plans.makePlan(good, idle('1')), ['somebody else'])).toEqual([])
    expect(idleIn('<jmeterTestPlan><hashTree><ThreadGroup testname="x">')).toEqual([])
    expect(idleIn('no plan')).toEqual([])
  })
})

describe('a thread group whose number of threads or loops is an undefined variable', () => {
  const lost = (variable: string): string =>
    `the thread group idle recorded no samples: the number of threads or loops is \${${variable}}, which nothing in the plan defines, so it counts as 0`
  const dataSet = (names: string): string =>
    `<CSVDataSet testname="d" enabled="true"><stringProp name="filename">d.csv</stringProp><stringProp name="variableNames">${names}</stringProp></CSVDataSet><hashTree/>`
  const userParameters =
    '<UserParameters testname="u" enabled="true"><collectionProp name="UserParameters.names"><stringProp name="1">users</stringProp></collectionProp></UserParameters><hashTree/>'

  test.each([
    ['threads', [idle('${users}')], 'users'],
    ['loops', [idle('1', 'idle', '${users}')], 'users'],
    ['a variable that stands for it', [table('n', '${users}'), idle('${n}')], 'users'],
    ['others in a table', [table('user', '3'), idle('${users}')], 'users'],
    ['others in a data set', [dataSet('user,users2'), idle('${users}')], 'users'],
    [
      'a script that reads it',
      [plans.script('JSR223PreProcessor', 'x', { groovy: 'log.info("${users}")' }), idle('${users}')],
      'users'
    ]
  ])('has lost its load: %s', (_, elements, variable) => {
    const groups = groupsIn(plans.makePlan(good, ...elements))
    expect([groups.lost(), groups.idle()]).toEqual([[lost(variable)], []])
    expect(groups.mayMiss()).toBe(true)
    expect(groupsIn(plans.makePlan(good, ...elements), ['idle 2-1']).mayMiss()).toBe(false)
  })

  test.each([
    ['a data set', dataSet('name,users')],
    ['a data set whose names are in its file', dataSet('')],
    ['User Parameters', userParameters],
    ['a script', plans.script('JSR223PreProcessor', 'x', { groovy: 'vars.put("users", "3")' })],
    ['a function', plans.sample('${__Random(1,5,users)}')],
    ['an included plan', plans.include('x.jmx')]
  ])('may have got it from %s: a doubt', (_, element) => {
    const groups = groupsIn(plans.makePlan(good, plans.group('good', [element]), idle('${users}')), [
      'good 2-1'
    ])
    expect([groups.lost(), groups.idle()]).toEqual([[], [`the thread group idle ${WORDS}`]])
  })

  test('is told apart from others of its name', () => {
    const plan = plans.makePlan(good, idle('1', 'twin'), idle('${users}', 'twin'), idle('2', 'twin'))
    const groups = groupsIn(plan, ['twin 2-1'])
    expect(groups.lost()).toEqual([
      expect.stringMatching(/^1 of 3 thread groups called twin recorded no samples: /)
    ])
    expect(groups.idle()).toEqual([`1 of 3 thread groups called twin ${WORDS}`])
  })
})

describe('users who arrive by a schedule', () => {
  const SCHEDULE = 'rate(${__P(rate,10)}/s) random_arrivals(${__P(duration,10)} s) pause(5 s)'
  const buy = plans.sample('buy')

  /** The losses where the first users of the group have rows, several each. */
  function lostOf(
    elements: readonly string[],
    users: number,
    { properties = {}, thread = 'Users 1-' }: { properties?: Record<string, string>; thread?: string } = {}
  ): string[] {
    const arrivals = read(plans.makePlan(...elements), properties)
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
    const arrivals = read(plans.makePlan(group, group))
    for (const number of [1, 2])
      for (let user = 1; user <= 100; user++) arrivals.push(`Users ${number}-${user}`)
    expect(arrivals.lost()).toEqual([])
  })
})

test('a plan without an enabled thread group', () => {
  expect(read(plans.makePlan()).hasNoGroup).toBe(true)
  expect(read(plans.makePlan(good)).hasNoGroup).toBe(false)
  expect(read('no plan').hasNoGroup).toBe(false)
})
