import { join } from 'node:path'
import { regionName } from '../../contract/regions/regions.js'
import type { ScannerOptions, ScanResult } from '../../analysis/results/counts/scan-result.js'
import { ArrivingScan } from '../../analysis/results/parallel/arriving-scan.js'
import type { ServiceClient } from '../../client/client.js'
import type { Run } from '../../contract/api.js'
import { pauseBetweenLooks } from '../../client/retry.js'
import { downloadCsv } from './download.js'
import { UNKNOWN_REGION, gridIdOf, type ListedGrid } from './expected-grids.js'
import { messageOf } from '../../contract/text.js'
import type { Ports } from '../ports.js'

export interface GridResult {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number | undefined
  /** Undefined if the CSV could not be downloaded completely. */
  readonly path: string | undefined
  readonly bytes: number
  readonly problem: string | undefined
}

/** A CSV on disk, and what was read from it while it arrived. */
export interface FetchedGrid {
  readonly result: GridResult
  readonly scan: ScanResult | undefined
  readonly href: string
}

export interface Source extends ListedGrid {
  readonly runId: string
  readonly nodeCount: number | undefined
  readonly href: string
  /** Which of the grid's CSVs it is, from 1: a service may have one per node. */
  readonly part: number
  /** Whether the service provided the link; otherwise it is built as the API document describes. */
  readonly isLinked: boolean
}

type Services = Pick<Ports, 'clock' | 'log'> & { readonly client: ServiceClient }

interface Options extends Pick<ScannerOptions, 'stallLabels' | 'asideGroups'> {
  readonly resultsDir: string
  readonly signal: AbortSignal
  /** How long a CSV without rows may still be in the process of being written. */
  readonly emptyPatienceMs: number
  /** What is not a CSV now never will be. */
  readonly isFinal?: boolean
  readonly findAddress: (source: Source) => Promise<string>
}

/** Downloads every grid's CSV in parallel, as the run lists them. Failures are returned, not thrown. */
export async function fetchResults(
  services: Services,
  run: Run,
  place: Pick<Options, 'resultsDir' | 'signal'>
): Promise<FetchedGrid[]> {
  const findAddress = ({ href }: Source): Promise<string> => Promise.resolve(href)
  const options = { ...place, emptyPatienceMs: 0, findAddress }
  return Promise.all(sourcesOf(services.client, run).map((source) => fetchGrid(services, source, options)))
}

/** Every CSV of every grid of the run, each once, from the reply's links if there are any. Some requested grids may not be listed yet. */
export function sourcesOf(client: ServiceClient, run: Run, requestedGrids = 1): Source[] {
  const fromGrids = run.grids.flatMap((grid): Source[] => {
    const links = linksOf(run, grid.id).concat(requestedGrids > 1 ? [] : onlyLinkOf(run))
    const hrefs = links.length > 0 ? links : [client.resultHref(run.id, grid.id)]
    return hrefs.map((href, index) => ({
      runId: run.id,
      gridId: grid.id,
      region: grid.region,
      nodeCount: grid.nodeCount ?? (grid.nodes.length || undefined),
      href,
      part: index + 1,
      isNamed: true,
      isLinked: links.length > 0
    }))
  })
  const fromLinks = run.results.flatMap(({ href, region = UNKNOWN_REGION }, index): Source[] => {
    const gridId = gridIdOf(href)
    // A link that names no grid counts only if no grid is named elsewhere: then it is all there is.
    if (gridId === undefined && run.grids.length > 0) return []
    const part = gridId === undefined ? 1 : linksOf(run, gridId).indexOf(href) + 1
    const link = { runId: run.id, region, nodeCount: undefined, href, part, isLinked: true }
    return [{ ...link, gridId: gridId ?? `result-${index + 1}`, isNamed: gridId !== undefined }]
  })
  const sources = new Map<string, Source>()
  for (const source of [...fromGrids, ...fromLinks])
    if (!sources.has(nameOf(source))) sources.set(nameOf(source), source)
  return [...sources.values()]
}

