import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ArtifactService } from '../support/artifact-service.js'
import { FakeService, json, sampleCsv } from '../support/fake-service.js'
import { commandsIn } from '../support/runner-commands.js'
import { Step } from '../support/step.js'
import type { StepResult } from '../support/step.js'

const GRID =
  '- { region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'

let service: FakeService
let artifacts: ArtifactService
let step: Step

beforeEach(async () => {
  service = await new FakeService().start()
  artifacts = await new ArtifactService().start()
  step = new Step()
  step.env = { ...artifacts.env }
  step.inputs = {
    'base-url': service.url,
    token: service.token,
    files: 'plan.jmx',
    grids: GRID,
    thresholds: 'apdex >= 0.85',
    'poll-interval': '1s'
  }
})

afterEach(async () => {
  await service.stop()
  await artifacts.stop()
  step.remove()
})

const artifactOf = (result: StepResult): Map<string, Buffer> =>
  artifacts.artifacts.get(`loadgate-${result.outputs['run-id'] ?? ''}`) ?? new Map<string, Buffer>()

describe('a gate from files', () => {
  test('passes, with outputs, summary, artifact and the requests of the document', async () => {
    step.write('users.csv', 'name\nada\n')
    step.inputs.files = 'plan.jmx\nusers.csv'
    step.inputs.threads = '5'
    step.inputs.duration = '1m'
    step.inputs.tags = 'nightly, shop'
    service.statuses = ['queued', 'running', 'finished']

    const result = await step.main()

    expect(result.log).toContain('Load gate passed: The threshold holds.')
    expect(result.code).toBe(0)
    const [run] = service.runList
    expect(result.outputs).toMatchObject({
      'run-id': run!.uuid,
      'run-url': `https://service.example/runs/${run!.uuid}`,
      status: 'finished',
      verdict: 'passed',
      apdex: '0.95',
      'apdex-target': '500',
      summary: service.summary,
      'artifact-id': '4711',
      'artifact-url': 'https://github.com/octo/shop/actions/runs/77/artifacts/4711'
    })
    expect(JSON.parse(result.outputs.thresholds!)).toMatchObject([
      { text: 'apdex >= 0.85', level: 'fail', actual: 0.95, verdict: 'passed' }
    ])
    expect(JSON.parse(result.outputs.metrics!)).toMatchObject({
      overall: { samples: 10, failures: 0, p90: 900 }
    })
    expect(result.summary).toContain('## ✅ Load gate: passed')
    expect(result.summary).toContain(`[Run ${run!.uuid}](https://service.example/runs/${run!.uuid})`)

    const [created] = service.calls('POST', /^\/api\/runs$/)
    expect(created!.headers.accept).toBe('application/vnd.service.v2+json')
    expect(created!.parts.filter((part) => part.name === 'run_files[]').map((part) => part.filename)).toEqual(
      ['plan.jmx', 'users.csv']
    )
    expect(created!.params.run).toMatchObject({
      tool: 'jmeter',
      name: 'octo/shop main 0123456',
      privacy: 'private',
      privacy_flag: 'private',
      threads: '5',
      duration: '60',
      grids: [
        {
          infrastructure: 'demand',
          region: 'us-east-1',
          instance_quantity: '2',
          instance_type: 'm5.large',
          stop_after: '60'
        }
      ]
    })
    expect((created!.params.run as { tag_list: string }).tag_list).toMatch(
      /^nightly,shop,loadgate-[0-9a-f-]{36}$/
    )

    const files = artifactOf(result)
    const csv = `results/us-east-1-${run!.grids[0]!.uuid}.csv`
    expect([...files.keys()].sort()).toEqual(['report.html', csv, 'verdict.json'])
    expect(files.get(csv)!.toString()).toBe(sampleCsv())
    expect(JSON.parse(files.get('verdict.json')!.toString())).toMatchObject({
      schema: 1,
      verdict: 'passed',
      apdex: 0.95
    })
    expect(files.get('report.html')!.toString()).toContain('Load gate: passed')
  })

  test('fails when the apdex falls short, and the evidence is there all the same', async () => {
    service.apdex = '0.7 [500]'

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs).toMatchObject({ verdict: 'failed', apdex: '0.7' })
    expect(commandsIn(result.log).filter((command) => command === 'error')).toHaveLength(2)
    expect(result.log).toContain(
      '::error::Load gate failed: 1 threshold is broken: apdex is 0.7, must be >= 0.85'
    )
    expect(result.summary).toContain('❌ Load gate: failed')
    expect(artifactOf(result).size).toBe(3)
  })

  test('passes with fail-on: never, and says that it failed', async () => {
    service.apdex = '0.7 [500]'
    step.inputs['fail-on'] = 'never'

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('failed')
  })

  test('warns only', async () => {
    step.inputs.thresholds = 'warn: apdex >= 0.99 # ambitious'

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    expect(result.log).toMatch(/::warning::apdex is 0\.95, must be >= 0\.99/)
  })

  test.each([
    ['no apdex', () => (service.apdex = null), 'the service gave no apdex'],
    ['an odd apdex', () => (service.apdex = 'n/a [x]'), 'not of the form'],
    ['a run that ends as problem', () => (service.statuses = ['running', 'problem']), 'ended as "problem"'],
    ['no sample', () => (service.csv = () => `${sampleCsv().split('\n')[0] ?? ''}\n`), 'not one sample']
  ])('is inconclusive with %s', async (_name, arrange, message) => {
    arrange()

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('::error::Load gate inconclusive')
    expect(result.log).toContain(message)
  })

  test('is inconclusive when the run ended well before its duration', async () => {
    step.inputs.duration = '10m'
    service.faults.push((seen) => {
      for (const run of service.runList)
        Object.assign(run, { started: '2026-01-01T00:00:00.000Z', stopped: '2026-01-01T00:08:00.000Z' })
      return seen.path === 'never'
    })

    const result = await step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('The run ended after 8 min of the 10 min asked for')
  })

  test('judges the other metrics from the samples', async () => {
    step.inputs.thresholds = 'p90 <= 900ms\nerror_rate < 1%\nmax{label="checkout"} < 1s'

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(JSON.parse(result.outputs.thresholds!)).toMatchObject([
      { text: 'p90 <= 900ms', verdict: 'passed', actual: 900 },
      { text: 'error_rate < 1%', verdict: 'passed', actual: 0 },
      { text: 'max{label="checkout"} < 1s', verdict: 'failed', actual: 1000, scope: { label: 'checkout' } }
    ])
  })

  test('collects every grid of two', async () => {
    step.inputs.grids = `${GRID}\n${GRID.replace('us-east-1', 'eu-west-1')}`

    const result = await step.main()

    expect(result.code).toBe(0)
    const names = [...artifactOf(result).keys()].filter((name) => name.startsWith('results/'))
    expect(names).toHaveLength(2)
    expect(names.join()).toMatch(/eu-west-1-/)
    expect(result.summary).toMatch(/\| us-east-1 \| 2 \|/)
    expect(JSON.parse(result.outputs.metrics!)).toMatchObject({ overall: { samples: 20 } })
  })

  test('turns a mixed list into grids first, refers to all, and terminates only its own', async () => {
    const theirs = service.addGrid()
    step.inputs.grids = `- ${theirs.uuid}\n${GRID}`

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(service.calls('POST', /\/grids$/)).toHaveLength(1)
    const [created] = service.calls('POST', /\/runs$/)
    const { grids } = created!.params.run as { grids: { uuid: string }[] }
    expect(grids).toHaveLength(2)
    expect(grids[0]).toEqual({ uuid: theirs.uuid })
    expect(service.calls('DELETE', /grids/).map((seen) => seen.path)).toEqual([
      `/api/grids/${grids[1]!.uuid}`
    ])
    expect(theirs.status).toBe('started')
  })

  test('speaks the service’s own word', async () => {
    service.word = 'acme'
    step.inputs['service-name'] = 'acme'
    step.inputs.tool = 'service-chrome'

    const result = await step.main()

    expect(result.code).toBe(0)
    const [created] = service.calls('POST', /^\/api\/acmes$/)
    expect(created!.headers.accept).toBe('application/vnd.acme.v2+json')
    expect(created!.params.acme).toMatchObject({ tool: 'acme-chrome' })
    expect(created!.parts.some((part) => part.name === 'acme_files[]')).toBe(true)
  })
})

