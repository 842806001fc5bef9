import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeWithCluster, LISTEN_ON, PodStage, TOOLS_IMAGE } from '../../support/kubernetes/stage.js'
import { type PageTarget, startPageTarget } from '../../support/tools/page-target.js'
import { javaPlan as gatlingPlan } from '../../tools/gatling-plans.js'
import { HOME, javaPlan as seleniumPlan } from '../../tools/selenium-plans.js'

const ELEMENT_SCRIPT = `import { step } from '@flood/element'
export const settings = { loopCount: 2, actionDelay: 0, stepDelay: 0, waitTimeout: '20s' }
export default () => {
  step('Home', async (browser) => { await browser.visit(process.env.target + '/') })
}
`
const K6_SCRIPT = `import http from 'k6/http'
export const options = { thresholds: { http_req_failed: ['rate<0.01'] }, iterations: 20 }
export default function () { http.get(__ENV.TARGET + '/') }
`
const GATLING_PLAN = gatlingPlan('http("home").get("/").check(status().is(200))')

let stage: PodStage
let pages: PageTarget
beforeEach(async () => {
  stage = await new PodStage().start()
  pages = await startPageTarget(LISTEN_ON)
})
afterEach(async () => {
  await pages.close()
  await stage.close()
})

describeWithCluster('one run on a pod with every tool', () => {
  test.each([
    { tool: 'gatling', file: 'Plan.java', plan: GATLING_PLAN },
    { tool: 'java-selenium-chrome', file: 'Plan.java', plan: seleniumPlan(HOME) },
    { tool: 'java-selenium-firefox', file: 'Plan.java', plan: seleniumPlan(HOME) },
    { tool: 'service-chrome', file: 'plan.ts', plan: ELEMENT_SCRIPT },
    { tool: 'k6', file: 'plan.js', plan: K6_SCRIPT }
  ])('$tool: a sample for every hit', async ({ tool, file, plan }) => {
    writeFileSync(join(stage.folder, file), plan)
    const large = { large: { cpu: '1500m', memory: '2Gi' } }
    const { hostname, port, origin } = new URL(stage.urlOf(pages.port))
    const grid = { region: 'here', instance_quantity: 1, instance_type: 'large', infrastructure: 'demand' }
    const gate = stage.command([
      ...['run', '--base-url', 'local', '--tool', tool, '--files', file, '--output', 'out'],
      ...['--regions', stage.regions({ image: TOOLS_IMAGE, 'instance-types': large })],
      ...['--grids', JSON.stringify([{ ...grid, stop_after: 9 }]), '--threads', '2'],
      ...['--override-parameters', `-Dhost=${hostname} -Dport=${port} -Dtarget=${origin}`],
      ...['--thresholds', 'error_rate < 1%']
    ])
    await stage.podsRun(1)
    const result = await stage.result(gate)
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: pages.hits('/') })
    expect(result.samples).toBeGreaterThan(1)
    expect(await stage.leftBehind()).toEqual([])
  })
})
