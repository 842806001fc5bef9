import { describe, expect, test } from '@jest/globals'
import type { KubernetesPlace, Place, Regions } from '../../src/contract/regions/regions.js'
import type { Cluster } from '../../src/service/nodes/kubernetes/cluster.js'
import type { NodePlace } from '../../src/service/nodes/load-node.js'
import { checkRegion, type Kubernetes, openPlaces, type PlaceParts } from '../../src/service/places.js'
import { ManualClock } from '../support/manual-clock.js'

const MACHINE: NodePlace = {
  name: 'this machine',
  outlivesService: false,
  open: () => Promise.reject(new Error('not needed'))
}

const onCluster = (context: string, namespace = 'load'): KubernetesPlace => ({
  ...{ kind: 'kubernetes', context, namespace, image: undefined, serviceAccount: undefined },
  ...{ nodeSelector: {}, tolerations: [], imagePullSecrets: [], imagePullPolicy: undefined },
  ...{ hostNetwork: false, instanceTypes: new Map(), startTimeoutMs: 300_000 }
})

const regionsOf = (places: Record<string, Place>): Regions => new Map(Object.entries(places))

function createCluster(context: string, namespace: string): Cluster {
  return {
    address: { kubeconfig: '/k', context, namespace },
    name: `namespace ${namespace} of the cluster ${context}`,
    request: () => Promise.reject(new Error('not needed')),
    exec: () => Promise.reject(new Error('not needed'))
  }
}

/** Writes down what happens, in order. */
function prepare(kubernetes: Partial<Kubernetes> = {}): { parts: PlaceParts; log: string[] } {
  const log: string[] = []
  const loaded: Kubernetes = {
    openCluster: async ({ context, namespace }) => createCluster(context!, namespace!),
    checkAccess: async ({ name }) => {
      log.push(`check ${name}`)
      return []
    },
    createPodPlace: ({ cluster, marker, defaultImage }) => {
      log.push(`place ${cluster.name} ${marker} ${defaultImage}`)
      return { ...MACHINE, name: cluster.name, outlivesService: true, mostNodes: 1000 }
    },
    jobName: ({ runId, gridId }) => `job of ${runId} in ${gridId}`,
    deleteJobs: async (cluster, selector) => {
      log.push(`delete ${cluster.address.context} ${selector}`)
      return 1
    },
    ...kubernetes
  }
  const parts: PlaceParts = {
    machine: MACHINE,
    marker: () => 'a1b2',
    env: {},
    clock: new ManualClock(),
    log: (line) => log.push(`log ${line}`),
    onClusters: (addresses) => log.push(`clusters ${addresses.map(({ context }) => context).join()}`),
    loadKubernetes: async () => {
      log.push('load')
      return loaded
    }
  }
  return { parts, log }
}

describe('the places of regions', () => {
  test('without regions, every region is this machine, and nothing is loaded', async () => {
    const { parts, log } = prepare()
    const places = await openPlaces(undefined, parts)
    expect([places.regions, places.placeOf('anything'), checkRegion('anything', places)]).toEqual([
      undefined,
      MACHINE,
      []
    ])
    await places.clearAway([])
    expect(log).toEqual([])
  })

  test('processes alone need no Kubernetes', async () => {
    const { parts, log } = prepare()
    const places = await openPlaces(regionsOf({ here: { kind: 'processes' } }), parts)
    expect(places.placeOf('here')).toBe(MACHINE)
    expect(places.placeOf('there')).toBeUndefined()
    expect(checkRegion('there', places)).toEqual(['there is no region there: this service has here'])
    expect(log).toEqual([])
  })

  test('each namespace is checked once, and the clusters are told before there is a place', async () => {
    const { parts, log } = prepare()
    const regions = regionsOf({
      here: { kind: 'processes' },
      ...{ east: onCluster('eu'), west: onCluster('us'), north: onCluster('eu') }
    })
    const places = await openPlaces(regions, parts)
    expect(places.regions).toEqual(['here', 'east', 'west', 'north'])
    expect(places.placeOf('west')).toMatchObject({ name: 'namespace load of the cluster us' })
    const image = expect.stringMatching(/^place .* a1b2 ghcr\.io\/loadgate\/loadgate-node:\d+\.\d+\.\d+/)
    expect(log).toEqual([
      ...['load', 'check namespace load of the cluster eu', 'check namespace load of the cluster us'],
      ...['clusters eu,us', image, image, image]
    ])
  })

  test('all problems of all regions are told at once, and nothing is created', async () => {
    const { parts, log } = prepare({
      openCluster: async ({ context, namespace }) => {
        if (context === 'gone') throw new Error('The kubeconfig /k has no context "gone".')
        return createCluster(context!, namespace!)
      },
      checkAccess: async ({ address }) => {
        if (address.context === 'silent') throw new Error('it does not answer')
        return [
          { message: 'The user may not create jobs.', manifest: 'kind: Role\n' },
          { message: `Too old: ${address.context}.` }
        ]
      }
    })
    const regions = regionsOf({
      a: onCluster('gone'),
      b: onCluster('eu'),
      c: onCluster('silent'),
      d: onCluster('eu')
    })
    await expect(openPlaces(regions, parts)).rejects.toThrow(
      [
        'region a: The kubeconfig /k has no context "gone".',
        'regions b, d (namespace load of the cluster eu): The user may not create jobs. This grants it (kubectl apply -f -):\n\nkind: Role\n',
        'regions b, d (namespace load of the cluster eu): Too old: eu.',
        'region c (namespace load of the cluster silent): it does not answer'
      ].join('\n')
    )
    expect(log).toEqual(['load'])
  })

  test('a signal ends the checks, with its reason', async () => {
    const calledOff = new AbortController()
    const { parts, log } = prepare({
      checkAccess: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')))
          setImmediate(() => calledOff.abort(new Error('cancelled by SIGINT')))
        })
    })
    const opening = openPlaces(regionsOf({ a: onCluster('eu') }), { ...parts, signal: calledOff.signal })
    await expect(opening).rejects.toThrow('cancelled by SIGINT')
    expect(log).toEqual(['load'])
  })

  test('what was left behind is deleted, but for the nodes in use; a cluster that does not answer holds up nothing', async () => {
    const { parts, log } = prepare({
      deleteJobs: async ({ address }, selector, options) => {
        if (address.context === 'us') throw new Error('it does not answer')
        log.push(`${selector} but ${[...options!.kept!].join()}`)
        return 2
      }
    })
    const places = await openPlaces(regionsOf({ east: onCluster('eu'), west: onCluster('us') }), parts)
    log.length = 0
    await places.clearAway([])
    await places.clearAway([{ runId: 'r1', gridId: 'g1' }])
    const failed = `log could not delete the Jobs left behind in namespace load of the cluster us (loadgate.dev/marker=a1b2): it does not answer`
    const all = 'loadgate.dev/marker=a1b2 but '
    const deleted = 'log deleted 2 Jobs left behind in namespace load of the cluster eu'
    expect([...log].sort()).toEqual([all, `${all}job of r1 in g1`, deleted, deleted, failed, failed].sort())
  })
})
