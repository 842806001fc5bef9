import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Command } from '../e2e/cli-command.js'
import { describeWithCluster, PodStage, TOOLS_IMAGE } from '../support/kubernetes/stage.js'
import { ArtifactService } from '../support/step/artifact-service.js'
import { Step } from '../support/step/step.js'
import { javaPlan } from '../tools/gatling-plans.js'

const TOKEN = 'a-token-for-this-test'
const JOB_TOKEN = 'a-job-token-for-this-test'

let stage: PodStage
beforeEach(async () => {
  stage = await new PodStage().start()
})
afterEach(() => stage.close())

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

describeWithCluster('after a SIGKILL of main', () => {
  let artifacts: ArtifactService
  let step: Step
  beforeEach(async () => {
    artifacts = await new ArtifactService().start()
    step = new Step()
    for (const name of ['plan.jmx', 'users.csv'])
      step.write(name, readFileSync(join(stage.folder, name), 'utf8'))
    step.env = { ...artifacts.env, KUBECONFIG: stage.kubeconfig, GITHUB_TOKEN: JOB_TOKEN }
    step.inputs = {
      'base-url': 'local',
      files: 'plan.jmx\nusers.csv',
      regions: stage.regions(),
      grids: stage.grids({ region: 'here', instance_quantity: 2 }),
      duration: '4m',
      threads: '2',
      'override-parameters': stage.parameters,
      'github-token': JOB_TOKEN
    }
  })
  afterEach(async () => {
    await artifacts.stop()
    step.remove()
  })

  test('post deletes what is ours and nothing else; without it, the deadline of the Job would', async () => {
    const other = { metadata: { name: 'of-others' }, spec: { suspend: true, template: POD } }
    await stage.api.request('POST', `/apis/batch/v1/namespaces/${stage.namespace}/jobs`, other)
    const main = step.start('main')
    const ended = step.result(main)
    await stage.atWork(2)
    main.kill('SIGKILL')
    await ended
    const left = (await stage.jobs()).filter(({ metadata }) => metadata.name !== 'of-others')
    // Two minutes to start, nine of stop_after, and ten.
    expect(left.map(({ spec }) => spec)).toEqual([
      expect.objectContaining({
        activeDeadlineSeconds: 60 * (2 + 9 + 10),
        ttlSecondsAfterFinished: expect.any(Number)
      })
    ])
    const specifications = JSON.stringify([left, await stage.pods()])
    for (const secret of [JOB_TOKEN, artifacts.env.ACTIONS_RUNTIME_TOKEN!])
      expect(specifications).not.toContain(secret)
    expect(JSON.stringify(step.read('state'))).not.toContain('PRIVATE KEY')
    const post = await step.post()
    expect(post.code).toBe(0)
    expect((await stage.jobs()).map(({ metadata }) => metadata.name)).toEqual(['of-others'])
    // The default leaves it to the garbage collector, which may be busy.
    const now = 'propagationPolicy=Background'
    await stage.api.request('DELETE', `/apis/batch/v1/namespaces/${stage.namespace}/jobs/of-others?${now}`)
    expect(await stage.leftBehind()).toEqual([])
  })

  test('post says what to run where the cluster cannot be reached any more', async () => {
    const kubeconfig = join(stage.folder, 'kubeconfig')
    copyFileSync(stage.kubeconfig, kubeconfig)
    step.env.KUBECONFIG = kubeconfig
    const main = step.start('main')
    const ended = step.result(main)
    await stage.atWork(2)
    main.kill('SIGKILL')
    await ended
    rmSync(kubeconfig)
    const post = await step.post()
    expect(post.log).toMatch(/kubectl .*delete .*-l .*loadgate\.dev\/marker=\w+/)
    copyFileSync(stage.kubeconfig, kubeconfig)
    expect((await step.post()).log).toContain('Deleted 1 Job and its pods')
    expect(await stage.leftBehind()).toEqual([])
  })
})

const POD = {
  spec: { restartPolicy: 'Never', containers: [{ name: 'node', image: 'localhost/loadgate/pause:1' }] }
}

/** Compiled in a pod, which is at work when the next service comes. */
const GATLING_PLAN = javaPlan(
  'during(Duration.ofSeconds(20)).on(pause(Duration.ofMillis(200)), http("home").get("/"))'
)

describeWithCluster('after a SIGKILL of loadgate serve', () => {
  test.each([
    { tool: 'jmeter', files: 'plan.jmx\nusers.csv', duration: ['--duration', '20s'], keys: {} },
    { tool: 'gatling', files: 'Plan.java', duration: [], keys: { image: TOOLS_IMAGE } }
  ])('$tool: the next one goes on with the run, and every sample arrives', async (given) => {
    const { tool, files, duration, keys } = given
    writeFileSync(join(stage.folder, 'Plan.java'), GATLING_PLAN)
    const port = await freePort()
    const serve = async (): Promise<Command> => {
      const args = ['serve', '--port', String(port), '--data', 'data', '--regions', stage.regions(keys)]
      const command = stage.command(args, { LOADGATE_TOKEN: TOKEN })
      await command.shows(/^Address: /m)
      return command
    }
    const first = await serve()
    const gate = stage.command(
      [
        ...['run', '--base-url', `http://127.0.0.1:${port}`, '--tool', tool, '--files', files],
        ...['--grids', stage.grids({ region: 'here', instance_quantity: 2 }), '--output', 'out'],
        ...[...duration, '--threads', '4', '--thresholds', 'error_rate < 1%'],
        ...[
          '--override-parameters',
          tool === 'jmeter' ? stage.parameters : stage.parameters.replaceAll('-J', '-D')
        ]
      ],
      { LOADGATE_TOKEN: TOKEN }
    )
    await stage.atWork(2, 40)
    first.child.kill('SIGKILL')
    await first.ended
    const second = await serve()
    const result = await stage.result(gate)
    expect(result.text).toContain('PASSED')
    expect(result).toMatchObject({ code: 0, verdict: 'passed', samples: stage.target.hits() })
    expect(await stage.leftBehind()).toEqual([])
    second.child.kill('SIGTERM')
    expect((await second.ended).code).toBe(0)
  })
})
