import type { KubernetesPlace } from '../../../../contract/regions/regions.js'
import type { EventDocument, JobDocument, PodDocument } from './documents.js'
import {
  conditionOf,
  containerState,
  deletionOf,
  failureOf,
  isReady,
  lossOf,
  quoted,
  type Trouble
} from './pod-words.js'

/** Why a pod does not run yet, and whether waiting can help. */
export interface StartTrouble extends Trouble {
  /** `rarely`: only in its first seconds, while the cluster is still setting things up. */
  readonly heals: 'never' | 'rarely' | 'perhaps'
}

export interface StartingPod {
  readonly pod: PodDocument | undefined
  readonly job: JobDocument | undefined
  /** Of the pod, or of the Job while there is no pod; the latest last. */
  readonly events: readonly EventDocument[]
}

type Place = Pick<KubernetesPlace, 'hostNetwork' | 'imagePullPolicy'> & { readonly image: string }

/** Undefined for a pod that is ready. */
export function startTroubleOf(starting: StartingPod, place: Place): StartTrouble | undefined {
  const { pod, job } = starting
  if (pod === undefined) return missingPod(starting, place)
  const loss = lossOf(pod, job)
  if (loss !== undefined) return { ...loss, heals: 'never' }
  if (isReady(pod)) return undefined
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled')
  if (scheduled?.status === 'False')
    return {
      reason: scheduled.reason ?? 'Unschedulable',
      words: quoted(scheduled.reason ?? 'Unschedulable', scheduled.message),
      advice:
        'Add machines, free some, or change `node-selector`, `tolerations`, `instance-types` or the number of nodes.',
      heals: 'perhaps'
    }
  return waiting(pod, starting.events, place)
}

function missingPod({ job, events }: StartingPod, place: Place): StartTrouble {
  if (job === undefined || job.metadata.deletionTimestamp !== undefined || failureOf(job) !== undefined)
    return { ...deletionOf(undefined, job, false), heals: 'never' }
  const refused = events.findLast(({ reason }) => reason === 'FailedCreate')
  if (refused !== undefined) return refusedPod(refused.message ?? '', place)
  return {
    reason: 'NoPod',
    words: 'the Job has not created its pod, and the cluster does not say why',
    advice: 'See `kubectl describe job` for this Job.',
    heals: 'perhaps'
  }
}

/** Why a Job was not allowed to create a pod. A quota may become free; rules do not change while we wait. */
function refusedPod(message: string, place: Place): StartTrouble {
  const told = { reason: 'FailedCreate', words: quoted('FailedCreate', message) }
  if (message.includes('exceeded quota'))
    return {
      ...told,
      advice: 'Raise the quota of the namespace, free some of it, or use fewer or smaller nodes.',
      heals: 'perhaps'
    }
  if (message.includes('violates PodSecurity'))
    return {
      ...told,
      advice: place.hostNetwork
        ? 'Pods with `host-network: true` need a namespace whose PodSecurity level is `privileged`.'
        : 'These pods satisfy the PodSecurity level `restricted`: see what the namespace requires beyond it.',
      heals: 'rarely'
    }
  if (/service ?account/i.test(message))
    return { ...told, advice: 'Create the service account, or correct `service-account`.', heals: 'rarely' }
  if (message.includes(' is invalid: '))
    return {
      ...told,
      advice:
        'See which value is meant; a default of the namespace (`kubectl describe limitrange`) may contradict what the pod requests: then give this instance type its own in `instance-types`.',
      heals: 'rarely'
    }
  const isRefused = message.includes(' is forbidden') || message.includes('denied the request')
  return {
    ...told,
    advice: 'See which rule of the cluster refuses the pod.',
    heals: isRefused ? 'rarely' : 'perhaps'
  }
}

const IMAGE_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable']

function waiting(pod: PodDocument, events: readonly EventDocument[], place: Place): StartTrouble {
  const { reason = 'Pending', message } = containerState(pod).waiting ?? {}
  if (IMAGE_REASONS.includes(reason))
    return {
      // The two alternate while the kubelet tries again and again.
      reason: 'ImagePullBackOff',
      words: quoted(reason, pullFailureOf(events) ?? message),
      advice: `Check \`image\` (${place.image}) and \`image-pull-secrets\`, and that the machine reaches the registry.`,
      heals: 'perhaps'
    }
  if (reason === 'ErrImageNeverPull' || reason === 'InvalidImageName')
    return {
      reason,
      words: quoted(reason, message),
      advice:
        reason === 'InvalidImageName'
          ? `Correct \`image\` (${place.image}).`
          : `Load the image ${place.image} on the machine ${machineOf(pod)}, or change \`image-pull-policy\` (${String(place.imagePullPolicy)}).`,
      heals: 'never'
    }
  return {
    reason,
    words: quoted(reason, message ?? lastWarningOf(events)),
    advice: `See \`kubectl describe pod ${pod.metadata.name}\`.`,
    heals: reason === 'CreateContainerConfigError' ? 'rarely' : 'perhaps'
  }
}

/** Clusters before 1.32 do not repeat it in the pod's status. */
function pullFailureOf(events: readonly EventDocument[]): string | undefined {
  return events.findLast(
    ({ reason, message }) => reason === 'Failed' && message?.startsWith('Failed to pull image') === true
  )?.message
}

/** Warnings of every pod of a cluster whose DNS is set up in this way; and one that is over, or the pod's own status would say it. */
const HARMLESS = ['MissingClusterDNS', 'DNSConfigForming', 'FailedScheduling']

export function lastWarningOf(events: readonly EventDocument[]): string | undefined {
  return events.findLast(({ type, reason }) => type === 'Warning' && !HARMLESS.includes(reason ?? ''))
    ?.message
}

export function machineOf(pod: PodDocument): string {
  return pod.spec.nodeName ?? 'that it was scheduled to'
}
