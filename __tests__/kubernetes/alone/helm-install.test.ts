import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { cpSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { startCommand } from '../../e2e/cli-command.js'
import { KubeApi } from '../../support/kubernetes/api.js'
import { DeployedService } from '../../support/kubernetes/deployed-service.js'
import { describeWithCluster } from '../../support/kubernetes/stage.js'
import { startCountingTarget } from '../../support/tools/counting-target.js'

const { KUBECONFIG } = process.env
const BUILD_MS = 15 * 60_000
const GRID = {
  ...{ region: 'cluster', instance_type: 'small', instance_quantity: 1 },
  ...{ infrastructure: 'demand', stop_after: 9 }
}

/** Images get into a cluster of kind another way, and its network is not this machine's. */
const isKind = existsSync(KUBECONFIG ?? '') && new KubeApi(KUBECONFIG!).context.startsWith('kind-')
if (isKind) console.warn('Skipped: the deployed service needs a cluster of scripts/cluster/up.')

/** Alone, for the service asks for one of this machine's cores. */
;(isKind ? () => undefined : describeWithCluster)('the Helm chart, installed', () => {
  let service: DeployedService
  let token = ''

  beforeAll(async () => {
    service = new DeployedService(KUBECONFIG!)
    await service.prepare()
    for (const file of ['plan.jmx', 'users.csv'])
      cpSync(join('examples/shop', file), join(service.folder, file))
  }, BUILD_MS)
  afterAll(() => service.remove())

  test('the commands of its README start it and add a user, whose gate is green', async () => {
    const said = await service.deployChart()
    ;[token = ''] = /lg_\S+/.exec(said.at(-1)!) ?? []
    expect(await service.get('/api/account', token)).toMatchObject({ status: 200 })
    const target = await startCountingTarget(service.network.machine)
    try {
      const gate = startCommand(
        [
          ...['run', '--base-url', service.url, '--files', 'plan.jmx\nusers.csv', '--output', 'chart'],
          ...['--grids', JSON.stringify([GRID]), '--duration', '5s', '--threads', '2', '--rampup', '0'],
          ...['--override-parameters', `-Jhost=${service.network.machine} -Jport=${target.port}`],
          ...['--thresholds', 'error_rate < 1%', '--poll-interval', '1s']
        ],
        {
          cwd: service.folder,
          env: { LOADGATE_TOKEN: token, NODE_EXTRA_CA_CERTS: join(service.folder, 'tls.crt') }
        }
      )
      const { code } = await gate.ended
      expect({ code, said: code === 0 ? '' : gate.text() }).toEqual({ code: 0, said: '' })
      expect(target.hits()).toBeGreaterThan(0)
    } finally {
      await target.close()
    }
  })

  test('an upgrade with another config is another pod with the same users', async () => {
    const before = await service.pod()
    const values = ['--reuse-values', '--set', 'config.drain=5m']
    await service.helm('upgrade', 'loadgate', 'helm', '-n', service.namespaces.service, ...values)
    await service.kubectl('rollout', 'status', 'statefulset/loadgate')
    expect((await service.pod()).metadata.uid).not.toBe(before.metadata.uid)
    expect(await service.get('/api/account', token)).toMatchObject({ status: 200 })
  })

  test('uninstalled, it leaves the volume claim and the namespace of the grids', async () => {
    await service.helm('uninstall', 'loadgate', '-n', service.namespaces.service, '--wait')
    expect(await service.kubectl('get', 'pvc', '-o', 'name')).toBe('persistentvolumeclaim/loadgate\n')
    expect(await service.kubectl('get', 'namespace', service.namespaces.grids, '-o', 'name')).toContain(
      '/load-'
    )
    expect(await service.kubectl('get', 'statefulset', '-o', 'name')).toBe('')
  })
})
