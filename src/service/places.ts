import type { KubernetesPlace, Regions } from '../contract/regions/regions.js'
import type { Clock } from '../contract/clock.js'
import { readPackageVersion } from './version.js'
import { count, messageOf } from '../contract/text.js'
import type { NodePlace, NodesInUse } from './nodes/load-node.js'
import type * as clusters from './nodes/clusters.js'
import type { Cluster, ClusterAddress } from './nodes/kubernetes/cluster.js'

export interface Places {
  /** The names of the regions; undefined if every region is this machine. */
  readonly regions: readonly string[] | undefined
  /** Undefined for an unknown region. */
  placeOf(region: string): NodePlace | undefined
  /** Deletes what this service, or an earlier one with the same data, has left there, except these nodes. Never throws. */
  clearAway(inUse: readonly NodesInUse[]): Promise<void>
}

export interface PlaceParts {
  readonly machine: NodePlace
  /** Identifies what belongs to this service, and to later ones with the same data. */
  readonly marker: () => string
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Called with the addresses of the clusters before anything is created on them; if it throws, nothing is. */
  readonly onClusters?: ((addresses: readonly ClusterAddress[]) => void) | undefined
  /** Called with advice if something could not be deleted; without it, that is logged. */
  readonly onLeft?: ((words: string) => void) | undefined
  /** Ends the start, with its reason: clusters may take their time. */
  readonly signal?: AbortSignal | undefined
  readonly loadKubernetes?: () => Promise<Kubernetes>
}

/** What is needed for pods; loaded only if there is a region on Kubernetes. */
export type Kubernetes = Pick<
  typeof clusters,
  'openCluster' | 'checkAccess' | 'createPodPlace' | 'deleteJobs' | 'jobName'
>

const load = (): Promise<Kubernetes> => import('./nodes/clusters.js')

const NODE_IMAGE = 'ghcr.io/loadgate/loadgate-node'

/** All problems of all regions are in one error, before anything is created. */
export async function openPlaces(regions: Regions | undefined, parts: PlaceParts): Promise<Places> {
  const { machine } = parts
  if (regions === undefined)
    return { regions: undefined, placeOf: () => machine, clearAway: () => Promise.resolve() }
  const pods = [...regions].flatMap(([region, place]) =>
    place.kind === 'kubernetes' ? [{ region, place }] : []
  )
  const here = [...regions].flatMap(([region, { kind }]): [string, NodePlace][] =>
    kind === 'processes' ? [[region, machine]] : []
  )
  const opened =
    pods.length === 0 ? undefined : await openPods(pods, parts, await (parts.loadKubernetes ?? load)())
  const places = new Map([...here, ...(opened?.places ?? [])])
  return {
    regions: [...regions.keys()],
    placeOf: (region) => places.get(region),
    clearAway: (inUse) => opened?.clearAway(inUse) ?? Promise.resolve()
  }
}

export function checkRegion(region: string, places: Places): string[] {
  if (places.placeOf(region) !== undefined) return []
  return [`there is no region ${region}: this service has ${places.regions?.join(', ') ?? 'none'}`]
}

async function openPods(
  pods: readonly { region: string; place: KubernetesPlace }[],
  parts: PlaceParts,
  { openCluster, checkAccess, createPodPlace, deleteJobs, jobName }: Kubernetes
): Promise<{ places: [string, NodePlace][]; clearAway: Places['clearAway'] }> {
  const { signal, clock, log, onLeft = log } = parts
  const found = await Promise.allSettled(
    pods.map(async (pod) => ({ ...pod, cluster: await openCluster(pod.place, parts.env) }))
  )
  const reached = found.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
  const problems = found.flatMap((each, index) =>
    each.status === 'rejected' ? [`region ${pods[index]?.region ?? ''}: ${messageOf(each.reason)}`] : []
  )
  // Regions may share a namespace.
  const clusters = new Map(reached.map(({ cluster }) => [JSON.stringify(cluster.address), cluster]))
  const checks = [...clusters].map(([address, cluster]) => {
    const regions = reached.filter((each) => JSON.stringify(each.cluster.address) === address)
    return describeAccess(
      cluster,
      regions.map(({ region }) => region),
      checkAccess(cluster, signal)
    )
  })
  problems.push(...(await Promise.all(checks)).flat())
  signal?.throwIfAborted()
  if (problems.length > 0) throw new Error(problems.join('\n'))
  parts.onClusters?.([...clusters.values()].map(({ address }) => address))
  const marker = parts.marker()
  const defaultImage = `${NODE_IMAGE}:${readPackageVersion()}`
  /** A Job that cannot be deleted now ends by its own deadline, or is deleted at the next start. */
  const deleteLeft = async (cluster: Cluster, kept: ReadonlySet<string>): Promise<void> => {
    const selector = `loadgate.dev/marker=${marker}`
    try {
      const deleted = await deleteJobs(cluster, selector, { signal, kept })
      if (deleted > 0) log(`deleted ${count(deleted, 'Job')} left behind in ${cluster.name}`)
    } catch (thrown) {
      log(`could not delete the Jobs left behind in ${cluster.name} (${selector}): ${messageOf(thrown)}`)
    }
  }
  return {
    places: reached.map(({ region, place, cluster }) => [
      region,
      createPodPlace({ place, cluster, defaultImage, marker, clock, log, onLeft })
    ]),
    clearAway: async (inUse) => {
      const kept = new Set(inUse.map(jobName))
      await Promise.all([...clusters.values()].map((cluster) => deleteLeft(cluster, kept)))
    }
  }
}

/** Each problem with the regions and the cluster that it is about: others may be fine. */
async function describeAccess(
  { name }: Cluster,
  regions: readonly string[],
  access: ReturnType<Kubernetes['checkAccess']>
): Promise<string[]> {
  const where = `${regions.length === 1 ? 'region' : 'regions'} ${regions.join(', ')}`
  const tell = (message: string): string =>
    message.includes(name) ? `${where}: ${message}` : `${where} (${name}): ${message}`
  try {
    return (await access).map(({ message, manifest }) =>
      manifest === undefined
        ? tell(message)
        : `${tell(message)} This grants it (kubectl apply -f -):\n\n${manifest.trimEnd()}\n`
    )
  } catch (thrown) {
    return [tell(messageOf(thrown))]
  }
}
