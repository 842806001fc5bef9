import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findPlan } from '../../../src/service/engines/plan-file.js'
import type { Service } from '../../../src/service/server.js'
import {
  createServices,
  type Doc,
  finishRun,
  type FormPart,
  get,
  PLAN,
  postForm,
  specFields
} from '../support.js'

describe('which file is the plan', () => {
  test.each([
    ['jmeter', ['users.csv', 'plan.jmx'], 'plan.jmx'],
    ['jmeter', ['plan.JMX', 'part.jmx', 'users.csv'], 'plan.JMX'],
    ['jmeter', ['plan.xml', 'users.csv'], 'plan.xml'],
    ['gatling', ['users.csv', 'lib.jar', 'Shop.scala'], 'Shop.scala'],
    ['gatling', ['environment', 'shop.jar'], 'shop.jar'],
    ['gatling', ['shop.jar', 'Shop.java'], 'shop.jar'],
    ['gatling', ['users.csv', 'Shop.java', 'Pages.java'], 'Shop.java'],
    ['java-selenium-firefox', ['lib.jar', 'Shop.java', 'Pages.java'], 'Shop.java'],
    ['service-chrome', ['users.csv', 'types.d.ts', 'shop.ts'], 'shop.ts'],
    ['service-chrome', ['shop.ts', 'pages.ts'], 'shop.ts']
  ])('%s of %j: %s', (tool, fileNames, name) => {
    expect(findPlan(tool, fileNames)).toEqual({ name })
  })

  test.each([
    ['jmeter', ['users.csv', 'a.jmx', 'b.jmx'], 'a.jmx and b.jmx'],
    ['service-chrome', ['users.csv', 'a.ts', 'b.js', 'c.ts'], 'a.ts, b.js and c.ts']
  ])('%s of %j: nobody can tell', (tool, fileNames, names) => {
    expect(findPlan(tool, fileNames)).toEqual({
      problem: `${names} can all be the plan: send the plan as the first file`
    })
  })
})

describe('over HTTP', () => {
  const services = createServices()
  let service: Service
  beforeAll(async () => {
    service = await services.start()
  })
  afterAll(() => services.closeAll())

  const file = (fileName: string, content: string): FormPart => ({ name: 'run_files[]', fileName, content })
  const form = (...files: FormPart[]): FormPart[] => [['run[tool]', 'jmeter'], ...specFields(), ...files]
  const INCLUDING = PLAN.replace(
    '<HTTPSamplerProxy',
    '<IncludeController testname="part"></IncludeController><hashTree/><HTTPSamplerProxy'
  )
  const namesOf = (run: Doc): string[] => run._embedded.files.map(({ name }) => name)

  test('a data file may come first: the plan runs', async () => {
    const run = await finishRun(service, form(file('users.csv', 'a,b\n'), file('plan.jmx', PLAN)))
    expect([run.json.status, namesOf(run.json)]).toEqual(['finished', ['plan.jmx', 'users.csv']])
    const { text } = await get(service, new URL(run.json._embedded.results[0]!.href).pathname)
    expect(text).toContain(',home,')
    expect(text).not.toContain('users.csv')
  })

  test('two plans are refused by name', async () => {
    const reply = await postForm(service, '/runs', form(file('a.jmx', PLAN), file('b.jmx', PLAN)))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      'a.jmx and b.jmx are plans, and a run has one: send one of them, or a plan that includes the others by an Include Controller'
    ])
  })

  test('a part without threads may be there', async () => {
    const part = '<jmeterTestPlan><hashTree><TestFragmentController/></hashTree></jmeterTestPlan>'
    const run = await postForm(service, '/runs', form(file('a.jmx', PLAN), file('b.jmx', part)))
    expect(run.status).toBe(201)
  })

  test.each([
    ['utf8', INCLUDING],
    ['utf16le', INCLUDING]
  ] as const)('a plan in %s may include another', async (encoding, text) => {
    const content = Buffer.from(text, encoding).toString('latin1')
    const run = await postForm(service, '/runs', form(file('a.jmx', content), file('b.jmx', PLAN)))
    expect([run.status, namesOf(run.json)]).toEqual([201, ['a.jmx', 'b.jmx']])
  })
})
