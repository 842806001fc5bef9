import type { KubernetesPlace } from '../../../../contract/regions/regions.js'
import { shorten } from '../../../../contract/text.js'
import type { Condition, ContainerState, EventDocument, JobDocument, PodDocument } from './pod-view.js'
import { CONTAINER } from './job-manifest.js'
import { CANNOT_NOTE } from '../work/supervisor.js'

/** What the cluster says about a pod that does not do what it should. */
export interface PodProblem {
  /** The cluster's short name for it; stays the same while nothing changes. */
  readonly reason: string
  /** For people, with the cluster's own words. */
  readonly words: string
  readonly advice: string
}

const LONGEST_QUOTE = 1000

const DELETED_BY_CLUSTER =
  'See who in the cluster did this (a drained or preempted machine, an autoscaler, another user), and run again.'

type Ended = ContainerState['terminated']

/** Why a pod is lost for good, whatever it was doing; undefined for one that waits or runs. `last` is how it was seen before. */
export function lossOf(
  pod: PodDocument | undefined,
  job: JobDocument | undefined,
  last: PodDocument | undefined = pod
): PodProblem | undefined {
  const isDeleted = pod?.metadata.deletionTimestamp !== undefined
  if (pod === undefined || isDeleted) return deletionOf(pod ?? last, job, isDeleted)
  const { terminated } = containerState(pod)
  const { phase, reason, message } = pod.status ?? {}
  if (terminated === undefined && phase !== 'Failed' && phase !== 'Succeeded') return undefined
  const killed = outOfMemory(pod)
  if (killed !== undefined) return killed
  const evicted = 'Free the machine, or request more for this instance type.'
  if (phase === 'Failed' && reason !== undefined)
    return told(reason, message, reason === 'Evicted' ? evicted : DELETED_BY_CLUSTER, terminated)
  return disruptionOf(pod) ?? ended(terminated)
}

/** Why a pod is gone, or will be in a moment. */
export function deletionOf(
  last: PodDocument | undefined,
  job: JobDocument | undefined,
  isStillThere: boolean
): PodProblem {
  const failure = failureOf(job)
  if (failure?.reason === 'DeadlineExceeded')
    return told(
      'DeadlineExceeded',
      failure.message,
      'The Job ran longer than `start-timeout`, `stop_after` and 10 minutes together: raise `stop_after`.'
    )
  const known = last && (disruptionOf(last) ?? outOfMemory(last))
  if (known !== undefined) return known
  if (job === undefined || job.metadata.deletionTimestamp !== undefined)
    return { reason: 'JobDeleted', words: 'its Job was deleted', advice: DELETED_BY_CLUSTER }
  return {
    reason: 'Deleted',
    words: `the pod ${isStillThere ? 'was deleted' : 'is gone'}${exitCodeOf(last && containerState(last).terminated)}${
      failure === undefined ? '' : `; the Job says ${quoted(failure.reason ?? 'Failed', failure.message)}`
    }`,
    advice: DELETED_BY_CLUSTER
  }
}

/** Pods whose machine is silent keep their phase; only this shows it. */
export function isReady(pod: PodDocument): boolean {
  return pod.status?.phase === 'Running' && conditionOf(pod.status.conditions, 'Ready')?.status === 'True'
}

function failureOf(job: JobDocument | undefined): Condition | undefined {
  return ['Failed', 'FailureTarget']
    .map((type) => conditionOf(job?.status?.conditions, type))
    .find((condition) => condition?.status === 'True')
}

function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

function containerState(pod: PodDocument): ContainerState {
  const statuses = pod.status?.containerStatuses ?? []
  // Some clusters add containers of their own.
  return (statuses.find(({ name }) => name === CONTAINER) ?? statuses[0])?.state ?? {}
}

/** `Reason: "message"`, as the cluster has it. */
export function quoted(reason: string, message: string | undefined): string {
  const text = shorten(message ?? '', LONGEST_QUOTE)
  return text === '' ? reason : `${reason}: "${text}"`
}

