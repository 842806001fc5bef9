import { describe, expect, test } from '@jest/globals'
import type { JobDocument, PodDocument } from '../../../../src/service/nodes/pods/start/pod-view.js'
import {
  isReady,
  lossOf,
  startProblemOf,
  type StartingPod
} from '../../../../src/service/nodes/pods/start/pod-words.js'
import { makePlace } from '../../../support/kubernetes/make-place.js'
import { makeJob, makePod, waitingPod } from './fake-cluster.js'

const DELETED = { deletionTimestamp: '2026-11-15T20:55:32Z' }
const EVICTING = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting'
}
const failedPod = (reason: string, exitCode: number, message?: string): PodDocument =>
  makePod(0, {
    phase: 'Failed',
    containerStatuses: [
      { name: 'node', state: { terminated: { reason, exitCode, ...(message !== undefined && { message }) } } }
    ]
  })
const failedJob = (reason: string, message: string): JobDocument =>
  makeJob({ conditions: [{ type: 'FailureTarget', status: 'True', reason, message }] })

describe('a pod that is lost', () => {
  const cases: [name: string, pod: PodDocument | undefined, job: JobDocument | undefined, words: string][] = [
    [
      'out of memory',
      failedPod('OOMKilled', 137),
      makeJob(),
      'it used more memory than its limit of 64Mi (OOMKilled, exit code 137)'
    ],
    [
      'evicted by the kubelet',
      makePod(0, {
        ...failedPod('Error', 137).status,
        reason: 'Evicted',
        message: 'The node was low on resource: memory.'
      }),
      makeJob(),
      'Evicted: "The node was low on resource: memory." (exit code 137)'
    ],
    [
      'evicted by the API',
      makePod(0, { conditions: [EVICTING] }, DELETED),
      makeJob(),
      'EvictionByEvictionAPI: "Eviction API: evicting"'
    ],
    ['deleted', makePod(0, {}, DELETED), makeJob(), 'the pod was deleted'],
    [
      'gone',
      undefined,
      failedJob('FailedIndexes', 'Job has failed indexes'),
      'the pod is gone; the Job says FailedIndexes: "Job has failed indexes"'
    ],
    ['gone with its Job', undefined, undefined, 'its Job was deleted'],
    [
      'at the deadline of its Job',
      makePod(0, {}, DELETED),
      failedJob('DeadlineExceeded', 'Job was active longer than specified deadline'),
      'DeadlineExceeded: "Job was active longer than specified deadline"'
    ],
    [
      'by a bad command',
      failedPod('StartError', 128, 'exec: "/none": no such file'),
      makeJob(),
      'its container ended: StartError: "exec: "/none": no such file" (exit code 128)'
    ],
    [
      'unable to tell the end of its work',
      failedPod('Error', 74, 'the result of the work could not be recorded: No space left on device'),
      makeJob(),
      'its container ended: Error: "the result of the work could not be recorded: No space left on device" (exit code 74)'
    ],
    [
      'ended by itself',
      makePod(0, {
        phase: 'Succeeded',
        containerStatuses: [{ name: 'node', state: { terminated: { reason: 'Completed', exitCode: 0 } } }]
      }),
      makeJob(),
      'its container ended: Completed (exit code 0)'
    ]
  ]
  test.each(cases)('%s', (_name, pod, job, words) => {
    expect(lossOf(pod, job)).toMatchObject({ words, advice: expect.stringMatching(/\.$/) as unknown })
  })

  test('is known by how it was last seen, when it vanished since', () => {
    const last = makePod(0, { conditions: [EVICTING] })
    expect(lossOf(undefined, makeJob(), last)?.reason).toBe('EvictionByEvictionAPI')
  })

  test.each([
    ['running', makePod(0)],
    ['running, its machine silent', makePod(0, { conditions: [{ type: 'Ready', status: 'False' }] })],
    ['waiting for its image', waitingPod(0, 'ImagePullBackOff')]
  ])('is none that is %s', (_name, pod) => {
    expect(lossOf(pod, makeJob())).toBeUndefined()
  })

  test('is not ready when its machine is silent, whatever its phase', () => {
    expect(isReady(makePod(0))).toBe(true)
    expect(isReady(makePod(0, { conditions: [{ type: 'Ready', status: 'False' }] }))).toBe(false)
  })

  test('is told in words of bearable length', () => {
    const long = failedPod('Error', 1, `first ${'x'.repeat(5000)}\n::error::boo`)
    expect(lossOf(long, makeJob())!.words.length).toBeLessThan(1100)
    expect(lossOf(failedPod('Error', 1, 'a\n::error::b'), makeJob())!.words).toContain('"a ::error::b"')
  })
})

