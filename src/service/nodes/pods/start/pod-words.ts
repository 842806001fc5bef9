import { shorten } from '../../../../contract/text.js'
import type { Condition, ContainerState, JobDocument, PodDocument } from './documents.js'
import { CONTAINER } from './job-manifest.js'
import { CANNOT_NOTE } from '../work/supervisor.js'

/** What the cluster says of a pod that does not do what it should. */
export interface Trouble {
  /** The cluster's short name for it; stays the same while nothing changes. */
  readonly reason: string
  /** For people, with the cluster's own words. */
  readonly words: string
  readonly advice: string
}

/** Of a message of the cluster; some list every machine. */
const LONGEST_QUOTE = 1000

const NOT_ENOUGH_MEMORY =
  'Give this instance type more memory in `instance-types`, or spread the load over more nodes.'
const DELETED_BY_CLUSTER =
  'See who in the cluster did this (a drained or preempted machine, an autoscaler, another user), and run again.'

/** Why a pod is lost for good, whatever it was doing; undefined for one that waits or runs. `last` is how it was seen before. */
export function lossOf(
  pod: PodDocument | undefined,
  job: JobDocument | undefined,
  last: PodDocument | undefined = pod
): Trouble | undefined {
  const isDeleted = pod?.metadata.deletionTimestamp !== undefined
  if (pod === undefined || isDeleted) return deletionOf(pod ?? last, job, isDeleted)
  const { terminated } = containerState(pod)
  const { phase, reason, message } = pod.status ?? {}
  if (terminated === undefined && phase !== 'Failed' && phase !== 'Succeeded') return undefined
  if (terminated?.reason === 'OOMKilled') return outOfMemory(pod, terminated.exitCode)
  const disruption = conditionOf(pod.status?.conditions, 'DisruptionTarget')
  if (phase === 'Failed' && reason !== undefined)
    return {
      reason,
      words: `${quoted(reason, message)}${exitCodeOf(terminated)}`,
      advice:
        reason === 'Evicted'
          ? 'Free the machine, or request more for this instance type.'
          : DELETED_BY_CLUSTER
    }
  if (disruption?.status === 'True') return disrupted(disruption, terminated)
  return ended(terminated)
}

/** Why a pod is not there any more, or will not be in a moment. */
export function deletionOf(
  last: PodDocument | undefined,
  job: JobDocument | undefined,
  isStillThere: boolean
): Trouble {
  const failure = failureOf(job)
  if (failure?.reason === 'DeadlineExceeded')
    return {
      reason: 'DeadlineExceeded',
      words: quoted('DeadlineExceeded', failure.message),
      advice:
        'The Job ran longer than `start-timeout`, `stop_after` and 10 minutes together: raise `stop_after`.'
    }
  const disruption = conditionOf(last?.status?.conditions, 'DisruptionTarget')
  const { terminated } = last === undefined ? {} : containerState(last)
  if (disruption?.status === 'True') return disrupted(disruption, terminated)
  if (last !== undefined && terminated?.reason === 'OOMKilled') return outOfMemory(last, terminated.exitCode)
  if (job === undefined || job.metadata.deletionTimestamp !== undefined)
    return { reason: 'JobDeleted', words: 'its Job was deleted', advice: DELETED_BY_CLUSTER }
  return {
    reason: 'Deleted',
    words: `the pod ${isStillThere ? 'was deleted' : 'is gone'}${exitCodeOf(terminated)}${
      failure === undefined ? '' : `; the Job says ${quoted(failure.reason ?? 'Failed', failure.message)}`
    }`,
    advice: DELETED_BY_CLUSTER
  }
}

/** Pods whose machine is silent keep their phase; only this shows it. */
export function isReady(pod: PodDocument): boolean {
  return pod.status?.phase === 'Running' && conditionOf(pod.status.conditions, 'Ready')?.status === 'True'
}

/** Why a Job failed as a whole. */
export function failureOf(job: JobDocument | undefined): Condition | undefined {
  const conditions = job?.status?.conditions
  return [conditionOf(conditions, 'Failed'), conditionOf(conditions, 'FailureTarget')].find(
    (condition) => condition?.status === 'True'
  )
}

export function conditionOf(
  conditions: readonly Condition[] | undefined,
  type: string
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}

export function containerState(pod: PodDocument): ContainerState {
  const statuses = pod.status?.containerStatuses ?? []
  // Some clusters add containers of their own.
  return (statuses.find(({ name }) => name === CONTAINER) ?? statuses[0])?.state ?? {}
}

/** `Reason: "message"`, as the cluster has it. */
export function quoted(reason: string, message: string | undefined): string {
  const text = shorten(message ?? '', LONGEST_QUOTE)
  return text === '' ? reason : `${reason}: "${text}"`
}

function outOfMemory(pod: PodDocument, exitCode: number): Trouble {
  const limit = limitOf(pod, 'memory')
  return {
    reason: 'OOMKilled',
    words:
      `it used more memory than ${limit === undefined ? 'the machine has' : `its limit of ${limit}`} ` +
      `(OOMKilled, exit code ${exitCode})`,
    advice: NOT_ENOUGH_MEMORY
  }
}

/** A limit of the pod's container, in Kubernetes' own quantity. */
export function limitOf(pod: PodDocument, resource: 'cpu' | 'memory'): string | undefined {
  const { containers } = pod.spec
  return (containers.find(({ name }) => name === CONTAINER) ?? containers[0])?.resources?.limits?.[resource]
}

function disrupted({ reason, message }: Condition, terminated: ContainerState['terminated']): Trouble {
  const name = reason ?? 'DisruptionTarget'
  return {
    reason: name,
    words: `${quoted(name, message)}${exitCodeOf(terminated)}`,
    advice: DELETED_BY_CLUSTER
  }
}

function ended(terminated: ContainerState['terminated']): Trouble {
  const reason = terminated?.reason ?? 'Failed'
  return {
    reason,
    words: `its container ended: ${quoted(reason, terminated?.message)}${exitCodeOf(terminated)}`,
    advice:
      terminated?.exitCode === CANNOT_NOTE
        ? 'If its disk is full, free space on the machine, or let the plan write less; and let the plan leave the files in /loadgate alone.'
        : reason === 'StartError' || reason === 'ContainerCannotRun'
          ? 'The image must have `sh`, `tail`, `tar` and `sha256sum`, and run as user 65534.'
          : 'Look at its log and at the machine that it ran on.'
  }
}

function exitCodeOf(terminated: ContainerState['terminated']): string {
  return terminated === undefined ? '' : ` (exit code ${terminated.exitCode})`
}
