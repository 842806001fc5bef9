import { parentPort } from 'node:worker_threads'
import { scanStretch, type Stretch, type StretchScan } from './scan-stretch.js'

/** The counts of many labels are large: transfer them instead of copying. */
function buffersOf({ result }: StretchScan): ArrayBuffer[] {
  const arrays = result.parts.flatMap(({ samples, sums, minima, maxima, times, line, stalls }) => [
    ...[samples, sums, minima, maxima],
    ...[line.buckets, line.samples, line.failures, line.threads],
    ...[...times, line.times].flatMap(({ offsets, values, upTo = values }) => [offsets, values, upTo]),
    ...[stalls.overall, ...stalls.labels.values()]
      .flat()
      .flatMap(({ ends, long }) => [
        ...[ends.pages, ends.bits, long.startMs, long.endMs, long.thread, long.label]
      ])
  ])
  return [...new Set(arrays.map(({ buffer }) => buffer as ArrayBuffer))]
}

// A read failure ends this thread; the caller then reads the stretch itself and sees why.
parentPort?.on('message', (stretch: Stretch) => {
  void scanStretch(stretch).then((scan) => parentPort?.postMessage(scan, buffersOf(scan)))
})
