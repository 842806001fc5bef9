import { describe, expect, test } from '@jest/globals'
import {
  chooseSimulation,
  parseFacts,
  type PlanFacts,
  subPathsOf
} from '../../../../src/server/engines/gatling/plan-facts.js'

const factsOf = (simulations: string[], hidden: string[] = []): PlanFacts => ({
  simulations,
  hidden,
  expressions: [],
  paths: []
})

test('facts are read by their kinds, each once; what the JVM prints is none', () => {
  expect(
    parseFacts([
      'Picked up JAVA_TOOL_OPTIONS: -Xmx1g',
      'simulation\tshop.Plan',
      'path\tdata/users.csv',
      'path\tdata/users.csv',
      'expression\t${user}',
      'hidden\tshop.Base'
    ])
  ).toEqual({
    simulations: ['shop.Plan'],
    hidden: ['shop.Base'],
    expressions: ['${user}'],
    paths: ['data/users.csv']
  })
})

describe('the simulation to run', () => {
  test.each([
    { what: 'the only one', simulations: ['shop.Any'], wanted: undefined, chosen: 'shop.Any' },
    {
      what: 'the one named after the plan',
      simulations: ['a.Other', 'b.Plan'],
      wanted: undefined,
      chosen: 'b.Plan'
    },
    { what: 'the one named in full', simulations: ['a.Plan', 'b.Plan'], wanted: 'a.Plan', chosen: 'a.Plan' },
    { what: 'the one named in short', simulations: ['a.One', 'b.Plan'], wanted: 'One', chosen: 'a.One' },
    { what: 'one in a class', simulations: ['a.All$One', 'a.Two'], wanted: 'One', chosen: 'a.All$One' }
  ])('$what', ({ simulations, wanted, chosen }) => {
    expect(chooseSimulation(factsOf(simulations), { plan: 'Plan.java', wanted })).toBe(chosen)
  })

  test.each([
    {
      what: 'two of the plan’s name',
      simulations: ['a.Plan', 'b.Plan'],
      wanted: undefined,
      says: 'Plan.java has 2 simulations: a.Plan, b.Plan; choose one with -Dgatling.simulationClass=<class> in override-parameters'
    },
    {
      what: 'a name that none has',
      simulations: ['a.Plan'],
      wanted: 'Plam',
      says: 'gatling.simulationClass is Plam, but Plan.java has one simulation: a.Plan; choose one with'
    },
    {
      what: 'none',
      simulations: [],
      wanted: undefined,
      says: 'there is no simulation in Plan.java: it must have'
    },
    {
      what: 'none of that name',
      simulations: [],
      wanted: 'One',
      says: 'but there is no simulation in Plan.java'
    }
  ])('$what is an error', ({ simulations, wanted, says }) => {
    expect(() => chooseSimulation(factsOf(simulations), { plan: 'Plan.java', wanted })).toThrow(says)
  })

  test('a class that Gatling cannot construct is named', () => {
    expect(() => chooseSimulation(factsOf([], ['Plan']), { plan: 'Plan.java', wanted: undefined })).toThrow(
      'there is no simulation in Plan.java (Plan cannot be constructed from outside)'
    )
  })
})

test('a plan finds uploaded files in the folders it looks in, never outside its own', () => {
  const paths = [
    'data/users.csv',
    './data/users.csv',
    'src/test/resources/body.json',
    'a/other.csv',
    '/etc/users.csv'
  ]
  const outside = ['../users.csv', 'a/../users.csv', 'a/../../users.csv']
  const facts = { ...factsOf([]), paths: [...paths, ...outside] }
  expect(subPathsOf(facts, ['Plan.java', 'users.csv', 'body.json'])).toEqual([
    'data/users.csv',
    'src/test/resources/body.json'
  ])
})
