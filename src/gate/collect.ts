import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { mergeScans } from '../results/merge.js'
import type { Measurements } from '../results/measurements.js'
import { isNotReady } from '../service/errors.js'
import type { Report, Run } from '../service/documents.js'
import { pauseBefore } from '../service/retries.js'
import { fetchResults } from './fetch-results.js'
import type { GridResult } from './fetch-results.js'
import type { Gate } from './gate.js'
import { messageOf } from './trouble.js'

export interface Collection {
  readonly report: Report | undefined
  readonly reportProblem: string | undefined
  readonly resultsDir: string
  readonly grids: readonly GridResult[]
  readonly measurements: Measurements | undefined
}

const LONGEST_PAUSE_ATTEMPT = 6

/** Brings the report and every grid's CSV home, side by side, reading the CSVs as they arrive. What cannot be had is told, not thrown. */
export async function collect(gate: Gate, run: Run, signal: AbortSignal): Promise<Collection> {
  const resultsDir = join(gate.bench.scratchDir, 'results')
  await mkdir(resultsDir, { recursive: true })
  const [report, grids] = await Promise.all([
    readReport(gate, run.id, signal),
    fetchResults({ client: gate.client, clock: gate.bench.clock, log: gate.bench.log }, run, {
      resultsDir,
      signal
    })
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
      if (!isNotReady(thrown) || signal.aborted)
        return { report: undefined, reportProblem: messageOf(thrown) }
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
