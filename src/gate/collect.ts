import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mergeScans } from '../results/merge.js'
import type { ScanResult } from '../results/scan-result.js'
import { createScanner } from '../results/scanner.js'
import type { Scanner } from '../results/scanner.js'
import type { Measurements } from '../results/measurements.js'
import { RefusedError, isPassing } from '../service/errors.js'
import type { Report, Run } from '../service/documents.js'
import { pauseBefore } from '../service/retries.js'
import { downloadCsv } from './download.js'
import type { Gate } from './gate.js'
import { messageOf } from './trouble.js'

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

export interface Collection {
  readonly report: Report | undefined
  readonly reportProblem: string | undefined
  readonly resultsDir: string
  readonly grids: readonly GridResult[]
  readonly measurements: Measurements | undefined
}

interface Source {
  readonly gridId: string
  readonly region: string
  readonly nodeCount: number | undefined
  readonly href: string
}

const LONGEST_PAUSE_ATTEMPT = 6

/** Brings the report and every grid's CSV home, side by side, reading the CSVs as they arrive. What cannot be had is told, not thrown. */
export async function collect(gate: Gate, run: Run, signal: AbortSignal): Promise<Collection> {
  const resultsDir = join(gate.bench.scratchDir, 'results')
  await mkdir(resultsDir, { recursive: true })
  const [report, grids] = await Promise.all([
    readReport(gate, run.id, signal),
    Promise.all(sourcesOf(gate, run).map((source) => fetchGrid(gate, source, { resultsDir, signal })))
  ])
  const scans = grids.flatMap(({ scan }) => scan ?? [])
  return {
    ...report,
    resultsDir,
    grids: grids.map(({ result }) => result),
    measurements: scans.length > 0 ? mergeScans(scans) : undefined
  }
}

async function readReport(
  { client, bench }: Gate,
  runId: string,
  signal: AbortSignal
): Promise<Pick<Collection, 'report' | 'reportProblem'>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return { report: await client.report(runId, signal), reportProblem: undefined }
    } catch (thrown) {
      const isNotReady =
        isPassing(thrown) || (thrown instanceof RefusedError && [404, 409, 423].includes(thrown.status))
      if (!isNotReady || signal.aborted) return { report: undefined, reportProblem: messageOf(thrown) }
      if (attempt === 1) bench.log.info(`The report is not ready (${messageOf(thrown)}); trying again.`)
      const pauseMs = pauseBefore(Math.min(attempt, LONGEST_PAUSE_ATTEMPT), thrown)
      const isOver = await bench.clock.sleep(pauseMs, signal).then(
        () => false,
        () => true
      )
      if (isOver) return { report: undefined, reportProblem: messageOf(thrown) }
    }
  }
}

/** Every grid of the run; the link of the reply is followed where there is one. */
function sourcesOf({ client }: Gate, run: Run): Source[] {
  const fromGrids = run.grids.map((grid) => ({
    gridId: grid.id,
    region: grid.region,
    nodeCount: grid.nodeCount ?? (grid.nodes.length || undefined),
    href:
      run.results.find((result) => gridIdOf(result.href) === grid.id)?.href ??
      client.resultHref(run.id, grid.id)
  }))
  const known = new Set(run.grids.map(({ id }) => id))
  const fromLinks = run.results.flatMap(({ href, region }) => {
    const gridId = gridIdOf(href)
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
  { client, bench }: Gate,
  source: Source,
  { resultsDir, signal }: { resultsDir: string; signal: AbortSignal }
): Promise<{ result: GridResult; scan: ScanResult | undefined }> {
  const { gridId, region, nodeCount } = source
  const path = join(resultsDir, `${plainName(region)}-${gridId}.csv`)
  const reading = startReading(gridId, region)
  let retries = 0
  try {
    const bytes = await downloadCsv({
      open: (range) => client.openResult(source.href, { range, signal }),
      path,
      clock: bench.clock,
      signal,
      tap: reading,
      onRetry: (reason) => {
        if (retries++ === 0)
          bench.log.info(`The CSV of grid ${gridId} is not there yet: ${reason}. Trying again.`)
      }
    })
    return { result: { gridId, region, nodeCount, path, bytes, problem: undefined }, scan: reading.finish() }
  } catch (thrown) {
    const problem = messageOf(thrown)
    bench.log.warning(`The CSV of grid ${gridId} (${region}) could not be had: ${problem}`)
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
