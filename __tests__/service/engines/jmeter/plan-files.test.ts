import { afterEach, describe, expect, test } from '@jest/globals'
import { refuseFiles } from '../../../../src/service/engines/jmeter/jmeter.js'
import { createServices, postForm, specFields } from '../../support.js'

const refuse = (...fileNames: string[]): string[] =>
  refuseFiles({
    tool: 'jmeter',
    fileNames,
    threads: null,
    rampupSec: null,
    durationSec: null,
    hosts: [],
    properties: []
  })

describe('the files of a JMeter plan', () => {
  test.each(['plan.jmx', 'PLAN.JMX', 'my.plan.Jmx'])('%s is a plan', (plan) => {
    expect(refuse(plan, 'users.csv', 'lib.jar')).toEqual([])
  })

  test.each([
    ['shop.ts', 'set tool to k6 or service-chrome'],
    ['shop.JS', 'set tool to k6 or service-chrome'],
    ['Shop.scala', 'set tool to gatling'],
    ['Shop.java', 'set tool to gatling, java-selenium-chrome or java-selenium-firefox'],
    ['plan.xml', 'the name of the plan must end in .jmx'],
    ['jmx', 'the name of the plan must end in .jmx']
  ])('%s is refused, with what to do', (plan, advice) => {
    expect(refuse(plan, 'users.csv')).toEqual([`tool jmeter runs .jmx plans, not ${plan}; ${advice}`])
  })

  test('a plan that is not the first file', () => {
    expect(refuse('users.csv', 'Plan.jmx')).toEqual([
      'tool jmeter runs .jmx plans, not users.csv; the plan must be the first file, so put Plan.jmx first'
    ])
  })
})

describe('the service', () => {
  const services = createServices()
  afterEach(() => services.closeAll())

  test('answers 422 before anything starts', async () => {
    const service = await services.start({ engine: 'real', env: { PATH: '' } })
    const reply = await postForm(service, '/runs', [
      ['run[tool]', 'jmeter'],
      ...specFields(),
      { name: 'run_files[]', fileName: 'shop.ts', content: '' }
    ])
    expect(reply.status).toBe(422)
    expect(reply.json.error).toContain(
      'tool jmeter runs .jmx plans, not shop.ts; set tool to k6 or service-chrome'
    )
  })
})
