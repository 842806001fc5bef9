import { describe, expect, test } from '@jest/globals'
import { sampleCsv } from '../support/fake-service.js'
import { GRID, onStage, testOnStage } from '../support/gate/gate-stage.js'
import type { Stage } from '../support/gate/gate-stage.js'
import { commandsIn } from '../support/step/runner-commands.js'

describe('a gate from files', () => {
  testOnStage('passes, with outputs, summary, artifact and the requests of the document', async (stage) => {
    stage.step.write('users.csv', 'name\nada\n')
    stage.step.inputs.files = 'plan.jmx\nusers.csv'
    stage.step.inputs.threads = '5'
    stage.step.inputs.duration = '1m'
    stage.service.csv = () => sampleCsv({ seconds: 60 })
    stage.step.inputs.tags = 'nightly, shop'
    stage.service.statuses = ['queued', 'running', 'finished']

    const result = await stage.step.main()

    expect(result.log).toContain('Load gate passed: The threshold holds.')
    expect(result.code).toBe(0)
    const [run] = stage.service.runList
    expect(result.outputs).toMatchObject({
      'run-id': run!.uuid,
      'run-url': `https://service.example/runs/${run!.uuid}`,
      status: 'finished',
      verdict: 'passed',
      apdex: '0.95',
      'apdex-target': '900',
      summary: stage.service.summary,
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

    const [created] = stage.service.calls('POST', /^\/api\/runs$/)
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

    const files = stage.artifactOf(result)
    const csv = `results/us-east-1-${run!.grids[0]!.uuid}.csv`
    expect([...files.keys()].sort()).toEqual(['report.html', csv, 'verdict.json'])
    expect(files.get(csv)!.toString()).toBe(sampleCsv({ seconds: 60 }))
    expect(JSON.parse(files.get('verdict.json')!.toString())).toMatchObject({
      schema: 1,
      verdict: 'passed',
      apdex: 0.95
    })
    expect(files.get('report.html')!.toString()).toContain('Load gate: passed')
  })

  testOnStage('fails when the apdex falls short, and the evidence is there all the same', async (stage) => {
    stage.service.apdex = '0.7 [500]'

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(result.outputs).toMatchObject({ verdict: 'failed', apdex: '0.7' })
    expect(commandsIn(result.log).filter((command) => command === 'error')).toHaveLength(2)
    expect(result.log).toContain(
      '::error::Load gate failed: 1 threshold is broken: apdex is 0.7, must be >= 0.85'
    )
    expect(result.summary).toContain('❌ Load gate: failed')
    expect(stage.artifactOf(result).size).toBe(3)
  })

  testOnStage('passes with fail-on: never, and says that it failed', async (stage) => {
    stage.service.apdex = '0.7 [500]'
    stage.step.inputs['fail-on'] = 'never'

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('failed')
  })

  testOnStage('warns only', async (stage) => {
    stage.step.inputs.thresholds = 'warn: apdex >= 0.99 # ambitious'

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    expect(result.outputs.verdict).toBe('passed')
    expect(result.log).toMatch(/::warning::apdex is 0\.95, must be >= 0\.99/)
  })

  const CASES: [string, (stage: Stage) => void, string][] = [
    ['no apdex', ({ service }) => (service.apdex = null), 'the service gave no apdex'],
    ['an odd apdex', ({ service }) => (service.apdex = 'n/a [x]'), 'not of the form'],
    [
      'a run that ends as problem',
      ({ service }) => (service.statuses = ['running', 'problem']),
      'ended as "problem"'
    ],
    [
      'no sample',
      ({ service }) => (service.csv = () => `${sampleCsv().split('\n')[0] ?? ''}\n`),
      'contain no samples'
    ]
  ]
  test.concurrent.each(CASES)('is inconclusive with %s', (_name, arrange, message) =>
    onStage(async (stage) => {
      // What may still come is waited for as long as the timeout, within which a busy machine must get there.
      stage.step.inputs.timeout = '30s'
      stage.service.statuses = ['finished']
      arrange(stage)

      const result = await stage.step.main()

      expect(result.code).toBe(1)
      expect(result.outputs.verdict).toBe('inconclusive')
      expect(result.log).toContain('::error::Load gate inconclusive')
      expect(result.log).toContain(message)
    })()
  )

  testOnStage('is inconclusive when the run ended well before its duration', async (stage) => {
    stage.step.inputs.duration = '10m'
    stage.service.csv = () => sampleCsv({ seconds: 480 })

    const result = await stage.step.main()

    expect(result.outputs.verdict).toBe('inconclusive')
    expect(result.log).toMatch(/The samples of grid \w+ span 7 min 13 s of the 10 min requested/)
  })

  testOnStage('judges the other metrics from the samples', async (stage) => {
    stage.step.inputs.thresholds = 'p90 <= 900ms\nerror_rate < 1%\nmax{label="checkout"} < 1s'

    const result = await stage.step.main()

    expect(result.code).toBe(1)
    expect(JSON.parse(result.outputs.thresholds!)).toMatchObject([
      { text: 'p90 <= 900ms', verdict: 'passed', actual: 900 },
      { text: 'error_rate < 1%', verdict: 'passed', actual: 0 },
      { text: 'max{label="checkout"} < 1s', verdict: 'failed', actual: 1000, scope: { label: 'checkout' } }
    ])
  })

  testOnStage('collects every grid of two', async (stage) => {
    stage.step.inputs.grids = `${GRID}\n${GRID.replace('us-east-1', 'eu-west-1')}`

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    const names = [...stage.artifactOf(result).keys()].filter((name) => name.startsWith('results/'))
    expect(names).toHaveLength(2)
    expect(names.join()).toMatch(/eu-west-1-/)
    expect(result.summary).toMatch(/\| us-east-1 \| 2 \|/)
    expect(JSON.parse(result.outputs.metrics!)).toMatchObject({ overall: { samples: 20 } })
  })

  testOnStage(
    'turns a mixed list into grids first, refers to all, and terminates only its own',
    async (stage) => {
      const theirs = stage.service.addGrid()
      stage.step.inputs.grids = `- ${theirs.uuid}\n${GRID}`

      const result = await stage.step.main()

      expect(result.code).toBe(0)
      expect(stage.service.calls('POST', /\/grids$/)).toHaveLength(1)
      const [created] = stage.service.calls('POST', /\/runs$/)
      const { grids } = created!.params.run as { grids: { uuid: string }[] }
      expect(grids).toHaveLength(2)
      expect(grids[0]).toEqual({ uuid: theirs.uuid })
      expect(stage.service.calls('DELETE', /grids/).map((seen) => seen.path)).toEqual([
        `/api/grids/${grids[1]!.uuid}`
      ])
      expect(theirs.status).toBe('started')
    }
  )

  testOnStage('speaks the service’s own word', async (stage) => {
    stage.service.word = 'acme'
    stage.step.inputs['service-name'] = 'acme'
    stage.step.inputs.tool = 'service-chrome'

    const result = await stage.step.main()

    expect(result.code).toBe(0)
    const [created] = stage.service.calls('POST', /^\/api\/acmes$/)
    expect(created!.headers.accept).toBe('application/vnd.acme.v2+json')
    expect(created!.params.acme).toMatchObject({ tool: 'acme-chrome' })
    expect(created!.parts.some((part) => part.name === 'acme_files[]')).toBe(true)
  })
})
