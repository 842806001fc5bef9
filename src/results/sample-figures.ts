/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { Distribution, type Run } from './distribution.js'
import { CELLS_A_LABEL, REQUEST, TRANSACTION, type SamplePart, type ScanResult } from './scan-result.js'

/** What sample CSVs say of a scope. Without an `elapsed` column in each of them there are counts and no times. */
export interface SampleSum {
  readonly samples: number
  readonly failures: number
  readonly times: SampleTimes | undefined
}

export interface SampleTimes {
  readonly sumMs: number
  readonly minMs: number
  readonly maxMs: number
  readonly all: Distribution
  readonly passed: Distribution
}

/** One label of one stretch, with the kinds of rows that count in the scope at hand. */
interface Place {
  readonly part: SamplePart
  readonly label: number
  readonly kinds: readonly number[]
}

/** Finds what a sample CSV says of a label, or of all of them. */
export class SampleIndex {
  /** Whether rows of transaction controllers are all that the CSV has. */
  readonly isRequestless: boolean
  readonly #everything: readonly Place[]
  readonly #byLabel = new Map<string, Place[]>()

  constructor(source: ScanResult) {
    const places = source.parts.flatMap((part) => part.labels.map((_, label) => ({ part, label })))
    this.isRequestless = !places.some((place) => hasRows(place, REQUEST))
    // A transaction's row sums up requests that have rows of their own: over all labels only the requests are counted,
    // as in the total of JMeter's dashboard. Where nothing but transactions was saved, they are what there is.
    const kinds = [this.isRequestless ? TRANSACTION : REQUEST]
    this.#everything = places.map((place) => ({ ...place, kinds }))
    for (const place of places) {
      if (!place.part.hasLabels || !(hasRows(place, REQUEST) || hasRows(place, TRANSACTION))) continue
      const label = place.part.labels[place.label]!
      const known = this.#byLabel.get(label) ?? []
      known.push({ ...place, kinds: [REQUEST, TRANSACTION] })
      this.#byLabel.set(label, known)
    }
  }

  get labels(): Iterable<string> {
    return this.#byLabel.keys()
  }

  placesOf(label: string | undefined): readonly Place[] {
    return label === undefined ? this.#everything : (this.#byLabel.get(label) ?? [])
  }
}

/** Adds up the places of one scope, from as many CSVs as there are. */
export function sumSamples(places: readonly Place[]): SampleSum {
  const cells = places.flatMap(({ part, label, kinds }) =>
    kinds.flatMap((kind) => [0, 1].map((outcome) => ({ part, cell: cellOf(label, kind) + outcome, outcome })))
  )
  const used = cells.filter(({ part, cell }) => runLength(part, cell) > 0)
  const toRun = ({ part, cell }: { part: SamplePart; cell: number }): Run => ({
    runs: part.times,
    index: cell
  })
  const all = Distribution.of(used.map(toRun))
  const passed = Distribution.of(used.filter(({ outcome }) => outcome === 0).map(toRun))
  const counts = { samples: all.total, failures: all.total - passed.total }
  if (!used.every(({ part }) => part.hasElapsed)) return { ...counts, times: undefined }
  let [sumMs, minMs, maxMs] = [0, Infinity, -Infinity]
  for (const { part, cell } of used) {
    sumMs += part.sums[cell]!
    minMs = Math.min(minMs, part.minima[cell]!)
    maxMs = Math.max(maxMs, part.maxima[cell]!)
  }
  return { ...counts, times: { sumMs, minMs, maxMs, all, passed } }
}

function cellOf(label: number, kind: number): number {
  return label * CELLS_A_LABEL + kind * 2
}

function hasRows({ part, label }: { part: SamplePart; label: number }, kind: number): boolean {
  const cell = cellOf(label, kind)
  return runLength(part, cell) + runLength(part, cell + 1) > 0
}

function runLength({ times: { offsets } }: SamplePart, cell: number): number {
  return offsets[cell + 1]! - offsets[cell]!
}
