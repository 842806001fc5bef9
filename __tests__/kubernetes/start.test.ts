import { afterAll, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import { systemClock } from '../../src/contract/clock.js'
import type { Cluster } from '../../src/service/nodes/kubernetes/cluster.js'
import type { NodeCommand, NodeSet } from '../../src/service/nodes/load-node.js'
import { deleteMarked } from '../../src/service/nodes/pods/start/jobs.js'
import { PodGrids } from './pod-grid.js'

const { KUBECONFIG, LOADGATE_REQUIRE_KUBERNETES } = process.env
const describeWithCluster =
  KUBECONFIG === undefined && LOADGATE_REQUIRE_KUBERNETES === undefined ? describe.skip : describe

const all: PodGrids[] = []
afterAll(async () => {
  await Promise.all(all.map((grids) => grids.delete()))
})

async function createGrids(labels?: Record<string, string>): Promise<PodGrids> {
  const grids = await PodGrids.create(labels)
  all.push(grids)
  return grids
}

describeWithCluster('pods that start', () => {
  test('are the nodes of a grid', async () => {
    const grids = await createGrids({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    const set = await grids.open({}, { quantity: 2 })
    expect(set.nodes.map(({ memoryBytes }) => memoryBytes)).toEqual([64 * 2 ** 20, 64 * 2 ** 20])
    const names = (await grids.pods()).map(({ metadata }) => metadata.name)
    const places = [0, 1].map((index) => set.factsOf(index))
    expect(places.map(({ place }) => place.split(' ')[1])).toEqual(names.sort())
    expect(places[0]).toMatchObject({ cpuLimit: 0.1, restarts: 0 })
    expect(places[0]!.place).toMatch(/^pod loadgate-\w+-\w+-0-\w+ on the machine \S+ \(namespace loadgate-/)
    await set.close()
  })

  test('are found again by another service, which starts none', async () => {
    const grids = await createGrids()
    const gridId = 'abc123'
    const set = await grids.open({}, { gridId, quantity: 2 })
    const again = await grids.open({}, { gridId, quantity: 2, isContinued: true })
    expect([0, 1].map((index) => again.factsOf(index).place)).toEqual(
      [0, 1].map((index) => set.factsOf(index).place)
    )
    expect(await grids.pods()).toHaveLength(2)
    await Promise.all([set.close(), again.close()])
    expect(await grids.countLeftovers()).toBe(0)
    await expect(grids.open({}, { gridId, isContinued: true })).rejects.toThrow(/are gone/)
  })

  test("are each run's own, also at the same time and again with the same names", async () => {
    const grids = await createGrids()
    const [gridId, runId] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')]
    const first = await grids.open({}, { gridId, runId })
    const second = await grids.open({}, { gridId })
    const name = first.factsOf(0).name
    expect(second.factsOf(0).name).not.toBe(name)
    await first.close()
    expect(await grids.jobs()).toHaveLength(1)
    const third = await grids.open({}, { gridId, runId })
    expect(third.factsOf(0).name).not.toBe(name)
    expect(await grids.jobs()).toHaveLength(2)
    await Promise.all([second.close(), third.close()])
    expect(await grids.countLeftovers()).toBe(0)
  })

  test('are deleted by their marker, and others are not', async () => {
    const grids = await createGrids()
    await grids.open()
    const parts = { cluster: grids.cluster, clock: systemClock, isUnclear: false }
    expect(await deleteMarked('ffff', parts)).toBe(0)
    expect(await grids.jobs()).toHaveLength(1)
    expect(await deleteMarked(grids.marker, parts)).toBe(1)
  })
})

describeWithCluster('pods that do not start', () => {
  const cases: [name: string, place: Parameters<PodGrids['open']>[0], quantity: number, words: RegExp][] = [
    [
      'an image that is not there',
      { image: 'localhost/loadgate/none:1' },
      2,
      /^(?:All 2|1 of 2) pods of the grid in eu did not start \(.*Nodes? [12].*: ErrImageNeverPull: "Container image "localhost\/loadgate\/none:1" is not present/
    ],
    [
      'a registry that is not there',
      { image: 'registry.invalid/none:1', imagePullPolicy: 'IfNotPresent', startTimeoutMs: 3000 },
      1,
      /did not start within 3 s .*(ErrImagePull|ImagePullBackOff): ".*registry\.invalid.* Check `image` \(registry\.invalid\/none:1\)/
    ],
    [
      'no machine with the labels',
      { nodeSelector: { pool: 'none' }, startTimeoutMs: 2000 },
      1,
      /Unschedulable: "0\/1 nodes are available: 1 node\(s\) didn't match Pod's node affinity\/selector/
    ],
    [
      'no machine with as many cores',
      { instanceTypes: new Map([['small', { cpu: '1000', memory: '64Mi' }]]), startTimeoutMs: 2000 },
      1,
      /Unschedulable: ".*Insufficient cpu/
    ],
    [
      'a service account that is not there',
      { serviceAccount: 'none' },
      1,
      /FailedCreate: ".*serviceaccount "none" not found".*correct `service-account`/
    ]
  ]
  test.each(cases)('%s', async (_name, place, quantity, words) => {
    const grids = await createGrids()
    await expect(grids.open(place, { quantity })).rejects.toThrow(words)
  })

  test('a quota, and the one pod that it allows', async () => {
    const grids = await createGrids()
    const body = { metadata: { name: 'narrow' }, spec: { hard: { pods: '1' } } }
    await grids.cluster.request('POST', `${grids.path}/resourcequotas`, { body })
    await expect(grids.open({ startTimeoutMs: 4000 }, { quantity: 2 })).rejects.toThrow(
      /^1 of 2 pods of the grid in eu did not start within 4 s .* Node \d: FailedCreate: "Error creating: pods .* is forbidden: exceeded quota: narrow/
    )
  })

  test('rules of the namespace against the network of the machine', async () => {
    const grids = await createGrids({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    await expect(grids.open({ hostNetwork: true })).rejects.toThrow(
      /violates PodSecurity "restricted:latest": host namespaces .* `privileged`/
    )
  })

  test('a container without the shell', async () => {
    const grids = await createGrids()
    const broken = changeJob(grids.cluster, ({ template }) => {
      template.spec.containers[0]!.command = ['/none']
    })
    await expect(grids.open({}, {}, broken)).rejects.toThrow(
      /StartError: ".*\/none.*exit code 128\)\. The image must have `sh`/
    )
  })

  test('a start that is cancelled', async () => {
    const grids = await createGrids()
    const cancel = new AbortController()
    const opening = grids.open({ nodeSelector: { pool: 'none' } }, {}, grids.cluster, cancel.signal)
    await grids.until(async () => (await grids.pods()).length === 1)
    cancel.abort(new Error('cancelled'))
    await expect(opening).rejects.toThrow('cancelled')
  })
})

describeWithCluster('pods that are lost', () => {
  test('by more memory than their limit', async () => {
    const grids = await createGrids()
    const hungry = changeJob(grids.cluster, ({ template }) => {
      template.spec.containers[0]!.command = ['sh', '-c', 'sleep 3; tail /dev/zero']
    })
    const set = await grids.open({}, {}, hungry)
    await grids.until(async () => (await grids.pods())[0]?.status?.phase === 'Failed')
    await expect(workOn(set)).rejects.toThrow(
      /^Node 1 of 1 of the grid in eu \(pod \S+ on the machine \S+\) was lost: it used more memory than its limit of 64Mi \(OOMKilled, exit code 137\)/
    )
    await set.close()
  })

  test('by whoever deletes one; the others work on', async () => {
    const grids = await createGrids()
    const set = await grids.open({}, { quantity: 2 })
    const other = workOn(set, 0)
    const work = workOn(set, 1)
    const pod = (await grids.pods()).find(({ metadata }) => metadata.name.includes('-1-'))!
    await grids.cluster.request('DELETE', `${grids.path}/pods/${pod.metadata.name}`)
    await expect(work).rejects.toThrow(/^Node 2 of 2 .* was lost: the pod (was deleted|is gone)/)
    expect(await Promise.race([other, Promise.resolve('works')])).toBe('works')
    await set.close()
  })

  test('by an eviction', async () => {
    const grids = await createGrids()
    const set = await grids.open()
    const work = workOn(set)
    const { name } = (await grids.pods())[0]!.metadata
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name } }
    await grids.cluster.request('POST', `${grids.path}/pods/${name}/eviction`, { body })
    await expect(work).rejects.toThrow(/was lost: EvictionByEvictionAPI: "Eviction API: evicting"/)
    await set.close()
  })

  test('at the deadline of their Job, should nobody end them before', async () => {
    const grids = await createGrids()
    const short = changeJob(grids.cluster, (spec) => {
      spec.activeDeadlineSeconds = 4
    })
    const set = await grids.open({}, {}, short)
    await expect(workOn(set)).rejects.toThrow(
      /was lost: DeadlineExceeded: "Job was active longer than specified deadline"/
    )
    await set.close()
  })
})

describeWithCluster('afterwards', () => {
  test('nothing is left of any of them', async () => {
    expect(all.length).toBeGreaterThan(0)
    expect(await Promise.all(all.map((grids) => grids.countLeftovers()))).toEqual(all.map(() => 0))
  })
})

interface JobSpec {
  activeDeadlineSeconds: number
  readonly template: { readonly spec: { readonly containers: readonly { command: string[] }[] } }
}

/** The same cluster, whose Jobs differ from what was wanted. */
function changeJob(cluster: Cluster, change: (spec: JobSpec) => void): Cluster {
  const request: Cluster['request'] = (method, path, options) => {
    if (method === 'POST' && path.endsWith('/jobs')) change((options?.body as { spec: JobSpec }).spec)
    return cluster.request(method, path, options)
  }
  return { ...cluster, request }
}

/** Work that does not end by itself. */
function workOn(set: NodeSet, index = 0): Promise<unknown> {
  const command: NodeCommand = {
    file: 'sleep',
    args: ['1000'],
    cwd: '/tmp',
    env: {},
    onLine: () => undefined,
    brings: [],
    follows: [],
    collects: []
  }
  const work = set.nodes[index]!.run(command, new AbortController().signal)
  work.catch(() => undefined)
  return work
}