/** The name of one CSV of a grid; it stays the same even if the link changes. No id contains a dot. */
export function nameOf({ gridId, part }: Pick<Source, 'gridId' | 'part'>): string {
  return part === 1 ? gridId : `${gridId}.${part}`
}

/**
 * The current link to the same CSV. Links may be signed anew for each reply and listed in another order: the grid's link that has most
 * in common with the known one is the same CSV, or else the one at the same position.
 */
export function renewHref(known: Source, listed: readonly Source[]): string {
  const own = listed.filter(
    ({ gridId, isLinked }) => gridId === known.gridId && (isLinked || !known.isLinked)
  )
  const atSamePlace = own.find(({ part }) => part === known.part)
  const candidates = atSamePlace === undefined ? own : [atSamePlace, ...own]
  // The path and each parameter: everything but the signature stays the same.
  const piecesOf = (href: string): string[] => href.split(/[?&]/)
  const pieces = piecesOf(known.href)
  const likeness = ({ href }: Source): number =>
    piecesOf(href).filter((piece) => pieces.includes(piece)).length
  const best = Math.max(...candidates.map(likeness))
  return candidates.find((source) => likeness(source) === best)?.href ?? known.href
}

function linksOf({ results }: Run, gridId: string): string[] {
  return [...new Set(results.map(({ href }) => href).filter((href) => gridIdOf(href) === gridId))]
}

/** One grid, and one link that does not readably say which grid it is for: it can only belong to that grid. */
function onlyLinkOf({ grids, results }: Run): string[] {
  const [href = '', ...others] = new Set(results.map((link) => link.href))
  const isOnly = grids.length === 1 && others.length === 0 && href !== ''
  return isOnly && gridIdOf(href) === undefined ? [href] : []
}

/** Downloads one grid's CSV. Failures are returned, not thrown. */
export async function fetchGrid(services: Services, source: Source, options: Options): Promise<FetchedGrid> {
  const { client, clock, log } = services
  const { signal, emptyPatienceMs, isFinal = false } = options
  const { gridId, region, nodeCount, runId } = source
  const path = join(options.resultsDir, `${regionName(region)}-${nameOf(source)}.csv`)
  const { stallLabels = [], asideGroups } = options
  const scanning = { grid: gridId, region, stallLabels, asideGroups }
  const sinceMs = clock.now()
  let scan: ArrivingScan | undefined
  try {
    for (let looks = 1; ; looks++) {
      let retries = 0
      let { href } = source
      const bytes = await downloadCsv({
        open: async (range) => {
          if (retries > 0) href = await options.findAddress({ ...source, href })
          return client.openResult(href, { range, signal, runId })
        },
        ...{ path, clock, signal, isFinal },
        tap: {
          restart: (file) => {
            void scan?.close()
            scan = new ArrivingScan({ ...scanning, path: file })
          },
          push: (chunk) => scan?.push(chunk)
        },
        onRetry: (reason) => {
          if (retries++ === 0) log.info(`The CSV of grid ${gridId} is not ready yet: ${reason}. Retrying.`)
        }
      })
      const result = { gridId, region, nodeCount, path, bytes, problem: undefined }
      const fetched = { result, scan: await scan?.end(path), href }
      if ((fetched.scan?.rows ?? 0) > 0 || clock.now() - sinceMs >= emptyPatienceMs) return fetched
      await clock.sleep(pauseBetweenLooks(looks), signal).catch(() => undefined)
      if (signal.aborted) return fetched
    }
  } catch (thrown) {
    const problem = messageOf(thrown)
    log.warning(`The CSV of grid ${gridId} (${region}) could not be downloaded: ${problem}`)
    return withProblem(source, problem)
  } finally {
    await scan?.close()
  }
}

export function withProblem({ gridId, region, nodeCount, href }: Source, problem: string): FetchedGrid {
  const result = { gridId, region, nodeCount, path: undefined, bytes: 0, problem }
  return { result, scan: undefined, href }
}
