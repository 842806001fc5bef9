import { stat } from 'node:fs/promises'
import { MOST_LABEL_BUCKETS, MOST_SAMPLED_ERRORS } from '../../contract/verdict/limits.js'
import { messageOf } from '../../contract/text.js'
import type { ScannedFile } from '../evidence/warm-up.js'
import type { Details } from '../outcome.js'
import { findAxis } from '../results/figures/merge.js'
import type { Measurements } from '../results/figures/measurements.js'
import { scanEach, type ScanFilesOptions } from '../results/parallel/scan-files.js'
import type { Threshold } from '../thresholds/grammar/threshold.js'
import { chooseLabels } from './choose-labels.js'
import { mergeDetails } from './merge-details.js'

/** About ten million rows, which take some seconds. */
const MOST_BYTES = 1024 ** 3

interface DetailsOptions extends ScanFilesOptions {
  /** From the first reading. */
  readonly measurements: Measurements | undefined
  readonly thresholds: readonly Pick<Threshold, 'selector'>[]
}

/** Reads the CSVs of a run, or of several, once more for what only the report shows; or why that is not possible. It never throws. */
export async function readDetails(
  runs: readonly (readonly ScannedFile[])[],
  options: DetailsOptions
): Promise<Details | string> {
  return read(runs, options).catch(messageOf)
}

async function read(
  runs: readonly (readonly ScannedFile[])[],
  { measurements, thresholds, ...scanning }: DetailsOptions
): Promise<Details | string> {
  const all = measurements?.figures({})
  if (measurements === undefined || all === undefined) return 'there are no samples'
  // A CSV without rows that count has nothing to add.
  const files = runs.map((run) => run.filter(({ scan }) => scan.parts.length + scan.buckets.length > 0))
  if (files.flat().some(({ scan }) => scan.shape !== 'samples'))
    return 'the results do not have a row for each sample'
  const sizes = await Promise.all(files.flat().map(({ path }) => stat(path)))
  if (sizes.reduce((sum, { size }) => sum + size, 0) > MOST_BYTES)
    return `the results are larger than ${MOST_BYTES / 1024 ** 3} GiB`
  const axis = findAxis(files.map((run) => run.map(({ scan }) => scan)))
  if (axis === undefined) return 'the results have no common time'
  const { bucketMs, buckets, originsMs } = axis
  const bucketsALabelBucket = Math.ceil(buckets / MOST_LABEL_BUCKETS)
  const labels = chooseLabels(measurements, thresholds)
  const errors = measurements
    .errors({})
    .flatMap(({ label, code, message }) => (label === undefined ? [] : [{ label, code, message }]))
    .slice(0, MOST_SAMPLED_ERRORS)
  const scans = await scanEach(
    files.flatMap((run, i) =>
      run.map(({ path, counted, scan: { grid, region, hasTransactions, asideGroups } }) => ({
        ...{ path, grid, region, asideGroups, ...counted },
        details: {
          axis: { originMs: originsMs[i] ?? 0, bucketMs, buckets, bucketsALabelBucket },
          hasTransactions,
          labels: labels.map(({ label }) => label),
          errors
        }
      }))
    ),
    scanning
  )
  const details = mergeDetails(scans, { bucketMs, buckets, bucketsALabelBucket, labels, errors })
  const counted = details.overall.codes.flatMap(({ counts }) => counts).reduce((sum, one) => sum + one, 0)
  return counted === all.samples ? details : 'the results have changed since they were read'
}