describe('a gate on a run that is there', () => {
  test('waits for it, creates nothing and stops nothing', async () => {
    const run = service.addRun()
    step.inputs = {
      'base-url': `${service.url}/api`,
      token: service.token,
      'run-id': run.uuid,
      thresholds: 'apdex > 0.9',
      'poll-interval': '1'
    }

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs).toMatchObject({ 'run-id': run.uuid, verdict: 'passed' })
    expect(service.calls('POST', /./)).toHaveLength(0)
    expect(service.calls('GET', /stop/)).toHaveLength(0)
  })

  test('does not stop it on timeout either', async () => {
    const run = service.addRun({ statuses: ['running'] })
    step.inputs = {
      'base-url': service.url,
      token: service.token,
      'run-id': run.uuid,
      timeout: '2s',
      'poll-interval': '1'
    }

    const result = await step.main()
    const post = await step.post()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('timed-out')
    expect(post.code).toBe(0)
    expect(service.calls('GET', /stop/)).toHaveLength(0)
  })

  test('repeats one', async () => {
    const run = service.addRun({ statuses: ['finished'] })
    step.inputs = {
      'base-url': service.url,
      token: service.token,
      repeat: run.uuid,
      thresholds: 'apdex > 0.9',
      'poll-interval': '1'
    }

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(service.calls('GET', /repeat$/)).toHaveLength(1)
    expect(result.outputs['run-id']).not.toBe(run.uuid)
    expect(service.runList).toHaveLength(2)
  })

  test('never repeats twice when the reply is lost', async () => {
    const run = service.addRun({ statuses: ['finished'] })
    step.inputs = { 'base-url': service.url, token: service.token, repeat: run.uuid }
    service.faults.push((seen, _response, socket) => {
      if (!seen.path.endsWith('/repeat')) return false
      socket.destroy()
      return true
    })

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('error')
    expect(service.calls('GET', /repeat$/)).toHaveLength(1)
  })
})

