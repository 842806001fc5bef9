import type { KubernetesPlace, Place, Regions } from '../../regions/regions.js'
import { isReference } from '../../service/documents/requests.js'
import type { Settings } from '../settings/settings.js'

type RegionSettings = Pick<Settings, 'regions' | 'origin'>

interface UsedRegion {
  readonly name: string
  readonly place: Place
  /** Undefined if any of them may be used. */
  readonly instanceTypes: readonly string[] | undefined
}

/**
 * Where the load comes from, as far as figures depend on it: places of other regions, and how a cluster is reached, do not count.
 * Undefined without `regions`, so that runs recorded before are still comparable.
 */
export function describeRegions({ regions, origin }: RegionSettings): string | undefined {
  if (regions === undefined) return undefined
  return listUsed(regions, origin).map(describeRegion).sort().join(', ')
}

/** Whether no load comes from this machine. */
export function areAllOnClusters({ regions, origin }: RegionSettings): boolean {
  return regions !== undefined && listUsed(regions, origin).every(({ place }) => place.kind === 'kubernetes')
}

/** Those of the grids; all of them if a grid is only known by its id. */
function listUsed(regions: Regions, origin: Settings['origin']): UsedRegion[] {
  const grids = origin.kind === 'files' ? origin.grids : []
  const specified = grids.flatMap((grid) => (isReference(grid) ? [] : [grid]))
  const isKnown = specified.length > 0 && specified.length === grids.length
  return [...regions].flatMap(([name, place]): UsedRegion[] => {
    if (!isKnown) return [{ name, place, instanceTypes: undefined }]
    const types = specified.filter(({ region }) => region === name).map(({ instanceType }) => instanceType)
    return types.length === 0 ? [] : [{ name, place, instanceTypes: types }]
  })
}

function describeRegion({ name, place, instanceTypes }: UsedRegion): string {
  if (place.kind === 'processes') return `${name}: processes`
  const parts = [
    place.image ?? 'the default image',
    ...describeSelector(place),
    ...sizesOf(place, instanceTypes)
  ]
  return `${name}: pods (${parts.join('; ')})`
}

function describeSelector({ nodeSelector }: KubernetesPlace): string[] {
  const labels = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`)
  return labels.length === 0 ? [] : [`on ${labels.sort().join(' ')}`]
}

function sizesOf({ instanceTypes }: KubernetesPlace, used: readonly string[] | undefined): string[] {
  return [...instanceTypes]
    .filter(([name]) => used?.includes(name) ?? true)
    .map(([name, { cpu, memory }]) => `${name} = ${cpu} CPU ${memory}`)
    .sort()
}