function told(reason: string, message: string | undefined, advice: string, terminated?: Ended): PodProblem {
  return { reason, words: `${quoted(reason, message)}${exitCodeOf(terminated)}`, advice }
}

function outOfMemory(pod: PodDocument): PodProblem | undefined {
  const { terminated } = containerState(pod)
  if (terminated?.reason !== 'OOMKilled') return undefined
  const limit = limitOf(pod, 'memory')
  const most = limit === undefined ? 'the machine has' : `its limit of ${limit}`
  return {
    reason: 'OOMKilled',
    words: `it used more memory than ${most} (OOMKilled, exit code ${terminated.exitCode})`,
    advice: 'Give this instance type more memory in `instance-types`, or spread the load over more nodes.'
  }
}

/** A limit of the pod's container, in Kubernetes' own quantity. */
export function limitOf(pod: PodDocument, resource: 'cpu' | 'memory'): string | undefined {
  const { containers } = pod.spec
  return (containers.find(({ name }) => name === CONTAINER) ?? containers[0])?.resources?.limits?.[resource]
}

function disruptionOf(pod: PodDocument): PodProblem | undefined {
  const found = conditionOf(pod.status?.conditions, 'DisruptionTarget')
  if (found?.status !== 'True') return undefined
  return told(found.reason ?? found.type, found.message, DELETED_BY_CLUSTER, containerState(pod).terminated)
}

function ended(terminated: Ended): PodProblem {
  const reason = terminated?.reason ?? 'Failed'
  const advice =
    reason === 'StartError' || reason === 'ContainerCannotRun'
      ? 'The image must have `sh`, `tail`, `tar` and `sha256sum`, and run as user 65534.'
      : 'Look at its log and at the machine that it ran on.'
  const full =
    'If its disk is full, free space on the machine, or let the plan write less; and let the plan leave the files in /loadgate alone.'
  return {
    reason,
    words: `its container ended: ${quoted(reason, terminated?.message)}${exitCodeOf(terminated)}`,
    advice: terminated?.exitCode === CANNOT_NOTE ? full : advice
  }
}

function exitCodeOf(terminated: Ended): string {
  return terminated === undefined ? '' : ` (exit code ${terminated.exitCode})`
}

/** Why a pod does not run yet, and whether waiting can help. */
export interface StartProblem extends PodProblem {
  /** `rarely`: only in its first seconds, while the cluster is still setting things up. */
  readonly heals: 'never' | 'rarely' | 'perhaps'
}

export interface StartingPod {
  readonly pod: PodDocument | undefined
  readonly job: JobDocument | undefined
  /** Events of the pod, or of the Job while there is no pod; the latest last. */
  readonly events: readonly EventDocument[]
}

type Place = Pick<KubernetesPlace, 'hostNetwork' | 'imagePullPolicy'> & { readonly image: string }

function starting(heals: StartProblem['heals'], ...said: Parameters<typeof told>): StartProblem {
  return { ...told(...said), heals }
}

/** Undefined for a pod that is ready. */
export function startProblemOf({ pod, job, events }: StartingPod, place: Place): StartProblem | undefined {
  if (pod === undefined) return missingPod(job, events, place)
  const loss = lossOf(pod, job)
  if (loss !== undefined) return { ...loss, heals: 'never' }
  if (isReady(pod)) return undefined
  const scheduled = conditionOf(pod.status?.conditions, 'PodScheduled')
  const unscheduled =
    'Add machines, free some, or change `node-selector`, `tolerations`, `instance-types` or the number of nodes.'
  if (scheduled?.status === 'False')
    return starting('perhaps', scheduled.reason ?? 'Unschedulable', scheduled.message, unscheduled)
  return waiting(pod, events, place)
}