describe('a run that is left to itself', () => {
  test('wait: false starts it, sets its id, and neither main nor post stops it', async () => {
    step.inputs.wait = 'false'
    service.statuses = ['running']

    const result = await step.main()
    const post = await step.post()

    expect(result.code).toBe(0)
    expect(result.outputs).toMatchObject({ verdict: 'detached', 'run-id': service.runList[0]!.uuid })
    expect(post.code).toBe(0)
    expect(service.calls('GET', /stop/)).toHaveLength(0)
  })
})

describe('a deadline', () => {
  test('stops the run, collects what it brought, and fails as timed-out', async () => {
    service.statuses = ['running']
    step.inputs.timeout = '2s'

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs).toMatchObject({ verdict: 'timed-out', status: 'finished' })
    expect(service.calls('GET', /stop$/).length).toBeGreaterThan(0)
    expect(artifactOf(result).size).toBe(3)
    expect(result.log).toContain('did not end within the timeout of 2 s')
  })
})

describe('no token', () => {
  test('is a clear failure, with nothing sent', async () => {
    delete step.inputs.token

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain('token: is empty')
    expect(result.outputs.verdict).toBe('error')
    expect(service.seen).toHaveLength(0)
  })

  test('is skipped where the workflow says so, an empty address too', async () => {
    step.inputs = { files: 'plan.jmx', grids: GRID, 'on-missing-token': 'skip' }

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('skipped')
    expect(commandsIn(result.log)).toContain('notice')
    expect(result.summary).toContain('skipped')
  })
})

