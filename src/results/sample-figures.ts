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
  /** Made when they are asked for: few of ten thousand labels ever are. */
  all(): Distribution
  passed(): Distribution
}

/** One label of one stretch. */
interface Place {
  readonly part: SamplePart
  readonly label: number
}

/** Places with the kinds of rows that count in the scope at hand. */
export interface Places {
  readonly places: readonly Place[]
  readonly kinds: readonly number[]
}

/** Finds what a sample CSV says of a label, or of all of them. */
export class SampleIndex {
  /** Whether rows of transaction controllers are all that the CSV has. */
  readonly isRequestless: boolean
  readonly #everything: Places
  readonly #byLabel = new Map<string, Place[]>()

  constructor(source: ScanResult) {
    const places = source.parts.flatMap((part) => part.labels.map((_, label) => ({ part, label })))
    this.isRequestless = !places.some((place) => hasRows(place, REQUEST))
    // A transaction's row sums up requests that have rows of their own: over all labels only the requests are counted,
    // as in the total of JMeter's dashboard. Where nothing but transactions was saved, they are what there is.
    this.#everything = { places, kinds: [this.isRequestless ? TRANSACTION : REQUEST] }
    for (const place of places) {
      if (!place.part.hasLabels || !(hasRows(place, REQUEST) || hasRows(place, TRANSACTION))) continue
      const label = place.part.labels[place.label]!
      const known = this.#byLabel.get(label)
      if (known === undefined) this.#byLabel.set(label, [place])
      else known.push(place)
    }
  }

  get labels(): Iterable<string> {
    return this.#byLabel.keys()
  }

  placesOf(label: string | undefined): Places {
    if (label === undefined) return this.#everything
    return { places: this.#byLabel.get(label) ?? [], kinds: [REQUEST, TRANSACTION] }
  }
}

/** Adds up the places of one scope, from as many CSVs as there are. */
export function sumSamples(scope: readonly Places[]): SampleSum {
  const passed: Run[] = []
  const failed: Run[] = []
  const sum = { sumMs: 0, minMs: Infinity, maxMs: -Infinity, hasElapsed: true }
  const enter = (part: SamplePart, cell: number, runs: Run[]) => {
    if (runLength(part, cell) === 0) return
    runs.push({ runs: part.times, index: cell })
    sum.hasElapsed &&= part.hasElapsed
    sum.sumMs += part.sums[cell]!
    sum.minMs = Math.min(sum.minMs, part.minima[cell]!)
    sum.maxMs = Math.max(sum.maxMs, part.maxima[cell]!)
  }
  for (const { places, kinds } of scope) {
    for (const { part, label } of places) {
      for (const kind of kinds) {
        enter(part, cellOf(label, kind), passed)
        enter(part, cellOf(label, kind) + 1, failed)
      }
    }
  }
  const failures = countRuns(failed)
  const counts = { samples: countRuns(passed) + failures, failures }
  const { hasElapsed, ...figures } = sum
  if (!hasElapsed) return { ...counts, times: undefined }
  const distributions = {
    all: once(() => Distribution.of(passed.concat(failed))),
    passed: once(() => Distribution.of(passed))
  }
  return { ...counts, times: { ...figures, ...distributions } }
}

function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | undefined
  return () => (made ??= { value: make() }).value
}

function countRuns(runs: readonly Run[]): number {
  let total = 0
  for (const { runs: all, index } of runs) {
    for (let i = all.offsets[index]!; i < all.offsets[index + 1]!; i++) total += all.counts[i]!
  }
  return total
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
