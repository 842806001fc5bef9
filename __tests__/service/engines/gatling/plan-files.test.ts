import { describe, expect, test } from '@jest/globals'
import type { PlanRequest } from '../../../../src/service/engines/engine.js'
import { refuseFiles, sortPlanFiles } from '../../../../src/service/engines/gatling/plan-facts.js'

const request = (fileNames: string[], value?: string): PlanRequest => ({
  tool: 'gatling',
  fileNames,
  threads: null,
  rampupSec: null,
  durationSec: null,
  hosts: [],
  properties: value === undefined ? [] : [{ kind: 'D', name: 'gatling.simulationClass', value }]
})

describe('the files of a simulation', () => {
  test('sources of the plan’s language are compiled together, and jars are libraries', () => {
    expect(sortPlanFiles(['Plan.scala', 'users.csv', 'More.scala', 'lib.jar'])).toEqual({
      plan: 'Plan.scala',
      language: 'scala',
      sources: ['Plan.scala', 'More.scala'],
      jars: ['lib.jar']
    })
  })

  test('a jar is its own plan', () => {
    expect(sortPlanFiles(['plan.JAR', 'lib.jar', 'users.csv'])).toEqual({
      plan: 'plan.JAR',
      language: undefined,
      sources: [],
      jars: ['plan.JAR', 'lib.jar']
    })
  })

  test.each([['Plan.java'], ['Plan.scala'], ['Plan.kt'], ['plan.jar'], ['plan.JAR']])(
    '%s is accepted',
    (plan) => {
      expect(refuseFiles(request([plan, 'users.csv', 'lib.jar', 'environment']))).toEqual([])
    }
  )

  test.each([
    { files: ['plan.js'], says: 'plan.js is a JavaScript simulation' },
    { files: ['plan.gatling.ts'], says: 'plan.gatling.ts is a JavaScript simulation' },
    {
      files: ['plan.jmx'],
      says: 'plan.jmx is not a plan for Gatling: the plan must be a simulation as .java'
    },
    { files: ['users.csv', 'Plan.java'], says: 'users.csv is not a plan for Gatling' },
    {
      files: ['Plan.JAVA'],
      says: 'Plan.JAVA cannot be compiled under this name: compilers want the extension in lower case, .java'
    },
    { files: ['Plan.scala', 'More.Scala'], says: 'More.Scala cannot be compiled under this name' },
    { files: ['Plan.java', 'More.kt'], says: 'More.kt is not compiled with Plan.java' },
    { files: ['plan.jar', 'More.kt'], says: 'More.kt is not compiled with plan.jar' }
  ])('$files is refused', ({ files, says }) => {
    expect(refuseFiles(request(files))).toEqual([expect.stringContaining(says)])
  })

  test('the name of the class must be one', () => {
    expect(refuseFiles(request(['Plan.java'], 'shop.Plan$Inner'))).toEqual([])
    expect(refuseFiles(request(['Plan.java'], 'not a class'))).toEqual([
      'gatling.simulationClass must be the name of a class, not "not a class"'
    ])
  })
})
