import { bucketWidthMs } from '../results/counts/bucket-width.js'
import type { SamplePart, ScanResult } from '../results/counts/scan-result.js'
import { samplesOf } from '../results/figures/tidy-figures.js'

interface Stretch {
  readonly fromMs: number
  readonly toMs: number
}

export interface Busy extends Stretch {
  readonly samples: number
}

/** From the start of the slowest request to the end of the bucket in which it ended. */
function busyStretches({ line: { bucketMs, buckets, times } }: SamplePart): Stretch[] {
  return Array.from(buckets, (bucket, index) => {
    const slowestMs = times.values[(times.offsets[index + 1] ?? 0) - 1] ?? 0
    return { fromMs: bucket * bucketMs - slowestMs, toMs: (bucket + 1) * bucketMs }
  })
}

/** When samples were in progress. */
export function listBusy({ shape, parts, buckets, bucketMs }: ScanResult): Busy[] {
  if (shape === 'tidy') {
    const widthMs = bucketMs ?? bucketWidthMs(buckets.map(({ atMs }) => atMs))
    return buckets.flatMap((bucket) => {
      const { atMs: fromMs } = bucket
      const samples = samplesOf(bucket)
      return samples > 0 ? [{ fromMs, toMs: fromMs + widthMs, samples }] : []
    })
  }
  return parts.flatMap((part) =>
    busyStretches(part).map((stretch, i) => ({ ...stretch, samples: part.line.samples[i] ?? 0 }))
  )
}
