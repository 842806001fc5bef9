import { describe, expect, test } from '@jest/globals'
import type { Cluster } from '../../../../src/service/nodes/kubernetes/cluster.js'
import {
  type EventDocument,
  eventsOf,
  indexOf,
  ownPods,
  type PodDocument
} from '../../../../src/service/nodes/pods/start/pod-view.js'
import { lossOf } from '../../../../src/service/nodes/pods/start/pod-words.js'
import { makeJob, makePod } from './fake-cluster.js'

const INDEX = 'batch.kubernetes.io/job-completion-index'
const never = new AbortController().signal

function answering(reply: () => Promise<unknown>): Cluster {
  return {
    address: { kubeconfig: '/k', context: 'c', namespace: 'load' },
    name: 'namespace load of the cluster c',
    request: <T>() => reply() as Promise<T>,
    exec: () => Promise.reject(new Error('not asked for'))
  }
}

const event = (message: string, times: Partial<EventDocument>, uid = 'u'): EventDocument => ({
  message,
  involvedObject: { uid },
  ...times
})

describe('the events of a pod', () => {
  test('come in the order of time, whichever time they have; those of others are left out', async () => {
    const items = [
      event('third', { metadata: { creationTimestamp: '2026-11-15T20:00:03Z' } }),
      event('second', { eventTime: '2026-11-15T20:00:02Z' }),
      event('fourth', { lastTimestamp: '2026-11-15T20:00:04Z', eventTime: '2026-11-15T20:00:01Z' }),
      event('without a time', {}),
      event("another pod's", {}, 'other')
    ]
    const cluster = answering(() => Promise.resolve({ items }))
    const found = await eventsOf(cluster, { name: 'p', uid: 'u' }, never)
    expect(found.map(({ message }) => message)).toEqual(['without a time', 'second', 'third', 'fourth'])
  })

  test('are none where the cluster does not say', async () => {
    const refused = answering(() => Promise.reject(new Error('403')))
    expect(await eventsOf(refused, { name: 'p', uid: 'u' }, never)).toEqual([])
  })
})

describe('a pod among the nodes of its grid', () => {
  const withMetadata = (metadata: Partial<PodDocument['metadata']>): PodDocument => ({
    ...makePod(0),
    metadata: { name: 'p', uid: 'u', ...metadata }
  })

  test.each([
    [{ labels: { [INDEX]: '3' } }, 3],
    [{ annotations: { [INDEX]: '4' } }, 4],
    [{}, -1]
  ])('is known by its index: %j', (metadata, index) => {
    expect(indexOf(withMetadata(metadata))).toBe(index)
  })

  test('belongs to the Job that created it, and to none if that is gone', () => {
    const pods = [makePod(0), withMetadata({}), withMetadata({ ownerReferences: [{ uid: 'other' }] })]
    expect(ownPods({ job: makeJob(), pods })).toEqual([pods[0]])
    expect(ownPods({ job: undefined, pods })).toEqual([])
  })
})

describe('a pod that is lost, in fewer words', () => {
  const failed = (status: Partial<PodDocument['status']>): PodDocument =>
    makePod(0, { phase: 'Failed', containerStatuses: [], ...status })

  test.each<[string, PodDocument, string]>([
    ['without a container', failed({}), 'its container ended: Failed'],
    [
      'preempted',
      failed({ reason: 'Preempting', message: 'for a more important pod' }),
      'Preempting: "for a more important pod"'
    ],
    [
      'disrupted for no stated reason',
      failed({ conditions: [{ type: 'DisruptionTarget', status: 'True' }] }),
      'DisruptionTarget'
    ],
    [
      'with a disruption that was called off',
      failed({
        conditions: [{ type: 'DisruptionTarget', status: 'False', reason: 'PreemptionByScheduler' }]
      }),
      'its container ended: Failed'
    ],
    [
      'with a container that cannot run',
      failed({
        containerStatuses: [
          { name: 'mesh', state: { terminated: { reason: 'ContainerCannotRun', exitCode: 127 } } }
        ]
      }),
      'its container ended: ContainerCannotRun (exit code 127)'
    ]
  ])('%s', (_name, pod, words) => {
    expect(lossOf(pod, makeJob())?.words).toBe(words)
  })

  test('out of memory while it is deleted, on a machine without a limit', () => {
    const pod = makePod(
      0,
      {
        phase: 'Failed',
        containerStatuses: [{ name: 'node', state: { terminated: { reason: 'OOMKilled', exitCode: 137 } } }]
      },
      { deletionTimestamp: '2026-11-15T20:55:32Z' }
    )
    const unlimited = { ...pod, spec: { ...pod.spec, containers: [{ name: 'node' }] } }
    expect(lossOf(unlimited, makeJob())?.words).toBe(
      'it used more memory than the machine has (OOMKilled, exit code 137)'
    )
  })

  test('with its Job, which is being deleted', () => {
    const job = makeJob()
    const ending = { ...job, metadata: { ...job.metadata, deletionTimestamp: '2026-11-15T20:55:32Z' } }
    expect(lossOf(undefined, ending)?.words).toBe('its Job was deleted')
  })

  test('where a long message of the cluster is cut', () => {
    const words = lossOf(failed({ reason: 'Shutdown', message: 'x'.repeat(2000) }), makeJob())?.words
    expect(words).toBe(`Shutdown: "${'x'.repeat(999)}…"`)
  })
})
