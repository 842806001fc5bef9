import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Shop, startShop } from '../../src/service/demo-shop.js'
import type { Service } from '../../src/service/server.js'
import { listen, nextWhere, visit, WITH_PAGES } from '../service/pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  postForm,
  type Reply,
  send,
  SPEC,
  specFields,
  waitForStatus
} from '../service/support.js'

const hasJava = spawnSync('java', ['-version']).status === 0
const describeWithJava = hasJava ? describe : describe.skip
const INSTALL_MS = 15 * 60_000
const RUN_MS = 90_000
/** A busy machine answers late. */
const APDEX: unknown = expect.stringMatching(/^(1\.0|0\.\d+) \[500\]$/)

const example = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../examples/shop/${name}`, import.meta.url)), 'utf8')
const PLAN = example('plan.jmx')

describeWithJava(`real JMeter${hasJava ? '' : ' (skipped: there is no java on the path)'}`, () => {
  const services = createServices()
  let service: Service & { lines: string[] }
  let shop: Shop

  beforeAll(async () => {
    service = await services.start({ engine: 'real' })
    // A grid has started once JMeter is there, which takes minutes the first time.
    const parts = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, value])
    const { uuid } = (await postForm(service, '/grids', parts)).json
    const grid = await waitForStatus(service, `/grids/${uuid}`, ['started', 'stopped'], INSTALL_MS)
    expect({ status: grid.json.status, said: service.lines }).toMatchObject({ status: 'started' })
  }, INSTALL_MS)
  beforeEach(async () => {
    shop = await startShop({ slow: false })
  })
  afterEach(() => shop.close())
  afterAll(() => services.closeAll())

  function formOf(fields: Record<string, string>, grids = specFields(), plan = PLAN): FormPart[] {
    return [
      ['run[tool]', 'jmeter'],
      ...Object.entries(fields).map(([key, value]): FormPart => [`run[${key}]`, value]),
      ...grids,
      { name: 'run_files[]', fileName: 'plan.jmx', content: plan },
      { name: 'run_files[]', fileName: 'users.csv', content: example('users.csv') }
    ]
  }

  const atShop = (parameters = ''): Record<string, string> => ({
    threads: '2',
    rampup: '0',
    duration: '2',
    override_parameters: `-Jport=${shop.port} ${parameters}`
  })

  /** The rows of one grid's CSV, as label, success and URL. */
  async function readRows(run: Reply, index = 0): Promise<{ label: string; success: string; url: string }[]> {
    const { pathname, search } = new URL(run.json._embedded.results[index]!.href)
    const [header = '', ...rows] = (await get(service, pathname + search)).text.trimEnd().split('\n')
    const place = (column: string): number => header.split(',').indexOf(column)
    const [label, success, url] = [place('label'), place('success'), place('URL')]
    return rows
      .map((row) => row.split(','))
      .map((row) => ({ label: row[label]!, success: row[success]!, url: row[url]! }))
  }

  test(
    'the page of a run shows what JMeter has written while it goes on',
    async () => {
      const watched = await services.start({ ...WITH_PAGES, engine: 'real' })
      const cookie = await visit(watched)
      const fields = { ...atShop(), threads: '8', duration: '60' }
      const id = await createRun(watched, formOf(fields, specFields({ instance_quantity: '2' })))
      const listener = await listen(watched, `/runs/${id}/events`, cookie)
      const early = await nextWhere(listener, ({ live }) => (live?.now?.throughput ?? 0) > 0)
      const soFar = early.views[0]!.figures.samples
      const later = await nextWhere(listener, ({ views }) => views[0]!.figures.samples > soFar)
      expect(later).toMatchObject({ headline: 'running', rehearsal: null })
      expect(later.live!.now!.p95Ms).toBeGreaterThan(0)
      expect(later.views[0]!.labels.length).toBeGreaterThan(1)
      const { origin } = new URL(watched.url)
      const headers = { cookie, origin }
      expect((await send(watched, 'POST', `/runs/${id}/stop`, { token: null, headers })).status).toBe(204)
      const last = await nextWhere(listener, ({ headline }) => headline === 'finished')
      expect(last.views[0]!.figures.samples).toBeGreaterThanOrEqual(later.views[0]!.figures.samples)
    },
    RUN_MS
  )

  test(
    'a plan runs, and every request that the shop answered is a sample',
    async () => {
      const run = await finishRun(service, formOf({ ...atShop(), duration: '5' }))
      expect(run.json).toMatchObject({ status: 'finished', remote_errors: null, apdex: APDEX })
      expect(run.json.tool).toMatch(/^jmeter-\d+\.\d+/)
      const rows = await readRows(run)
      expect(rows.length).toBeGreaterThan(20)
      expect(rows.every((row) => row.success === 'true')).toBe(true)
      for (const label of ['home', 'search', 'product', 'checkout']) {
        expect([label, rows.filter((row) => row.label === label).length]).toEqual([label, shop.served(label)])
      }
      const report = await get(service, `/runs/${run.json.uuid}/report`)
      expect(report.json).toMatchObject({ rehearsal: false, mean_error_rate: 0 })
      expect(report.json.summary).toContain(`${rows.length} transactions passed with 0 failed`)
      expect(report.json.summary).toContain('Up to 2 users')
    },
    RUN_MS
  )

  test(
    'two grids of two nodes: a CSV each, one header, all samples',
    async () => {
      const two = { instance_quantity: '2' }
      const grids = [
        ...specFields(two),
        ...specFields({ ...two, region: 'eu-west-1', infrastructure: 'hosted' })
      ]
      const run = await finishRun(service, formOf({ ...atShop(), threads: '3' }, grids))
      expect(run.json.status).toBe('finished')
      const [first, second] = [await readRows(run, 0), await readRows(run, 1)]
      expect(first.length + second.length).toBe(shop.served())
      expect([...first, ...second].filter((row) => row.label === 'label')).toEqual([])
      // Three users divided among two nodes here, three on each of two nodes there.
      const report = await get(service, `/runs/${run.json.uuid}/report`)
      expect(report.json.summary).toContain('Up to 9 users across 2 grids in us-east-1, eu-west-1')
    },
    RUN_MS
  )

  test(
    "a plan that cannot be loaded: problem, with JMeter's message",
    async () => {
      const run = await finishRun(service, formOf({}, specFields(), '<jmeterTestPlan><oops'))
      expect(run.json.status).toBe('problem')
      expect(run.json.remote_errors).toContain('Problem loading XML')
      expect(run.json.remote_errors).toContain('no more data available')
    },
    RUN_MS
  )

  test(
    'a file that is not a plan: problem, with the cause',
    async () => {
      const run = await finishRun(service, formOf({}, specFields(), 'hello'))
      expect(run.json.remote_errors).toContain('only whitespace content allowed before start tag')
    },
    RUN_MS
  )

  test(
    'a missing plugin is named, with what to do',
    async () => {
      const name = 'kg.apc.jmeter.threads.SteppingThreadGroup'
      const plan = PLAN.replace('<ThreadGroup ', `<${name} `).replace('</ThreadGroup>', `</${name}>`)
      const run = await finishRun(service, formOf({}, specFields(), plan))
      expect(run.json.status).toBe('problem')
      expect(run.json.remote_errors).toContain(`The plan uses ${name}, which this JMeter`)
      expect(run.json.remote_errors).toContain('JMETER_HOME')
    },
    RUN_MS
  )

  test(
    'stopped in the middle: finished at once, and what was measured is kept',
    async () => {
      const id = await createRun(service, formOf({ ...atShop(), duration: '300' }))
      await waitForStatus(service, `/runs/${id}`, ['running'])
      while (shop.served() < 30) await new Promise((resolve) => setTimeout(resolve, 50))
      const before = Date.now()
      expect((await get(service, `/runs/${id}/stop`)).json.status).toBe('finished')
      expect(Date.now() - before).toBeLessThan(4500)
      const rows = await readRows(await get(service, `/runs/${id}`))
      expect(rows.length).toBeGreaterThanOrEqual(28)
      const whole = rows.every(({ success, url }) => success === 'true' && url.startsWith('http://127.0.0.1'))
      expect(whole).toBe(true)
      // At most what each of the two threads was about to write is lost.
      expect(shop.served() - rows.length).toBeLessThanOrEqual(2)
    },
    RUN_MS
  )

  test(
    'parameters arrive in the plan: its own, and the target of the apdex',
    async () => {
      const plan = PLAN.replace(
        'testname="home"',
        'testname="home ${__P(greeting)} ${__P(threads)} ${__P(duration)}"'
      )
      const target = '-Jjmeter.reportgenerator.apdex_satisfied_threshold=250'
      const run = await finishRun(
        service,
        formOf(atShop(`-Jgreeting=good day, ${target}`), specFields(), plan)
      )
      expect(run.json.apdex).toMatch(/ \[250\]$/)
      expect(new Set((await readRows(run)).map((row) => row.label))).toContain('home good day 2 2')
    },
    RUN_MS
  )

  test(
    'overridden hosts resolve elsewhere, and other names still resolve',
    async () => {
      const domain = '<stringProp name="HTTPSampler.domain">localhost</stringProp>'
      const path = '<stringProp name="HTTPSampler.path">/search</stringProp>'
      const plan = PLAN.replace(path, `${domain}${path}`)
      const fields = { ...atShop('-Jhost=shop.example'), override_hosts: 'shop.example/127.0.0.1' }
      const run = await finishRun(service, formOf(fields, specFields(), plan))
      const rows = await readRows(run)
      expect(rows.filter((row) => row.success !== 'true')).toEqual([])
      expect(new Set(rows.map((row) => new URL(row.url).hostname))).toEqual(
        new Set(['shop.example', 'localhost'])
      )
      expect(shop.served('search')).toBe(rows.filter((row) => row.label === 'search').length)
    },
    RUN_MS
  )
})
