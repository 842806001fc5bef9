import { describe, expect, test } from '@jest/globals'
import { IdleGroups } from '../../../../src/service/engines/jmeter/idle-groups.js'
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

function groupsIn(
  plan: string,
  threads: readonly string[] = [],
  properties: Record<string, string> = {}
): IdleGroups {
  const groups = new IdleGroups(plan, new Map(Object.entries(properties)))
  for (const thread of ['good 1-1', 'good 1-2', ...threads]) groups.push(thread)
  return groups
}

const idleIn = (...given: Parameters<typeof groupsIn>): string[] => groupsIn(...given).idle()

const table = (name: string, value: string): string =>
  `<Arguments testname="v" enabled="true"><collectionProp name="Arguments.arguments"><elementProp name="${name}" elementType="Argument"><stringProp name="Argument.name">${name}</stringProp><stringProp name="Argument.value">${value}</stringProp></elementProp></collectionProp></Arguments><hashTree/>`

describe('a thread group without a sample', () => {
  test.each([
    '${users}0',
    '2',
    '${__P(users,5)}',
    '${__P(users)}',
    '${__property(users,,0)}',
    '${__groovy(0)}'
  ])('is reported if its number of threads is %s', (threads) => {
    expect(idleIn(plans.makePlan(good, idle(threads)))).toEqual([`the thread group idle ${WORDS}`])
    expect(idleIn(plans.makePlan(good, idle(threads)), ['idle 2-1'])).toEqual([])
  })

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
    expect(groups.mayBeIdle()).toBe(true)
    expect(groupsIn(plans.makePlan(good, ...elements), ['idle 2-1']).mayBeIdle()).toBe(false)
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

test('the tree of a plan has each element with those below it', () => {
  const plan = `<?xml version="1.0"?><!-- <A> --><jmeterTestPlan><hashTree>
    <A testname='x > "y"' enabled="false"><stringProp name="s">1 &lt; 2</stringProp><elementProp name="e"><intProp name="i">3</intProp><intProp name="i">4</intProp></elementProp><stringProp name="c"><![CDATA[</A>]]></stringProp></A>
    <hashTree><b.C testname="z"/><hashTree/></hashTree></hashTree></jmeterTestPlan>`
  const nothing = { properties: new Map(), children: [] }
  expect(readPlanTree(plan)).toEqual([
    {
      kind: 'A',
      name: 'x > "y"',
      isEnabled: false,
      properties: new Map([
        ['s', '1 < 2'],
        ['i', '3'],
        ['c', '<![CDATA[</A>]]>']
      ]),
      text: plan.slice(plan.indexOf('<A testname'), plan.indexOf('</A>\n') + '</A>'.length),
      children: [{ kind: 'b.C', name: 'z', isEnabled: true, text: '<b.C testname="z"/>', ...nothing }]
    }
  ])
})