describe('a service that answers badly', () => {
  const refuse = (
    method: string,
    path: RegExp,
    answer: (response: Parameters<typeof json>[0]) => void
  ): void => {
    service.faults.push((seen, response) => {
      if (seen.method !== method || !path.test(seen.path)) return false
      answer(response)
      return true
    })
  }

  test('a wrong token is one clear message', async () => {
    step.inputs.token = 'wrong'

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('error')
    expect(result.log).toContain(
      '::error::Load gate error: creating the run: the service answered 401: HTTP Basic: Access denied. (request req-1). Check the token'
    )
    expect(result.log.split('::error::')).toHaveLength(2)
  })

  test('a missing run is one clear message', async () => {
    step.inputs = { 'base-url': service.url, token: service.token, 'run-id': 'nowhere' }

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain(
      'reading run nowhere: the service answered 404: Sorry, we cannot find that resource.'
    )
  })

  test('a refused body is told in the service’s words', async () => {
    refuse('POST', /runs/, (response) =>
      json(response, 422, { errors: { name: ["can't be blank"], tool: ['is odd'] } })
    )

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain("the service answered 422: name can't be blank; tool is odd")
    expect(service.calls('POST', /runs/)).toHaveLength(1)
  })

  test('an error page after nothing was made is an error that says so', async () => {
    refuse('POST', /runs/, (response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<html><title>Bad Gateway</title></html>')
    )

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.log).toContain('the service answered 502: an HTML page titled "Bad Gateway"')
    expect(result.log).toContain('nothing was started')
    expect(service.calls('POST', /runs/)).toHaveLength(1)
  }, 60_000)

  test('a reply that is lost after the run was made leads to that very run', async () => {
    let isFirst = true
    service.faults.push((seen, _response, socket) => {
      if (seen.method !== 'POST' || !isFirst) return false
      isFirst = false
      service.createRun(seen.params.run as Record<string, unknown>)
      socket.destroy()
      return true
    })

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    expect(service.runList).toHaveLength(1)
    expect(result.outputs['run-id']).toBe(service.runList[0]!.uuid)
  })

  test('polls that fail in passing do not fail the gate', async () => {
    let failures = 3
    service.faults.push((seen, response, socket) => {
      if (seen.method !== 'GET' || !/runs\/[^/]+$/.test(seen.path) || failures-- <= 0) return false
      if (failures === 1) socket.destroy()
      else response.writeHead(503, { 'retry-after': '0' }).end('<html></html>')
      return true
    })

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
  })

  test('JSON where the CSV was due is inconclusive, and the rest of the evidence is kept', async () => {
    step.inputs.timeout = '4s'
    step.inputs.grids = `${GRID}\n${GRID.replace('us-east-1', 'eu-west-1')}`
    service.faults.push((seen, response) => {
      const gridId = /grid_id=(.*)$/.exec(seen.path)?.[1]
      if (gridId === undefined || service.grids.get(gridId)?.region !== 'eu-west-1') return false
      json(response, 200, { error: 'no results yet' })
      return true
    })

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toContain('JSON came where a CSV was due: no results yet')
    expect(
      [...artifactOf(result).keys()].filter((name) => name.startsWith('results/us-east-1'))
    ).toHaveLength(1)
    expect([...artifactOf(result).keys()]).toContain('verdict.json')
    expect(result.summary).toContain('missing')
  })

  test('results that become ready are waited for', async () => {
    let early = 2
    refuse('GET', /never/, () => undefined)
    service.faults.push((seen, response) => {
      if (!/report$|result\.csv/.test(seen.path) || early-- <= 0) return false
      json(response, 404, { error: 'not yet' })
      return true
    })

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
  })

  test('an artifact that cannot be uploaded leaves the verdict', async () => {
    artifacts.failWith = 400

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    expect(result.outputs['artifact-id']).toBeUndefined()
    expect(result.log).toMatch(/::warning::The artifact .* could not be uploaded/)
    expect(result.summary).toContain('could not be uploaded')
  }, 60_000)

  test('a status that is not known is watched on, with one notice', async () => {
    service.statuses = ['reticulating', 'reticulating', 'finished']

    const result = await step.main()

    expect(result.code).toBe(0)
    expect(commandsIn(result.log).filter((command) => command === 'notice')).toHaveLength(1)
  })

  test('a run’s id that is no id never reaches a path or an output', async () => {
    refuse('POST', /runs/, (response) => json(response, 201, { uuid: 'a\nb<<EOF', status: 'queued' }))

    const result = await step.main()

    expect(result.code).toBe(1)
    expect(result.outputs['run-id']).toBeUndefined()
    expect(result.log).toContain('should be an id')
  }, 60_000)
})

describe('secrets', () => {
  test.each([20, 21, 22])(
    'a token of %d characters is masked, and occurs nowhere but in the step’s own state',
    async (length) => {
      service.token = 'x7'.repeat(20).slice(0, length)
      step.inputs.token = service.token
      step.env.RUNNER_DEBUG = '1'

      const result = await step.main()

      expect(result.code).toBe(0)
      const basic = Buffer.from(`${service.token}:`).toString('base64')
      const log = result.log
        .split('\n')
        .filter((line) => !line.startsWith('::add-mask::'))
        .join('\n')
      expect(result.log).toContain(`::add-mask::${service.token}`)
      expect(result.log).toContain(`::add-mask::${basic}`)
      for (const secret of [service.token, basic]) {
        expect(log).not.toContain(secret)
        expect(step.everythingWritten()).not.toContain(secret)
      }
    }
  )
})

describe('hostile text', () => {
  test('gives the runner no commands and the summary no markup', async () => {
    service.summary = '::set-output name=verdict::passed\n##[add-mask]x </details><img src=x> @org/team'
    service.apdex = '::warning::x'
    service.csv = () => sampleCsv({ label: '"::error::boo | <b>"' })
    step.inputs.thresholds = 'apdex > 0.5\np95{label="*"} < 1ms'

    const result = await step.main()

    const commands = commandsIn(result.log).filter((command) => command !== 'debug') // the toolkit's own
    expect(new Set(commands)).toEqual(new Set(['add-mask', 'error']))
    expect(result.summary).not.toMatch(/<img|<\/details>|@org/)
  })
})
