import { join } from 'node:path'
import type { ScanResult } from '../results/scan-result.js'
import { createScanner } from '../results/scanner.js'
import type { Scanner } from '../results/scanner.js'
import type { ServiceClient } from '../service/client.js'
import type { Clock } from '../service/clock.js'
import type { Run } from '../service/documents.js'
import { downloadCsv } from './download.js'
import { messageOf } from './trouble.js'
import type { Log } from './workbench.js'

/** One grid's CSV: on disk, or why it is not. */
export interface GridResult {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number | undefined
  /** Undefined when the CSV could not be had whole. */
  readonly path: string | undefined
  readonly bytes: number
  readonly problem: string | undefined
}

/** A CSV as it lies on disk, and what was read in it while it arrived. */
export interface FetchedGrid {
  readonly result: GridResult
  readonly scan: ScanResult | undefined
}

interface Source {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number | undefined
  readonly href: string
}

interface Means {
  readonly client: ServiceClient
  readonly clock: Clock
  readonly log: Log
}

interface Place {
  readonly resultsDir: string
  readonly signal: AbortSignal
}

/** Brings every grid's CSV to disk, side by side. What cannot be had is told, not thrown. */
export async function fetchResults(means: Means, run: Run, place: Place): Promise<FetchedGrid[]> {
  return Promise.all(sourcesOf(means.client, run).map((source) => fetchGrid(means, source, place)))
}

/** Every grid of the run; the link of the reply is followed where there is one. */
function sourcesOf(client: ServiceClient, run: Run): Source[] {
  const fromGrids = run.grids.map((grid) => ({
    gridId: grid.id,
    region: grid.region,
    nodeCount: grid.nodeCount ?? (grid.nodes.length || undefined),
    href:
      run.results.find((result) => gridIdOf(result.href) === grid.id)?.href ??
      client.resultHref(run.id, grid.id)
  }))
  const known = new Set(run.grids.map(({ id }) => id))
  const fromLinks = run.results.flatMap(({ href, region }, index) => {
    // A link that names no grid counts only where no grid is named elsewhere: it is then all there is.
    const gridId = gridIdOf(href) ?? (known.size === 0 ? `result-${index + 1}` : undefined)
    return gridId === undefined || known.has(gridId)
      ? []
      : [{ gridId, region: region ?? 'unknown', nodeCount: undefined, href }]
  })
  return [...fromGrids, ...fromLinks]
}

function gridIdOf(href: string): string | undefined {
  return /[?&]grid_id=([A-Za-z0-9_-]+)/.exec(href)?.[1]
}

async function fetchGrid(
  { client, clock, log }: Means,
  source: Source,
  { resultsDir, signal }: Place
): Promise<FetchedGrid> {
  const { gridId, region, nodeCount } = source
  const path = join(resultsDir, `${plainName(region)}-${gridId}.csv`)
  const reading = startReading(gridId, region)
  let retries = 0
  try {
    const bytes = await downloadCsv({
      open: (range) => client.openResult(source.href, { range, signal }),
      path,
      clock,
      signal,
      tap: reading,
      onRetry: (reason) => {
        if (retries++ === 0) log.info(`The CSV of grid ${gridId} is not there yet: ${reason}. Trying again.`)
      }
    })
    return { result: { gridId, region, nodeCount, path, bytes, problem: undefined }, scan: reading.finish() }
  } catch (thrown) {
    const problem = messageOf(thrown)
    log.warning(`The CSV of grid ${gridId} (${region}) could not be had: ${problem}`)
    return { result: { gridId, region, nodeCount, path: undefined, bytes: 0, problem }, scan: undefined }
  }
}

/** Regions come from the service and become file names. */
function plainName(region: string): string {
  return region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
}

function startReading(
  grid: string,
  region: string
): { restart(): void; push(chunk: Uint8Array): void; finish(): ScanResult } {
  let scanner: Scanner = createScanner({ grid, region })
  return {
    restart: () => {
      scanner = createScanner({ grid, region })
    },
    push: (chunk) => scanner.push(chunk),
    finish: () => scanner.end()
  }
}
