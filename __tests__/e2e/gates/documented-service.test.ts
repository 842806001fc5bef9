import { describe, expect, test } from '@jest/globals'
import { existsSync } from 'node:fs'
import { DocumentedService, type Layout } from '../../support/documented-service.js'
import { GRID } from '../../support/gate/gate-stage.js'
import { Step, type Entry, type StepResult } from '../../support/step/step.js'
import { runCommand, until, type Ended } from '../cli-command.js'

// A service that knows nothing but the API document, wherever its API is, and all that calls it, as processes.

const GATE = {
  thresholds: 'apdex >= 0.85\np95 <= 1s\nerror_rate <= 0%',
  'poll-interval': '1s',
  artifact: 'false'
}
const FROM_FILES = { ...GATE, files: 'plan.jmx', grids: GRID }

class Scene {
  readonly #steps: Step[] = []

  constructor(
    readonly service: DocumentedService,
    readonly base: string
  ) {}

  /** A step with files of its own, as each job of a workflow has. */
  newStep(inputs: Record<string, string>): Step {
    const step = new Step()
    step.inputs = { 'base-url': this.base, token: this.service.token, ...inputs }
    this.#steps.push(step)
    return step
  }

  /** Main and post. */
  async use(inputs: Record<string, string>, entry: Entry = 'main'): Promise<StepResult> {
    const step = this.newStep(inputs)
    const result = await step.main(entry)
    const { code, log } = await step.post()
    expect({ code, log }).toMatchObject({ code: 0 })
    return result
  }

  type(...args: string[]): Promise<Ended> {
    const env = { LOADGATE_BASE_URL: this.base, LOADGATE_TOKEN: this.service.token }
    return runCommand(args, { cwd: this.newStep({}).workspace, env })
  }

  /** The path below which everything but the account was asked for. */
  get prefix(): string {
    const others = this.service.asked.filter((request) => !/^GET (\/api)?\/account$/.test(request))
    const [prefix = '', ...more] = new Set(
      others.map((request) => /^\w+ (\/api(?=\/))?/.exec(request)?.[1] ?? '')
    )
    expect(more).toEqual([])
    return prefix
  }

