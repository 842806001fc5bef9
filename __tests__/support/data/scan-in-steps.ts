import { Distribution } from '../../../src/analysis/results/counts/distribution.js'
import type { SamplePart, ScanResult } from '../../../src/analysis/results/counts/scan-result.js'
import { mergeScans } from '../../../src/analysis/results/figures/merge.js'
import { ByteScanner, type ByteScannerOptions } from '../../../src/analysis/results/scan/byte-scanner.js'
import { EndTimes } from '../../../src/analysis/results/stalls/end-times.js'
import type { StallScan } from '../../../src/analysis/results/stalls/stall-tracker.js'

/** Scans a CSV that arrives in pieces of at most so many bytes. */
export function scanInSteps(
  bytes: Uint8Array,
  nextStep: () => number,
  options: Partial<ByteScannerOptions>
): ScanResult {
  const scanner = new ByteScanner({
    ...{ grid: 'g', region: 'r', stallLabels: [['home'], ['label ', '']] },
    ...options
  })
  for (let at = 0; at < bytes.length;) {
    at += scanner.fill((buffer, from, to) => {
      const piece = bytes.subarray(at, at + Math.min(to - from, nextStep()))
      buffer.set(piece, from)
      return piece.length
    })
  }
  return scanner.end()
}

function listTimes({ times, samples }: SamplePart) {
  return Array.from(samples, (_, index) =>
    new Distribution(times.map((runs) => ({ runs, index }))).toCounts()
  )
}

/** What must be the same with the kernel. Which rows may have waited depends on what is known when they are read; which did does not. */
export function asFound(scan: ScanResult) {
  const join = (scans: readonly StallScan[]) => {
    const ends = new EndTimes()
    for (const each of scans) ends.absorb(each.ends)
    return {
      ends: ends.toScan(),
      firstStartMs: Math.min(...scans.map(({ firstStartMs }) => firstStartMs)),
      lastStartMs: Math.max(...scans.map(({ lastStartMs }) => lastStartMs)),
      lastEndMs: Math.max(...scans.map(({ lastEndMs }) => lastEndMs))
    }
  }
  return {
    ...scan,
    parts: scan.parts.map((part) => ({
      ...part,
      times: listTimes(part),
      // Without durations there are none.
      stalls: part.hasElapsed && {
        ...part.stalls,
        overall: join(part.stalls.overall),
        labels: [...part.stalls.labels].map(([label, found]) => [label, join(found)])
      }
    })),
    overTime: [undefined, 'home', 'label 1'].map((label) =>
      mergeScans([scan])
        .figures({ ...(label !== undefined && { label }) })
        ?.overTime()
    )
  }
}
