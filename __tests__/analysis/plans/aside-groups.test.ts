import { describe, expect, test } from '@jest/globals'
import { findAsideGroups, readAsideGroups } from '../../../src/analysis/plans/check/aside-groups.js'
import { JmxPlan } from '../../../src/analysis/plans/check/jmx-plan.js'
import type { PlanInputs } from '../../../src/analysis/plans/check/request.js'
import { readPlanTree } from '../../../src/analysis/plans/jmx/plan-tree.js'
import { parseProperties } from '../../../src/analysis/plans/jmx/user-properties.js'

const NOTHING: PlanInputs = {
  ...{ others: [], parameters: [] },
  ...{ threads: undefined, rampupSeconds: undefined, durationSeconds: undefined }
}

type Group = readonly [kind: string, name: string, isEnabled?: boolean]

function plan(...groups: readonly Group[]): string {
  const written = groups.map(
    ([kind, name, isEnabled = true]) => `<${kind} testname="${name}" enabled="${isEnabled}"/><hashTree/>`
  )
  return `<jmeterTestPlan><hashTree><TestPlan testname="plan"/><hashTree>${written.join('')}</hashTree></hashTree></jmeterTestPlan>`
}

function find(text: string, inputs = NOTHING) {
  const { names, findings } = findAsideGroups(JmxPlan.read(readPlanTree(text)!, inputs))
  return { names, said: findings.map(({ message }) => message) }
}

describe('the groups whose samples count for their labels only', () => {
  test('setUp and tearDown groups that are enabled', () => {
    const text = plan(
      ['SetupThreadGroup', 'log in'],
      ['ThreadGroup', 'users'],
      ['PostThreadGroup', 'log out'],
      ['SetupThreadGroup', 'old', false]
    )
    expect(find(text)).toEqual({ names: ['log in', 'log out'], said: [] })
    expect(readAsideGroups(text, NOTHING)).toEqual(['log in', 'log out'])
  })

  test('by the class that JMeter takes, which need not be the tag', () => {
    const text = `<jmeterTestPlan><hashTree><TestPlan testname="plan"/><hashTree>
      <SetupThreadGroup class="ThreadGroup" testclass="SetupThreadGroup" testname="users"/><hashTree/>
      <ThreadGroup class="PostThreadGroup" testclass="ThreadGroup" testname="tidy"/><hashTree/>
    </hashTree></hashTree></jmeterTestPlan>`
    expect(find(text).names).toEqual(['tidy'])
  })

  test('by the name that they have in the run', () => {
    const text = plan(['SetupThreadGroup', '${__P(name,log in)}'], ['ThreadGroup', 'users'])
    expect(find(text).names).toEqual(['log in'])
    const given = { name: 'user.properties', text: 'name = sign in' }
    expect(find(text, { ...NOTHING, others: [given] }).names).toEqual(['sign in'])
    const parameters = [{ kind: 'J' as const, name: 'name', value: 'enter' }]
    expect(find(text, { ...NOTHING, others: [given], parameters }).names).toEqual(['enter'])
  })

  test.each([
    {
      what: 'a group of the load has the same name',
      groups: [
        ['SetupThreadGroup', 'users'],
        ['ThreadGroup', 'users']
      ] as const,
      reason: 'the thread group "users" has the same name, or ends in it; rename one of them.'
    },
    {
      what: 'a group of the load could be the same one on another host',
      groups: [
        ['PostThreadGroup', 'users'],
        ['kg.apc.UltimateThreadGroup', 'eu-users']
      ] as const,
      reason: 'the thread group "eu-users" has the same name, or ends in it; rename one of them.'
    },
    {
      what: 'its name is not known',
      groups: [
        ['SetupThreadGroup', '${who}'],
        ['ThreadGroup', 'users']
      ] as const,
      reason: 'its name is only known during the run; give it a fixed one.'
    },
    {
      what: 'that of a group of the load is not known',
      groups: [
        ['SetupThreadGroup', 'setUp'],
        ['ThreadGroup', '${who}']
      ] as const,
      reason:
        'the name of the thread group "${who}" is only known during the run and may be the same; give it a fixed one.'
    },
    {
      what: 'it has no name',
      groups: [
        ['SetupThreadGroup', ''],
        ['ThreadGroup', 'users']
      ] as const,
      reason: 'it has no name; give it one.'
    }
  ])('not if $what', ({ groups, reason }) => {
    const [[kind, name]] = groups
    const what = kind === 'SetupThreadGroup' ? 'setUp' : 'tearDown'
    expect(find(plan(...groups))).toEqual({
      names: [],
      said: [`The samples of the ${what} thread group "${name}" count in the overall figures: ${reason}`]
    })
  })

  test.each(['', '<jmeterTestPlan>SetupThreadGroup', plan(['ThreadGroup', 'users'])])(
    'none in a plan without any, or one that cannot be read',
    (text) => expect(readAsideGroups(text, NOTHING)).toEqual([])
  )
})

test('a file of properties is read as Java reads it', () => {
  const text = String.raw`# comment
! comment
a=1
b : two words
c three
d\ e\=f = g\tH\u00e9\\
long = one,\
       two
empty
  a = last
url=http://host:80/?a=b`
  expect(Object.fromEntries(parseProperties(text.replaceAll('\n', '\r\n')))).toEqual({
    a: 'last',
    b: 'two words',
    c: 'three',
    'd e=f': 'g\tHé\\',
    long: 'one,two',
    empty: '',
    url: 'http://host:80/?a=b'
  })
  expect([...parseProperties('')]).toEqual([])
})
