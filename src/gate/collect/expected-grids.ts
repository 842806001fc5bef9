import type { Run } from '../../contract/api.js'
import { isReference } from '../../client/documents/requests.js'
import type { Settings } from '../settings/settings.js'

/** A grid that must have results: a known one, one in a region, or just one more. */
export interface ExpectedGrid {
  readonly id?: string
  readonly region?: string
}

export interface ListedGrid {
  readonly gridId: string
  readonly region: string
  /** False if the results do not say which grid they belong to. */
  readonly isNamed: boolean
}

export const UNKNOWN_REGION = 'unknown'

export function gridIdOf(href: string): string | undefined {
  return /[?&]grid_id=([A-Za-z0-9_-]+)/.exec(href)?.[1]
}

/** What was requested; for a run not created here, `earlier` shows it. Its grids may have new ids by now: they are matched by region. */
export function expectedGrids({ origin }: Settings, earlier: Run | undefined): ExpectedGrid[] {
  if (origin.kind === 'files')
    return origin.grids.map((grid) => {
      if (isReference(grid)) return { id: grid.id }
      // The service has chosen it.
      return grid.region === '' ? {} : { region: grid.region }
    })
  // A list may name a grid twice.
  const regions = new Map((earlier?.grids ?? []).map(({ id, region }) => [id, region]))
  const named = [...regions.values()].map((region) => (region === UNKNOWN_REGION ? {} : { region }))
  return [...named, ...(earlier?.oddGrids ?? []).map(() => ({}))]
}

export function findNameless({ oddGrids = [] }: Run): string[] {
  return oddGrids.map((what) => `The service lists a grid whose results cannot be found: ${what}.`)
}

/** What was expected and is not listed: `grid abc`, `a grid in eu-west-1`. Each listed grid matches one expected grid. */
export function findMissing(expected: readonly ExpectedGrid[], listed: readonly ListedGrid[]): string[] {
  // A grid with several CSVs is one grid.
  const left = [...new Map(listed.map((grid) => [grid.gridId, grid])).values()]
  const take = (isOne: (grid: ListedGrid) => boolean): boolean => {
    const at = left.findIndex(isOne)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  }
  const open = expected
    .filter(({ id }) => id === undefined || !take((grid) => grid.isNamed && grid.gridId === id))
    .filter(({ id, region }) => id !== undefined || !take((grid) => isSameRegion(grid.region, region)))
  // A service may list regions under other names than it accepts: then they are only counted.
  const isExpected = ({ region }: ListedGrid): boolean =>
    expected.some((grid) => isSameRegion(grid.region, region))
  const hasOwnNames = !listed.some(isExpected)
  const isCounted = hasOwnNames || (left.length === open.length && !left.some(isExpected))
  const couldBe = ({ id, region }: ExpectedGrid, grid: ListedGrid): boolean =>
    id === undefined ? region === undefined || isCounted || grid.region === UNKNOWN_REGION : !grid.isNamed
  return open
    .filter((grid) => !take((one) => couldBe(grid, one)))
    .map(({ id, region }) => {
      if (id !== undefined) return `grid ${id}`
      return region === undefined || (hasOwnNames && listed.length > 0) ? 'a grid' : `a grid in ${region}`
    })
}

function isSameRegion(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && one.trim().toLowerCase() === other?.trim().toLowerCase()
}

/** Grids with fewer nodes than requested, in sentences. Compared by size within a region; those in renamed regions, with each other. */
export function findSmaller({ origin }: Settings, grids: Run['grids']): string[] {
  if (origin.kind !== 'files') return []
  const references = origin.grids.flatMap((grid) => (isReference(grid) ? [grid.id] : []))
  const own = grids.filter(({ id }) => !references.includes(id))
  const requested = origin.grids.flatMap((grid) => (isReference(grid) ? [] : [grid]))
  const isIn = (others: readonly { region: string }[]) => (grid: { region: string }) =>
    others.some(({ region }) => isSameRegion(region, grid.region))
  const known = requested.filter(isIn(own))
  const named = known.filter((grid, index) => known.findIndex((one) => isIn([grid])(one)) === index)
  const renamed = compareSizes(
    requested.filter((grid) => !known.includes(grid)),
    own.filter((grid) => !isIn(requested)(grid))
  )
  return [
    ...named.flatMap((grid) => compareSizes(requested.filter(isIn([grid])), own.filter(isIn([grid])))),
    ...renamed
  ]
}

/** If the numbers of grids differ, the smallest listed and the largest requested ones are left out, so as not to report too much. */
function compareSizes(requested: readonly { nodeCount: number }[], grids: Run['grids']): string[] {
  const stated = grids
    .flatMap(({ id, nodeCount }) => (nodeCount === undefined || nodeCount <= 0 ? [] : [{ id, nodeCount }]))
    .sort((one, other) => one.nodeCount - other.nodeCount)
    .slice(-requested.length)
  const wanted = requested.map(({ nodeCount }) => nodeCount).sort((one, other) => one - other)
  return stated.flatMap(({ id, nodeCount }, index) => {
    const count = wanted[index] ?? 0
    if (nodeCount >= count) return []
    return [`The service says that grid ${id} has ${nodeCount} of the ${count} nodes requested.`]
  })
}
