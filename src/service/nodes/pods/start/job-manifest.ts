import type { KubernetesPlace } from '../../../../contract/regions/regions.js'
import type { NodesInUse, NodeSetRequest } from '../../load-node.js'
import { SUPERVISOR } from '../work/supervisor.js'

/** The pod's only container. */
export const CONTAINER = 'node'

/** Beyond the time in which the service ends the load itself. */
const DEADLINE_SLACK_SEC = 600
/** How long an ended Job stays if nobody deletes it, so that people can look at it. */
const KEEP_AFTER_END_SEC = 600
/** How long a deleted pod stays: only in this time the cluster says why it was deleted. */
const LINGER_SEC = 4
/** Everything worth keeping has been copied before a pod is deleted. */
const GRACE_SEC = LINGER_SEC + 2
/** `nobody`, by its number: a kubelet cannot tell whether a named user is root. */
const USER_ID = 65_534

export interface JobParts {
  readonly place: KubernetesPlace
  readonly request: NodeSetRequest
  /** Identifies whatever this service creates. */
  readonly marker: string
  /** The image of a place that names none; for tools that drive browsers, the one with browsers. */
  readonly defaultImage: string
}

export interface JobManifest {
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly [key: string]: unknown
}

/** The same for every attempt, so that a Job whose reply was lost is found again and not created twice. At most 63 characters with the number of a pod. */
export function jobName({ runId, gridId }: NodesInUse): string {
  return `loadgate-${runId}-${gridId}`
}

/** The Job of a run's grid: as many pods as it has nodes, none of which is ever replaced. Nothing secret belongs in it. */
export function jobManifest(parts: JobParts): JobManifest {
  const { place, request, marker } = parts
  const labels = labelsOf(marker, request)
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: jobName(request), labels },
    spec: {
      completionMode: 'Indexed',
      completions: request.quantity,
      parallelism: request.quantity,
      // With a limit for the whole Job, one failed pod would take the others and their results along.
      backoffLimitPerIndex: 0,
      podReplacementPolicy: 'Failed',
      activeDeadlineSeconds:
        Math.ceil(place.startTimeoutMs / 1000) + Math.ceil(request.stopAfterMin * 60) + DEADLINE_SLACK_SEC,
      ttlSecondsAfterFinished: KEEP_AFTER_END_SEC,
      template: { metadata: { labels, annotations: KEEP_IN_PLACE }, spec: podSpec(parts) }
    }
  }
}

/** A machine is not emptied to save money while load runs on it. */
const KEEP_IN_PLACE = {
  'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
  'karpenter.sh/do-not-disrupt': 'true'
}

function podSpec({ place, request, defaultImage }: JobParts): Record<string, unknown> {
  return {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: GRACE_SEC,
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    ...(place.serviceAccount !== undefined && { serviceAccountName: place.serviceAccount }),
    ...(place.hostNetwork && { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }),
    nodeSelector: place.nodeSelector,
    tolerations: place.tolerations,
    imagePullSecrets: place.imagePullSecrets.map((name) => ({ name })),
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER_ID,
      runAsGroup: USER_ID,
      fsGroup: USER_ID,
      seccompProfile: { type: 'RuntimeDefault' }
    },
    containers: [
      {
        name: CONTAINER,
        image: place.image ?? defaultImage,
        ...(place.imagePullPolicy !== undefined && { imagePullPolicy: place.imagePullPolicy }),
        command: ['sh', '-c', SUPERVISOR],
        lifecycle: { preStop: { exec: { command: ['sleep', String(LINGER_SEC)] } } },
        resources: resourcesOf(place, request.instanceType),
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        volumeMounts: [
          { name: 'work', mountPath: '/loadgate' },
          { name: 'tmp', mountPath: '/tmp' }
        ]
      }
    ],
    volumes: [
      { name: 'work', emptyDir: {} },
      { name: 'tmp', emptyDir: {} }
    ]
  }
}

function resourcesOf(place: KubernetesPlace, instanceType: string): Record<string, unknown> {
  const known = place.instanceTypes.get(instanceType)
  if (known === undefined) return { requests: { cpu: '1', memory: '2Gi' } }
  const quantities = { cpu: known.cpu, memory: known.memory }
  return { requests: quantities, limits: quantities }
}

export const MARKER_LABEL = 'loadgate.dev/marker'
export const RUN_LABEL = 'loadgate.dev/run'
export const GRID_LABEL = 'loadgate.dev/grid'

/** What identifies a grid's Job and pods as ours, whoever looks for them later. */
function labelsOf(marker: string, { gridId, runId }: NodesInUse): Record<string, string> {
  return {
    'app.kubernetes.io/managed-by': 'loadgate',
    [MARKER_LABEL]: marker,
    [RUN_LABEL]: runId,
    [GRID_LABEL]: gridId
  }
}

const VALUE = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** Selects the objects that have all of these labels. What it selects may be deleted, so every value is checked. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => {
      if (!VALUE.test(value)) throw new Error(`"${value}" cannot be the value of the label ${name}.`)
      return `${name}=${value}`
    })
    .join(',')
}

/** Finds the Job and the pods of a run's grid, and nobody else's. */
export function gridSelector({ marker, runId, gridId }: NodesInUse & { marker: string }): string {
  return selectorOf({ [MARKER_LABEL]: marker, [RUN_LABEL]: runId, [GRID_LABEL]: gridId })
}
