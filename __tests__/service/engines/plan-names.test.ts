import { expect, test } from '@jest/globals'
import { mayHaveNames, readPlanNames } from '../../../src/service/plans/names.js'

test('names are a JMeter plan’s elements, and the literals of a source', () => {
  expect(readPlanNames('plan.jmx', '<p><A testname="home &amp; away" x="y"/></p>')).toEqual(['home & away'])
  expect(readPlanNames('Plan.java', 'http("home").get("/a\\"b"); char c = \'c\';')).toEqual([
    'home',
    '/a\\"b',
    'c'
  ])
  expect(readPlanNames('plan.ts', 'step(\'one\', () => `two`)\nstep("one")')).toEqual(['one', 'two'])
})

test.each([
  ['plan.jmx', true],
  ['Plan.SCALA', true],
  ['plan.mts', true],
  ['plan.jar', false],
  ['users.csv', false]
])('%s may have names: %s', (name, mayHave) => {
  expect(mayHaveNames(name)).toBe(mayHave)
})
