import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readDetails } from '../../../src/analysis/details/read-details.js'
import { readResults } from '../../../src/analysis/evidence/count-results.js'
import type { RunTimes } from '../../../src/analysis/evidence/own-rows.js'
import type { Details } from '../../../src/analysis/outcome.js'
import type { Measurements } from '../../../src/analysis/results/figures/measurements.js'
import { mergeRuns } from '../../../src/analysis/results/figures/merge.js'
import type { ScanFilesOptions } from '../../../src/analysis/results/parallel/scan-files.js'
import { parseThresholds } from '../../../src/analysis/thresholds/grammar/grammar.js'

export interface Read {
  readonly details: Details | string
  readonly measurements: Measurements
}

/** Both readings of the CSVs of one run or several, each a list of texts, one per grid. */
export async function readTwice(
  runs: readonly (readonly string[])[],
  options: ScanFilesOptions & {
    readonly warmUpMs?: number
    readonly times?: RunTimes
    readonly lines?: string
    readonly asideGroups?: readonly string[]
    /** What happens between the two. */
    readonly meanwhile?: (paths: readonly string[]) => void
  } = {}
): Promise<Read> {
  const { warmUpMs = 0, lines = '', times, asideGroups, meanwhile, ...scanning } = options
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-details-'))
  try {
    const files = runs.map((texts, run) =>
      texts.map((text, grid) => {
        const path = join(folder, `${run}-${grid}.csv`)
        writeFileSync(path, text)
        return { path, grid: `grid-${grid + 1}`, region: 'here', asideGroups }
      })
    )
    const counted = []
    for (const each of files) counted.push(await readResults(each, { warmUpMs, times }))
    const measurements = mergeRuns(counted.map(({ scans, countedScans = scans }) => countedScans))
    meanwhile?.(files.flat().map(({ path }) => path))
    const { thresholds } = parseThresholds(lines)
    const countedFiles = counted.flatMap((each) => each.countedFiles)
    return {
      details: await readDetails(countedFiles, { measurements, thresholds, ...scanning }),
      measurements
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The same where there must be details. */
export async function detailsOf(...given: Parameters<typeof readTwice>) {
  const { details, measurements } = await readTwice(...given)
  if (typeof details === 'string') throw new Error(details)
  return { details, measurements }
}
