import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, startCommand } from '../../e2e/cli-command.js'
import { KubeApi } from '../../support/kubernetes/api.js'
import { DeployedService } from '../../support/kubernetes/deployed-service.js'
import { describeWithCluster } from '../../support/kubernetes/stage.js'
import { type CountingTarget, startCountingTarget } from '../../support/tools/counting-target.js'

const { KUBECONFIG } = process.env
const BUILD_MS = 15 * 60_000
/** A pod whose readiness probe failed from the start would not be ready any more. */
const DRAINS_FOR_MS = 17_000
const GRID = {
  ...{ region: 'cluster', instance_type: 'small', instance_quantity: 2 },
  ...{ infrastructure: 'demand', stop_after: 9 }
}

/** Images get into a cluster of kind another way, and its network is not this machine's. */
const isKind = existsSync(KUBECONFIG ?? '') && new KubeApi(KUBECONFIG!).context.startsWith('kind-')
const describeOnOwnCluster = isKind ? describe.skip : describeWithCluster
if (isKind) console.warn('Skipped: the deployed service needs a cluster of scripts/cluster/up.')

/** Alone, for the service asks for one of this machine's cores, as its manifest says, and its nodes for most of the other. */
describeOnOwnCluster('examples/service/kubernetes.yaml, deployed', () => {
  let service: DeployedService
  let token = ''
  let target: CountingTarget
  const gates: Command[] = []

  beforeAll(async () => {
    service = new DeployedService(KUBECONFIG!)
    await service.prepare()
    for (const file of ['plan.jmx', 'users.csv'])
      cpSync(join('examples/shop', file), join(service.folder, file))
  }, BUILD_MS)
  afterAll(async () => {
    for (const { child } of gates) child.kill('SIGKILL')
    await service.remove()
  })
  beforeEach(async () => {
    target = await startCountingTarget(service.network.machine)
  })
  afterEach(() => target.close())

  function startGate(name: string, durationSec: number): Command {
    const gate = startCommand(
      [
        ...['run', '--base-url', service.url, '--files', 'plan.jmx\nusers.csv', '--name', name],
        ...['--output', name, '--grids', JSON.stringify([GRID]), '--duration', `${durationSec}s`],
        ...['--override-parameters', `-Jhost=${service.network.machine} -Jport=${target.port}`],
        ...['--threads', '4', '--thresholds', 'error_rate < 1%', '--poll-interval', '1s']
      ],
      {
        cwd: service.folder,
        env: { LOADGATE_TOKEN: token, NODE_EXTRA_CA_CERTS: join(service.folder, 'tls.crt') }
      }
    )
    gates.push(gate)
    return gate
  }

  /** The gate is green, every hit of the target is one of its samples, and the cluster has nothing left of the run. */
  async function expectWhole(name: string, gate: Command): Promise<void> {
    const { code } = await gate.ended
    expect({ code, said: code === 0 ? '' : gate.text() }).toEqual({ code: 0, said: '' })
    const { metrics } = JSON.parse(readFileSync(join(service.folder, name, 'verdict.json'), 'utf8')) as {
      metrics: { overall: { samples: number } }
    }
    expect(metrics.overall.samples).toBe(target.hits())
    expect(await service.gridsLeft()).toEqual([])
  }

  test('the commands of its head start it and add a user, who reads its metrics', async () => {
    const said = await service.deploy()
    ;[token = ''] = /lg_\S+/.exec(said.at(-1)!) ?? []
    expect(await service.get('/api/account', token)).toMatchObject({ status: 200 })
    const secret = await service.kubectl('get', 'secret', 'loadgate-metrics', '-o', 'jsonpath={.data.token}')
    const authorization = `Bearer ${Buffer.from(secret, 'base64').toString()}`
    const metrics = await service.get('/metrics', undefined, { authorization })
    expect(metrics.status).toBe(200)
    expect(metrics.text).toMatch(/^loadgate_stored_bytes [1-9]/m)
    expect((await service.get('/metrics')).status).toBe(401)
  })

  test('its pod is killed in the middle of a run: the next one goes on, and every sample arrives', async () => {
    const first = await service.pod()
    const gate = startGate('killed', 10)
    await target.reaches(40)
    await service.kubectl('delete', 'pod', first.metadata.name, '--force', '--grace-period=0')
    await expectWhole('killed', gate)
    const second = await service.pod()
    expect(second.metadata.uid).not.toBe(first.metadata.uid)
    expect(service.audited('service.start')).toBe(2)
  })

  test('its pod is deleted in the middle of a run: it drains and stays reachable, and then the next one starts', async () => {
    const { metadata } = await service.pod()
    const stops = service.audited('service.stop')
    const gate = startGate('drained', 26)
    await target.reaches(20)
    await service.kubectl('delete', 'pod', metadata.name, '--wait=false')
    await sleep(1000)
    const answers = new Set<string>()
    for (const endMs = Date.now() + DRAINS_FOR_MS; Date.now() < endMs;) {
      const pods = await service.pods()
      const { status } = await service.get('/readyz')
      answers.add(`${status} of ${pods.map(({ metadata: { uid } }) => uid).join(' and ')}`)
      await sleep(500)
    }
    expect([...answers]).toEqual([`503 of ${metadata.uid}`])
    await expectWhole('drained', gate)
    await service.kubectl('rollout', 'status', 'statefulset/loadgate')
    const next = await service.pod()
    expect(next.metadata.uid).not.toBe(metadata.uid)
    expect(next.status.containerStatuses).toEqual([expect.objectContaining({ ready: true, restartCount: 0 })])
    expect(service.audited('service.stop')).toBe(stops + 1)
  })
})