function missingPod(job: StartingPod['job'], events: StartingPod['events'], place: Place): StartProblem {
  if (job === undefined || job.metadata.deletionTimestamp !== undefined || failureOf(job) !== undefined)
    return { ...deletionOf(undefined, job, false), heals: 'never' }
  const refused = events.findLast(({ reason }) => reason === 'FailedCreate')
  if (refused !== undefined) {
    const { message = '' } = refused
    const [, heals = 'perhaps', advice = OTHER_RULE] = REFUSALS.find(([says]) => says.test(message)) ?? []
    const host = 'Pods with `host-network: true` need a namespace whose PodSecurity level is `privileged`.'
    const isHost = place.hostNetwork && advice === RESTRICTED
    return starting(heals, 'FailedCreate', message, isHost ? host : advice)
  }
  return {
    reason: 'NoPod',
    words: 'the Job has not created its pod, and the cluster does not say why',
    advice: 'See `kubectl describe job` for this Job.',
    heals: 'perhaps'
  }
}

const RESTRICTED =
  'These pods satisfy the PodSecurity level `restricted`: see what the namespace requires beyond it.'
const OTHER_RULE = 'See which rule of the cluster refuses the pod.'

/** Why a Job was not allowed to create a pod, and what to do. A quota may become free; rules do not change while we wait. */
const REFUSALS: readonly (readonly [says: RegExp, heals: StartProblem['heals'], advice: string])[] = [
  [
    /exceeded quota/,
    'perhaps',
    'Raise the quota of the namespace, free some of it, or use fewer or smaller nodes.'
  ],
  [/violates PodSecurity/, 'rarely', RESTRICTED],
  [/service ?account/i, 'rarely', 'Create the service account, or correct `service-account`.'],
  [
    / is invalid: /,
    'rarely',
    'See which value is meant; a default of the namespace (`kubectl describe limitrange`) may contradict what the pod requests: then give this instance type its own in `instance-types`.'
  ],
  [/ is forbidden|denied the request/, 'rarely', OTHER_RULE]
]

const IMAGE_REASONS = ['ErrImagePull', 'ImagePullBackOff', 'ImageInspectError', 'RegistryUnavailable']

function waiting(pod: PodDocument, events: readonly EventDocument[], place: Place): StartProblem {
  const { reason = 'Pending', message } = containerState(pod).waiting ?? {}
  if (IMAGE_REASONS.includes(reason)) {
    const advice = `Check \`image\` (${place.image}) and \`image-pull-secrets\`, and that the machine reaches the registry.`
    // The two alternate while the kubelet tries again and again.
    return {
      ...starting('perhaps', reason, pullFailureOf(events) ?? message, advice),
      reason: 'ImagePullBackOff'
    }
  }
  if (reason === 'InvalidImageName')
    return starting('never', reason, message, `Correct \`image\` (${place.image}).`)
  if (reason === 'ErrImageNeverPull') {
    const advice = `Load the image ${place.image} on the machine ${machineOf(pod)}, or change \`image-pull-policy\` (${String(place.imagePullPolicy)}).`
    return starting('never', reason, message, advice)
  }
  const heals = reason === 'CreateContainerConfigError' ? 'rarely' : 'perhaps'
  const advice = `See \`kubectl describe pod ${pod.metadata.name}\`.`
  return starting(heals, reason, message ?? lastWarningOf(events), advice)
}

/** Clusters before 1.32 do not repeat it in the pod's status. */
function pullFailureOf(events: readonly EventDocument[]): string | undefined {
  return events.findLast(
    ({ reason, message }) => reason === 'Failed' && message?.startsWith('Failed to pull image') === true
  )?.message
}

/** Warnings that every pod of some clusters has, and one that is over (otherwise the pod's own status would have it). */
const HARMLESS = ['MissingClusterDNS', 'DNSConfigForming', 'FailedScheduling']

export function lastWarningOf(events: readonly EventDocument[]): string | undefined {
  return events.findLast(({ type, reason }) => type === 'Warning' && !HARMLESS.includes(reason ?? ''))
    ?.message
}

export function machineOf(pod: PodDocument): string {
  return pod.spec.nodeName ?? 'that it was scheduled to'
}
