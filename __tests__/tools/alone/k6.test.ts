import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { isAlive, until } from '../../e2e/cli-command.js'
import {
  createRun,
  type FormPart,
  get,
  postForm,
  type Reply,
  specFields,
  waitForStatus
} from '../../service/support.js'
import { type CountingTarget, startCountingTarget } from '../../support/tools/counting-target.js'
import { describeWithK6, K6 } from '../../support/tools/k6.js'
import { logsOf, readRows, serveBundle, type ServedBundle } from '../../support/tools/served-bundle.js'
import { ArtifactService } from '../../support/step/artifact-service.js'
import { Step } from '../../support/step/step.js'

const RUN_MS = 3 * 60_000

const script = (options: string, body = ''): string => `import http from 'k6/http'
import { check, sleep } from 'k6'
export const options = { ${options} }
export default function () {
  const home = http.get('http://127.0.0.1:' + __ENV.PORT + '/', { tags: { name: 'home' } })
  check(home, { open: ({ status }) => status === 200 })
  ${body}
}
`
const ENDLESS = script("vus: 4, duration: '300s'", 'sleep(0.02)')

let service: ServedBundle
let target: CountingTarget

function formOf(
  files: Record<string, string>,
  fields: Record<string, string> = {},
  grids = specFields()
): FormPart[] {
  const { override_parameters: parameters = '', ...others } = fields
  return [
    ['run[tool]', 'k6'],
    ...Object.entries(others).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ['run[override_parameters]', `-Jport=${target.port} ${parameters}`],
    ...grids,
    ...Object.entries(files).map(([fileName, content]) => ({ name: 'run_files[]', fileName, content }))
  ]
}

async function finish(parts: readonly FormPart[], at: ServedBundle = service): Promise<Reply> {
  const id = await createRun(at, parts)
  return waitForStatus(at, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
}

/** The rows that count overall: those of checks and groups say what they are part of. */
async function requestsOf(run: Reply): Promise<Record<string, string>[]> {
  return (await readRows(service, run)).filter(({ label }) => label === 'home')
}

/** Processes of this service: the program of a node, and k6 itself. */
function processes(of: RegExp): { pid: number; args: string }[] {
  return execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8', maxBuffer: 1 << 24 })
    .split('\n')
    .filter((line) => of.test(line) && (line.includes(service.dataDir) || belongs(Number.parseInt(line, 10))))
    .map((line) => ({ pid: Number.parseInt(line, 10), args: line }))
}

/** The program's order is in its environment. */
function belongs(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(service.dataDir)
  } catch {
    return false
  }
}

const PROGRAM = /dist\/tools\/k6\.mjs/
const RUNNING = /\/k6 run /

