import { describe, expect, test } from '@jest/globals'
import {
  chooseSimulation,
  parseFacts,
  type PlanFacts,
  subPathsOf,
  type Unusable
} from '../../../../src/service/engines/gatling/plan-facts.js'

const factsOf = (
  simulations: string[],
  { hidden = [], broken = [] }: { hidden?: Unusable[]; broken?: Unusable[] } = {}
): PlanFacts => ({
  simulations,
  hidden,
  broken,
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
      'hidden\tshop.Base\tis not public',
      'broken\tshop.Late\tjava.lang.NoClassDefFoundError: acme/Base',
      'broken\tshop.New\tjava.lang.UnsupportedClassVersionError: shop/New has been compiled by 65.0'
    ])
  ).toEqual({
    simulations: ['shop.Plan'],
    hidden: [{ name: 'shop.Base', why: 'is not public' }],
    broken: [
      {
        name: 'shop.Late',
        why: 'needs acme.Base, which is in none of the uploaded files: upload the jar that has it as well'
      },
      {
        name: 'shop.New',
        why: 'cannot be loaded (java.lang.UnsupportedClassVersionError: shop/New has been compiled by 65.0)'
      }
    ],
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
    expect(chooseSimulation(factsOf(simulations), { plan: 'Plan.java', wanted })).toEqual({
      simulation: chosen,
      doubts: []
    })
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
      says: 'there is no simulation in Plan.java; a simulation is a public class with'
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

  const notPublic = { name: 'shop.Plan', why: 'is not public' }
  const unloadable = { name: 'shop.Plan', why: 'needs acme.Base' }

  test.each([
    { what: 'hidden', unusable: { hidden: [notPublic] }, says: 'shop.Plan is not public; a simulation is' },
    { what: 'broken', unusable: { broken: [unloadable] }, says: 'shop.Plan needs acme.Base' }
  ])('another is never run instead of the plan’s own class, which is $what', ({ unusable, says }) => {
    for (const simulations of [[], ['shop.Smoke'], ['shop.Smoke', 'other.Plan']])
      expect(() =>
        chooseSimulation(factsOf(simulations, unusable), { plan: 'Plan.java', wanted: undefined })
      ).toThrow(`Plan.java cannot be run, because its class ${says}`)
    expect(() =>
      chooseSimulation(factsOf(['shop.Smoke'], unusable), { plan: 'all.jar', wanted: 'Plan' })
    ).toThrow(`gatling.simulationClass is Plan, but ${says}`)
    expect(
      chooseSimulation(factsOf(['shop.Smoke'], unusable), { plan: 'Plan.java', wanted: 'Smoke' })
    ).toEqual({ simulation: 'shop.Smoke', doubts: [] })
  })

  test('the only one is doubted if there are others that cannot be run', () => {
    const facts = factsOf(['shop.Smoke'], { hidden: [notPublic], broken: [{ ...unloadable, name: 'Late' }] })
    expect(chooseSimulation(facts, { plan: 'all.jar', wanted: undefined })).toEqual({
      simulation: 'shop.Smoke',
      doubts: ['shop.Smoke ran, but shop.Plan is not public', 'shop.Smoke ran, but Late needs acme.Base']
    })
    expect(chooseSimulation(facts, { plan: 'Smoke.jar', wanted: undefined }).doubts).toEqual([
      'shop.Smoke ran, but Late needs acme.Base'
    ])
  })

  test('whoever has to choose is told of those that cannot be run', () => {
    const facts = factsOf(['A', 'B'], { hidden: [notPublic], broken: [{ ...unloadable, name: 'Late' }] })
    expect(() => chooseSimulation(facts, { plan: 'all.jar', wanted: undefined })).toThrow(
      'all.jar has 2 simulations: A, B (shop.Plan is not public; Late needs acme.Base); choose one with'
    )
  })

  test('of very many that cannot be run the first are named', () => {
    const broken = Array.from({ length: 7 }, (_, index) => ({ name: `C${index}`, why: 'is late' }))
    expect(() => chooseSimulation(factsOf([], { broken }), { plan: 'all.jar', wanted: undefined })).toThrow(
      'there is no simulation in all.jar (C0 is late; C1 is late; C2 is late; C3 is late; C4 is late; 2 more cannot be run); a simulation is'
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
