/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
/* eslint-disable @typescript-eslint/prefer-for-of -- iterators would be most of the garbage */
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

// Called for every label of ten thousand: lists and objects that are not returned would be most of the garbage.
export function sumSamples(scope: readonly Place[]) {
  const runs: Run[] = []
  const ofPassed: Run[] = []
  let samples = 0
  let failures = 0
  let sumMs = 0
  let minMs = Infinity
  let maxMs = 0
  let haveElapsed = true
  for (let place = 0; place < scope.length; place++) {
    const { part, label } = scope[place]!
    for (let outcome = 0; outcome < CELLS_A_LABEL; outcome++) {
      const cell = label * CELLS_A_LABEL + outcome
      const count = part.samples[cell]!
      if (count === 0) continue
      samples += count
      failures += outcome * count
      sumMs += part.sums[cell]!
      if (part.minima[cell]! < minMs) minMs = part.minima[cell]!
      if (part.maxima[cell]! > maxMs) maxMs = part.maxima[cell]!
      haveElapsed &&= part.hasElapsed
      for (let i = 0; i < part.times.length; i++) {
        const counted = part.times[i]!
        if (counted.offsets[cell] === counted.offsets[cell + 1]) continue
        const run = { runs: counted, index: cell }
        runs.push(run)
        if (outcome === 0) ofPassed.push(run)
      }
    }
  }
  if (!haveElapsed) return { samples, failures, times: undefined }
  const all = new Distribution(runs)
  const passed = failures === 0 ? all : new Distribution(ofPassed)
  return { samples, failures, times: { sumMs, minMs, maxMs, all, passed } }
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