describeWithK6('k6', () => {
  beforeAll(async () => {
    service = await serveBundle({ K6: K6 })
  })
  beforeEach(async () => {
    target = await startCountingTarget()
  })
  afterEach(() => target.close())
  afterAll(() => service.stop())

  const ARRIVALS =
    "scenarios: { a: { executor: 'constant-arrival-rate', rate: 15, duration: '4s', preAllocatedVUs: 60 } }"
  test.each([
    {
      model: 'closed',
      nodes: '1',
      options: '',
      body: 'sleep(0.1)',
      fields: { threads: '5', duration: '3' },
      vus: 5
    },
    {
      model: 'closed',
      nodes: '3',
      options: '',
      body: 'sleep(0.1)',
      fields: { threads: '5', duration: '3' },
      vus: 5
    },
    { model: 'open', nodes: '1', options: ARRIVALS },
    { model: 'open', nodes: '3', options: ARRIVALS }
  ])(
    'rows equal hits: $model model, nodes: $nodes',
    async ({ nodes, options, body, fields = {}, vus }) => {
      const files = {
        'shop.js': script(`${options ? `${options},` : ''} thresholds: { checks: ['rate==1'] }`, body)
      }
      const run = await finish(formOf(files, fields, specFields({ instance_quantity: nodes })))
      expect(run.json).toMatchObject({
        ...{ status: 'finished', remote_errors: null, tool: expect.stringMatching(/^k6-\d+\.\d+/) },
        tool_thresholds: [{ text: 'k6: checks rate==1', holds: true }]
      })
      const rows = await requestsOf(run)
      expect(rows).toHaveLength(target.hits())
      const threads = new Set(rows.map(({ threadName }) => threadName))
      // Each node starts one more at the very end of the duration; a busy machine drops some, less than 5 % without a word.
      const counted = vus === undefined ? target.hits() : threads.size
      expect(counted).toBeGreaterThanOrEqual(vus ?? 57)
      expect(counted).toBeLessThanOrEqual(vus ?? 60 + Number(nodes))
    },
    RUN_MS
  )

  test(
    'a crossed threshold, and an early stop by it, are no problem; an abort is one',
    async () => {
      const crossed = await finish(
        formOf({ 'shop.js': script("iterations: 2, thresholds: { checks: ['rate<0.1'] }") })
      )
      expect(crossed.json).toMatchObject({
        ...{ status: 'finished', remote_errors: null },
        tool_thresholds: [{ text: 'k6: checks rate<0.1', holds: false }]
      })
      const early =
        "thresholds: { checks: [{ threshold: 'rate<0.1', abortOnFail: true }] }, vus: 1, duration: '100s'"
      const stopped = await finish(formOf({ 'shop.js': script(early, 'sleep(0.1)') }))
      expect(stopped.json).toMatchObject({ status: 'finished', tool_thresholds: [{ holds: false }] })
      const body = "throw new Error('sold out')"
      const broken = await finish(formOf({ 'shop.js': script('iterations: 3', body) }))
      expect(broken.json.remote_errors).toMatch(/k6: an exception ended 3 iterations: Error: sold out/)
      const unread = await finish(formOf({ 'shop.js': 'export default function (' }))
      expect(unread.json.status).toBe('problem')
      expect(unread.json.remote_errors).toMatch(/k6 cannot read the script: .*shop\.js: Line 1:/)
    },
    RUN_MS
  )

  test(
    'thresholds are about all nodes together, whose counts are added up, and a node without VUs is idle',
    async () => {
      const thresholds = {
        http_reqs: ['count<10', 'count>20', 'rate<0.001'],
        checks: ['rate==1'],
        'http_req_failed{name:none}': ['rate<0.1']
      }
      const options = `vus: 2, iterations: 24, thresholds: ${JSON.stringify(thresholds)}`
      const run = await finish(
        formOf({ 'shop.js': script(options) }, {}, specFields({ instance_quantity: '3' }))
      )
      expect(run.json).toMatchObject({
        ...{ status: 'finished', remote_errors: null },
        tool_thresholds: [
          { text: 'k6: checks rate==1', holds: true },
          { text: 'k6: http_reqs count<10', holds: false, reason: 'the 2 nodes together have 24' },
          { text: 'k6: http_reqs count>20', holds: true },
          { text: 'k6: http_reqs rate<0.001', holds: false },
          {
            ...{ text: 'k6: http_req_failed{name:none} rate<0.1', holds: null },
            reason: expect.stringContaining('no samples')
          }
        ].sort((one, other) => (one.text < other.text ? -1 : 1))
      })
      expect(target.hits()).toBe(24)
    },
    RUN_MS
  )

  test(
    'stopped in the middle: what was answered has a row, and nothing is left running',
    async () => {
      const id = await createRun(service, formOf({ 'shop.js': ENDLESS }))
      await target.reaches(100)
      const pids = [...processes(PROGRAM), ...processes(RUNNING)].map(({ pid }) => pid)
      expect(pids).toHaveLength(2)
      expect((await get(service, `/runs/${id}/stop`)).status).toBe(200)
      const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
      expect(run.json.status).toBe('finished')
      const missing = target.hits() - (await requestsOf(run)).length
      expect(missing).toBeGreaterThanOrEqual(0)
      expect(missing).toBeLessThanOrEqual(4)
      expect(pids.map(isAlive)).toEqual([false, false])
    },
    RUN_MS
  )

  test(
    'the process of a node is killed: a problem, its samples are kept, and no k6 is left',
    async () => {
      const id = await createRun(service, formOf({ 'shop.js': ENDLESS }))
      await target.reaches(200)
      const [program] = processes(PROGRAM)
      const [k6] = processes(RUNNING)
      process.kill(program!.pid, 'SIGKILL')
      const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
      expect(run.json.status).toBe('problem')
      expect(run.json.remote_errors).toMatch(/The process that runs k6 ended too early \(killed by SIGKILL\)/)
      expect((await requestsOf(run)).length).toBeGreaterThan(0)
      await until(() => !isAlive(k6!.pid))
    },
    RUN_MS
  )

  test(
    'a secret is in no command line, log or result; variables of a file and of parameters arrive',
    async () => {
      const body = `console.log('it is ' + __ENV.PASSWORD + ' ' + __ENV.STAGE)
        http.get('http://127.0.0.1:' + __ENV.PORT + '/' + __ENV.STAGE + '?t=' + __ENV.password)
        sleep(0.1)
        throw new Error(__ENV.PASSWORD)`
      const files = {
        'shop.js': script('vus: 1, iterations: 30', body),
        environment: 'STAGE=test\n'
      }
      const id = await createRun(
        service,
        formOf(files, { override_parameters: '-Jpassword=correct-horse-battery' })
      )
      await target.reaches(2)
      const lines = processes(/k6/).map(({ args }) => args)
      expect(lines.length).toBeGreaterThan(1)
      const run = await waitForStatus(service, `/runs/${id}`, ['finished', 'problem'], RUN_MS)
      expect(target.seen('/test')[0]).toMatchObject({ query: 't=correct-horse-battery' })
      expect(service.command.text()).toContain('it is *** test')
      const rows = await readRows(service, run)
      const all = JSON.stringify([lines, rows, run.json, service.command.text()])
      expect(all).not.toContain('correct-horse-battery')
      expect(logsOf(service, id)).toHaveLength(1)
    },
    RUN_MS
  )

  test(
    'a machine without k6 says how to install it',
    async () => {
      const other = await serveBundle({ K6: '', PATH: '/usr/bin:/bin' })
      try {
        const run = await finish(formOf({ 'shop.js': ENDLESS }), other)
        expect(run.json.status).toBe('problem')
        expect(run.json.remote_errors).toMatch(/^There is no k6: .*grafana\/setup-k6-action@v1.*go install/)
      } finally {
        await other.stop()
      }
    },
    RUN_MS
  )

  test('another tool’s plan is refused before a run is created', async () => {
    const reply = await postForm(service, '/runs', formOf({ 'plan.jmx': '' }))
    expect([reply.status, reply.json.error]).toEqual([
      422,
      expect.stringContaining('plan.jmx is not a script of k6')
    ])
  })

  test(
    'the action with base-url: local has a sample for every request',
    async () => {
      const artifacts = new ArtifactService()
      await artifacts.start()
      const step = new Step()
      try {
        step.env = { ...artifacts.env, K6: K6 }
        step.write('shop.js', script('', 'sleep(0.1)'))
        step.inputs = {
          ...{ 'base-url': 'local', tool: 'k6', files: 'shop.js', threads: '3', duration: '3s' },
          ...{ thresholds: 'error_rate < 1%', 'override-parameters': `-Jport=${target.port}` }
        }
        const result = await step.main()
        expect(result.log).toContain('Load gate passed: ')
        expect(result.outputs).toMatchObject({ verdict: 'passed', status: 'finished' })
        expect(JSON.parse(result.outputs.metrics!)).toMatchObject({
          overall: { samples: target.hits(), failures: 0 }
        })
      } finally {
        await artifacts.stop()
        step.remove()
      }
    },
    RUN_MS
  )
})