describe('a pod that does not start', () => {
  const refused = (message: string): Partial<StartingPod> => ({
    pod: undefined,
    events: [
      { involvedObject: {}, type: 'Normal', reason: 'SuccessfulCreate', message: 'Created pod: x-0' },
      { involvedObject: {}, type: 'Warning', reason: 'FailedCreate', message }
    ]
  })
  const unschedulable = makePod(0, {
    phase: 'Pending',
    conditions: [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient cpu.'
      }
    ]
  })
  const noise = { involvedObject: {}, type: 'Warning', reason: 'MissingClusterDNS', message: 'DNS' }
  const cases: [name: string, starting: Partial<StartingPod>, heals: string, words: string][] = [
    [
      'image not on the machine',
      { pod: waitingPod(0, 'ErrImageNeverPull', 'not present with pull policy of Never') },
      'never',
      'ErrImageNeverPull: "not present with pull policy of Never"'
    ],
    ['image name', { pod: waitingPod(0, 'InvalidImageName', 'bad') }, 'never', 'InvalidImageName: "bad"'],
    [
      'image not pulled, as an older cluster says it',
      {
        pod: waitingPod(0, 'ImagePullBackOff', 'Back-off pulling image "x"'),
        events: [{ involvedObject: {}, reason: 'Failed', message: 'Failed to pull image "x": unauthorized' }]
      },
      'perhaps',
      'ImagePullBackOff: "Failed to pull image "x": unauthorized"'
    ],
    [
      'unschedulable',
      { pod: unschedulable },
      'perhaps',
      'Unschedulable: "0/1 nodes are available: 1 Insufficient cpu."'
    ],
    [
      'quota',
      refused('pods "x" is forbidden: exceeded quota: q'),
      'perhaps',
      'FailedCreate: "pods "x" is forbidden: exceeded quota: q"'
    ],
    [
      'quota that wants limits',
      refused('pods "x" is forbidden: failed quota: q: must specify limits.cpu'),
      'rarely',
      'FailedCreate: "pods "x" is forbidden: failed quota: q: must specify limits.cpu"'
    ],
    [
      'PodSecurity',
      refused('pods "x" is forbidden: violates PodSecurity "restricted:latest"'),
      'rarely',
      'FailedCreate: "pods "x" is forbidden: violates PodSecurity "restricted:latest""'
    ],
    [
      'default of a LimitRange',
      refused(
        'Pod "x" is invalid: spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m'
      ),
      'rarely',
      'FailedCreate: "Pod "x" is invalid: spec.containers[0].resources.requests: Invalid value: "1": must be less than or equal to cpu limit of 500m"'
    ],
    [
      'container that is being created at last',
      {
        pod: waitingPod(0, 'ContainerCreating'),
        events: [
          { involvedObject: {}, type: 'Warning', reason: 'FailedScheduling', message: 'Insufficient cpu' },
          { involvedObject: {}, type: 'Normal', reason: 'Scheduled', message: 'assigned' }
        ]
      },
      'perhaps',
      'ContainerCreating'
    ],
    [
      'webhook that is down',
      refused('Internal error: failed calling webhook'),
      'perhaps',
      'FailedCreate: "Internal error: failed calling webhook"'
    ],
    [
      'configuration',
      { pod: waitingPod(0, 'CreateContainerConfigError', 'runAsNonRoot') },
      'rarely',
      'CreateContainerConfigError: "runAsNonRoot"'
    ],
    [
      'network',
      {
        pod: waitingPod(0, 'ContainerCreating'),
        events: [
          { involvedObject: {}, type: 'Warning', reason: 'FailedCreatePodSandBox', message: 'no network' },
          noise
        ]
      },
      'perhaps',
      'ContainerCreating: "no network"'
    ],
    [
      'bad command',
      { pod: failedPod('StartError', 128) },
      'never',
      'its container ended: StartError (exit code 128)'
    ],
    ['no pod, no event', {}, 'perhaps', 'the Job has not created its pod, and the cluster does not say why'],
    ['no Job', { job: undefined }, 'never', 'its Job was deleted']
  ]
  test.each(cases)('%s', (_name, starting, heals, words) => {
    const problem = startProblemOf(
      { pod: undefined, job: makeJob(), events: [], ...starting },
      { ...makePlace(), image: 'x' }
    )
    expect(problem).toMatchObject({ heals, words, advice: expect.stringMatching(/\.$/) as unknown })
  })

  test('is none that runs and is ready', () => {
    const place = { ...makePlace(), image: 'x' }
    expect(startProblemOf({ pod: makePod(0), job: makeJob(), events: [] }, place)).toBeUndefined()
    const unready = makePod(0, { conditions: [{ type: 'Ready', status: 'False' }] })
    expect(startProblemOf({ pod: unready, job: makeJob(), events: [] }, place)).toBeDefined()
  })
})
