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
  const passed = new Cells()
  const failed = new Cells()
  for (const { part, label } of scope) {
    passed.add(part, label * CELLS_A_LABEL)
    failed.add(part, label * CELLS_A_LABEL + 1)
  }
  const samples = passed.samples + failed.samples
  const failures = failed.samples
  if (!passed.haveElapsed || !failed.haveElapsed) return { samples, failures, times: undefined }
  const times = {
    sumMs: passed.sumMs + failed.sumMs,
    minMs: Math.min(passed.minMs, failed.minMs),
    maxMs: Math.max(passed.maxMs, failed.maxMs),
    all: new Distribution(failed.runs.length === 0 ? passed.runs : passed.runs.concat(failed.runs)),
    passed: new Distribution(passed.runs)
  }
  return { samples, failures, times }
}

/** The sum of cells of one outcome. */
class Cells {
  readonly runs: Run[] = []
  samples = 0
  sumMs = 0
  minMs = Infinity
  maxMs = -Infinity
  haveElapsed = true

  add(part: SamplePart, cell: number): void {
    const samples = part.samples[cell]!
    if (samples === 0) return
    for (const runs of part.times)
      if (runs.offsets[cell] !== runs.offsets[cell + 1]) this.runs.push({ runs, index: cell })
    this.samples += samples
    this.sumMs += part.sums[cell]!
    this.minMs = Math.min(this.minMs, part.minima[cell]!)
    this.maxMs = Math.max(this.maxMs, part.maxima[cell]!)
    this.haveElapsed &&= part.hasElapsed
  }
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