  async close(): Promise<void> {
    await this.service.stop()
    for (const step of this.#steps) step.remove()
  }
}

/** They run at the same time, for the processes wait more than they work. */
function testOnScene(
  name: string,
  [layout, path]: readonly [Layout, string],
  run: (scene: Scene) => Promise<void>
): void {
  test.concurrent(name, async () => {
    const service = await new DocumentedService(layout).start()
    const scene = new Scene(service, service.url + path)
    try {
      await run(scene)
    } finally {
      await scene.close()
    }
  })
}

describe.each<readonly [Layout, string]>([
  ['plain', ''],
  ['api', ''],
  ['api', '/api/'],
  ['both', ''],
  ['both', '/api'],
  ['redirect to api', ''],
  ['redirect to plain', ''],
  ['redirect to plain', '/api']
])('a service: %s, base-url with "%s"', (...place) => {
  testOnScene('is judged by main, and the log names the address', place, async (scene) => {
    const { service } = scene
    const { code, log, outputs } = await scene.use(FROM_FILES)
    expect({ code, outputs, log }).toMatchObject({ code: 0, outputs: { verdict: 'passed' } })
    expect(service.runList).toHaveLength(1)
    expect(log).toContain(`The API of the service is at ${service.url}${scene.prefix}.`)
    expect(service.oddities).toEqual([])
  })

  testOnScene('has a killed run stopped by post, which does not look for the API', place, async (scene) => {
    const { service } = scene
    service.statuses = ['queued']
    const step = scene.newStep(FROM_FILES)
    const child = step.start('main')
    await until(() => service.calls('GET', /\/runs\/[^/]+$/).length > 0)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    const before = service.seen.length
    const { code, log } = await step.post()
    expect({ code, log }).toMatchObject({ code: 0 })
    expect(service.runList.map(({ statuses }) => statuses)).toEqual([['finished']])
    expect(service.asked.slice(before).filter((request) => request.endsWith('/account'))).toEqual([])
    expect(service.oddities).toEqual([])
  })

  testOnScene('starts and stops a grid, which the gates of a matrix share', place, async (scene) => {
    const { service } = scene
    const started = await scene.use({ grids: GRID, keep: 'true' }, 'grid-start')
    expect(started).toMatchObject({ code: 0 })
    const { grids = '' } = started.outputs
    const [{ uuid } = { uuid: '' }] = JSON.parse(grids) as { uuid: string }[]
    const names = ['one', 'three', 'two']
    const gates = await Promise.all(
      names.map((name) => scene.use({ ...FROM_FILES, grids, name, matrix: JSON.stringify({ name }) }))
    )
    expect(gates.map(({ outputs }) => outputs.verdict)).toEqual(['passed', 'passed', 'passed'])
    expect(new Set(gates.map(({ outputs }) => outputs['run-id'])).size).toBe(3)
    expect(service.runList.map(({ name }) => name).sort()).toEqual(names)
    expect(service.calls('GET', /\/stop$/)).toEqual([])
    expect(service.grids.get(uuid)?.status).toBe('started')
    expect(await scene.newStep({ grids }).main('grid-stop')).toMatchObject({ code: 0 })
    expect(service.grids.get(uuid)?.status).toBe('stopped')
    expect(service.oddities).toEqual([])
  })

  testOnScene('repeats a run, and judges one that is there', place, async (scene) => {
    const { service } = scene
    const { uuid } = service.addRun({ statuses: ['finished'] })
    const repeated = await scene.use({ ...GATE, repeat: uuid })
    expect(repeated).toMatchObject({ code: 0, outputs: { verdict: 'passed' } })
    expect(repeated.outputs['run-id']).not.toBe(uuid)
    expect(service.calls('GET', /\/repeat$/)).toHaveLength(1)
    const judged = await scene.use({ ...GATE, 'run-id': uuid })
    expect(judged).toMatchObject({ code: 0, outputs: { verdict: 'passed', 'run-id': uuid } })
    expect(service.oddities).toEqual([])
  })

  testOnScene('is used by the command line', place, async (scene) => {
    const { service } = scene
    service.pageSize = 2
    for (let count = 0; count < 3; count++) service.addRun({ statuses: ['finished'] })
    const flags = ['--grids', GRID, '--thresholds', 'apdex >= 0.85', '--poll-interval', '1s']
    const gate = await scene.type('run', '--files', 'plan.jmx', ...flags)
    expect(gate).toMatchObject({ code: 0, out: expect.stringMatching(/^PASSED/m) })
    const { out } = await scene.type('runs', '--json')
    const { _embedded } = JSON.parse(out) as { _embedded: { runs: { uuid: string }[] } }
    expect(_embedded.runs.map(({ uuid }) => uuid)).toEqual([...service.runs.keys()].reverse())
    const [id = ''] = service.runs.keys()
    expect(await scene.type('report', id)).toMatchObject({ code: 0, out: `${service.summary}\n` })
    const results = JSON.parse((await scene.type('results', id, '--json')).out) as { path: string }[]
    expect(results.map(({ path }) => existsSync(path))).toEqual([true])
    expect(service.oddities).toEqual([])
  })
})

testOnScene('a service with its own word in place of run', ['plain', ''], async (scene) => {
  const { service } = scene
  service.word = 'acme'
  const { code, outputs, log } = await scene.use({ ...FROM_FILES, 'service-name': 'acme' })
  expect({ code, outputs, log }).toMatchObject({ code: 0, outputs: { verdict: 'passed' } })
  expect(service.asked).toContain('POST /acmes')
  expect(service.oddities).toEqual([])
})

describe('what cannot work is said before anything is sent', () => {
  const WRONG =
    'the service answered 401: HTTP Basic: Access denied. Check the token: it may be wrong, expired, or missing in this workflow'

  const entries: [Entry, Record<string, string>, Layout, string][] = [
    ['main', FROM_FILES, 'plain', `creating the run: ${WRONG}`],
    ['main', FROM_FILES, 'api', `creating the run: ${WRONG}`],
    ['main', { 'run-id': 'abc' }, 'plain', `reading run abc: ${WRONG}`],
    ['grid-start', { grids: GRID }, 'plain', `creating a grid in us-east-1: ${WRONG}`],
    ['grid-stop', { grids: '[{ uuid: abc }]' }, 'plain', `terminating grid abc: ${WRONG}`]
  ]
  for (const [entry, inputs, layout, words] of entries)
    testOnScene(`a wrong token: ${words.split(':')[0]!}, ${layout}`, [layout, ''], async (scene) => {
      const { code, log } = await scene.newStep({ ...inputs, token: 'not-the-token' }).main(entry)
      expect(code).toBe(1)
      expect(log).toContain(words)
      expect(scene.service.asked.filter((request) => !request.endsWith('/account'))).toEqual([])
    })

  testOnScene('a wrong token on the command line', ['api', ''], async (scene) => {
    scene.service.token = 'another-one-by-now'
    const { base } = scene
    const env = { LOADGATE_BASE_URL: base, LOADGATE_TOKEN: 'not-the-token' }
    const { code, err } = await runCommand(['runs'], { cwd: scene.newStep({}).workspace, env })
    expect({ code, err }).toEqual({ code: 2, err: `loadgate: listing the runs: ${WRONG}\n` })
  })

  testOnScene('a service that is down', ['plain', ''], async (scene) => {
    await scene.service.stop()
    const { code, log } = await scene.use({ ...GATE, 'run-id': 'abc', timeout: '5s' })
    expect(code).toBe(1)
    expect(log).toMatch(
      /reading run abc: \S+ refused the connection \(ECONNREFUSED\)\. Is the service up, and is base-url right\?/
    )
    await scene.service.start()
  })

  testOnScene('a path where there is only a web site', ['plain', '/shop'], async (scene) => {
    const { base } = scene
    const { code, log } = await scene.use(FROM_FILES)
    expect(code).toBe(1)
    expect(log).toContain(
      `The API of the service was not found: ${base}/account answered 404, ${base}/api/account answered 404. Continuing with ${base}, as it is written in base-url.`
    )
    expect(log).toMatch(
      /creating the run: the service answered 404: an HTML page titled ".*"\. Check the id and base-url/
    )
  })
})
