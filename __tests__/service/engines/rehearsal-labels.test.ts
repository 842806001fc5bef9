import { afterEach, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readLabels } from '../../../src/service/plans/labels.js'
import { createServices, finishRun, get, PLAN, specFields } from '../support.js'

describe('the labels in a plan', () => {
  test.each([
    ['examples/shop/plan.jmx'],
    ['examples/gatling/ShopSimulation.java'],
    ['examples/selenium/ShopTest.java'],
    ['examples/service-chrome/shop.ts'],
    ['examples/k6/shop.js']
  ])('%s', (file) => {
    expect(readLabels(file, readFileSync(file, 'utf8'))).toEqual(['home', 'search', 'product', 'checkout'])
  })

  test.each([
    ['a.jmx', PLAN, ['home', 'check & out']],
    [
      'A.scala',
      'exec(http("home").get("/"))\n  .exec( http( "buy \\"it\\"" ).post("/"))',
      ['home', 'buy "it"']
    ],
    ['A.KT', 'http("home").get("http://a/b"); http("search")', ['home', 'search']],
    ['A.java', 'http.baseUrl("http://a"); http("a " + b); http(c); http("")', []],
    ['A.java', '// http("no")\n/* http("nor\nthis")\n*/ http("yes") // http("no")', ['yes']],
    [
      'A.java',
      'f.failed_transaction(driver, "late"); @DisplayName("The shop opens")',
      ['late', 'The shop opens']
    ],
    ['a.js', `step("one", f); step.once('two', f); step(\`three\`, {}, f)`, ['one', 'two', 'three']],
    ['a.ts', `step.if(() => a(1, 2), 'maybe', f); step.repeat(3, "often", f)`, ['maybe', 'often']],
    ['a.ts', `step.skip('never', f); footstep('no'); step(name, f)`, []]
  ])('%s: %s', (file, text, labels) => {
    expect(readLabels(file, text)).toEqual(labels)
  })
})

describe('the samples of a rehearsal', () => {
  const services = createServices()
  afterEach(() => services.closeAll())

  test('have the labels of the plan and of the sources beside it', async () => {
    const service = await services.start()
    const run = await finishRun(service, [
      ['run[tool]', 'gatling'],
      ...specFields(),
      { name: 'run_files[]', fileName: 'Plan.java', content: 'exec(http("home").get("/"))' },
      { name: 'run_files[]', fileName: 'Search.java', content: 'exec(http("search").get("/"))' },
      { name: 'run_files[]', fileName: 'users.csv', content: 'http("no")' }
    ])
    const result = await get(service, run.json._embedded.results[0]!.href.slice(service.url.length))
    const rows = result.text.trimEnd().split('\n').slice(1)
    expect(new Set(rows.map((row) => row.split(',')[2]))).toEqual(new Set(['home', 'search']))
  })

  test('are named after a plan without labels', async () => {
    const service = await services.start()
    const run = await finishRun(service, [
      ['run[tool]', 'service-chrome'],
      ...specFields(),
      { name: 'run_files[]', fileName: 'shop.ts', content: 'export default () => {}' }
    ])
    const result = await get(service, run.json._embedded.results[0]!.href.slice(service.url.length))
    expect(result.text.split('\n')[1]!.split(',')[2]).toBe('shop.ts')
  })
})
