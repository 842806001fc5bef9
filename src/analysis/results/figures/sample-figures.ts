/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { Distribution, type Run } from '../counts/distribution.js'
import type { CountedTimes } from './measurements.js'
import { CELLS_A_LABEL, type SamplePart, type ScanResult } from '../counts/scan-result.js'

/** What sample CSVs say about a scope. Unless each has an `elapsed` column there are counts but no times. */
export type SampleSum = ReturnType<typeof sumSamples>

export interface Place {
  readonly part: SamplePart
  readonly label: number
}

export class SampleIndex {
  /** What counts overall: each request once, as in the total of JMeter's dashboard, and transactions whose requests have no rows. */
  readonly #everything: readonly Place[]
  readonly #byLabel = new Map<string, Place[]>()

  constructor(source: ScanResult) {
    const places = source.parts.flatMap((part) => part.labels.map((_, label) => ({ part, label })))
    this.#everything = places.filter(({ part }) => part.counts)
    for (const place of places) {
      if (!place.part.hasLabels || !hasRows(place)) continue
      const label = place.part.labels[place.label]!
      const known = this.#byLabel.get(label)
      if (known === undefined) this.#byLabel.set(label, [place])
      else known.push(place)
    }
  }

  get labels(): Iterable<string> {
    return this.#byLabel.keys()
  }

  placesOf(label: string | undefined): readonly Place[] {
    return label === undefined ? this.#everything : (this.#byLabel.get(label) ?? [])
  }
}

export function sumSamples(scope: readonly Place[]) {
  const passed: Run[] = []
  const failed: Run[] = []
  const sum = { samples: 0, sumMs: 0, minMs: Infinity, maxMs: -Infinity, hasElapsed: true }
  const enter = (part: SamplePart, cell: number, runs: Run[]): void => {
    if (part.samples[cell] === 0) return
    sum.samples += part.samples[cell]!
    runs.push({ runs: part.times, index: cell })
    sum.hasElapsed &&= part.hasElapsed
    sum.sumMs += part.sums[cell]!
    sum.minMs = Math.min(sum.minMs, part.minima[cell]!)
    sum.maxMs = Math.max(sum.maxMs, part.maxima[cell]!)
  }
  for (const { part, label } of scope) enter(part, label * CELLS_A_LABEL, passed)
  const ofPassed = sum.samples
  for (const { part, label } of scope) enter(part, label * CELLS_A_LABEL + 1, failed)
  const { hasElapsed, samples, ...figures } = sum
  const counts = { samples, failures: samples - ofPassed }
  if (!hasElapsed) return { ...counts, times: undefined }
  const all = new Distribution(passed.concat(failed))
  return { ...counts, times: { ...figures, all, passed: new Distribution(passed) } }
}

export function countTimes({ all, passed }: NonNullable<SampleSum['times']>): CountedTimes {
  const { values, counts } = all.toCounts()
  const ofPassed = passed.toCounts()
  const passedBy = new Map(ofPassed.values.map((value, i) => [value, ofPassed.counts[i]!]))
  return {
    valuesMs: values,
    counts,
    failed: values.map((value, i) => counts[i]! - (passedBy.get(value) ?? 0))
  }
}

function hasRows({ part: { samples }, label }: Place): boolean {
  const cell = label * CELLS_A_LABEL
  return samples[cell]! + samples[cell + 1]! > 0
}
