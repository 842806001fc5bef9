/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { ErrorTable } from '../counts/error-table.js'
import { Histogram, joinRuns } from '../counts/histogram.js'
import { TIME_BITS } from '../kernel/assembly/layout.js'
import type { DetailTally, RowDetails } from '../details/detail-tally.js'
import { CELLS_A_LABEL, type PartStalls, type SamplePart } from '../counts/scan-result.js'
import { TimeLine } from '../counts/time-line.js'
import { grow } from '../typed-arrays.js'
import { StallTracker } from '../stalls/stall-tracker.js'
import type { RowKernel } from '../kernel/row-kernel.js'

const FIRST_CELLS = 64 * CELLS_A_LABEL
const NEVER = 0xffffffff

export type PartDescription = Pick<SamplePart, 'counts' | 'labels' | 'hasLabels' | 'hasElapsed' | 'hasTimes'>

/** What the kernel has counted; of parts of other rows that is how often, and nothing of when. */
type CountedElsewhere = Pick<RowKernel, 'toRuns'> &
  Partial<Pick<RowKernel, 'line' | 'stallsOf' | 'hasFineTimes'>>

export class SampleTally {
  readonly errors: ErrorTable
  readonly line = new TimeLine()
  /** Only of a second reading. */
  readonly details: DetailTally | undefined
  /** Below 65.5 s every millisecond has its own bucket; above, a bucket is at most 0.003 % wide. */
  readonly #times = new Histogram(TIME_BITS)
  #sums = new Float64Array(FIRST_CELLS)
  #minima = new Uint32Array(FIRST_CELLS).fill(NEVER)
  #maxima = new Uint32Array(FIRST_CELLS)
  /** First start and last end; in an array, because assigning numbers to a field would create garbage each time. */
  readonly #span = new Float64Array([Infinity, -Infinity])
  isEmpty = true
  readonly #scopeOf: (label: number) => number
  readonly #stalls = new StallTracker()
  readonly #stallsOf = new Map<number, StallTracker>()
  #hasFineTimes = false

  /** `scopeOf` numbers the labels that have figures over time of their own, from 1; 0 for the others. */
  constructor(scopeOf: (label: number) => number, details?: DetailTally, errors = new ErrorTable()) {
    this.#scopeOf = scopeOf
    this.errors = errors
    this.details = details
  }

  // Four plain numbers, because one object per row is what this file avoids. A time is -1 if the row does not have it.
  add(cell: number, elapsedMs: number, startMs: number, threads: number): void {
    this.isEmpty = false
    if (elapsedMs >= 0) this.#count(cell, elapsedMs)
    else this.#times.add(cell, 0)
    if (startMs < 0) return
    const endMs = elapsedMs < 0 ? startMs : startMs + elapsedMs
    if (startMs < this.#span[0]!) this.#span[0] = startMs
    if (endMs > this.#span[1]!) this.#span[1] = endMs
    this.line.add(endMs, elapsedMs, cell & 1, threads)
  }

  /** Instead of `add`, in a second reading. */
  addDetails(label: number, startMs: number, elapsedMs: number, outcome: number, row: RowDetails): void {
    this.isEmpty = false
    this.details?.add(label, elapsedMs < 0 ? startMs : startMs + elapsedMs, elapsedMs, outcome, row)
  }

  follow(startMs: number, endMs: number, label: number, thread: number): void {
    this.#hasFineTimes ||= startMs % 8 !== 0
    this.#stalls.add(startMs, endMs, label, thread)
    if (this.#scopeOf(label) === 0) return
    const own = this.#stallsOf.get(label) ?? new StallTracker()
    this.#stallsOf.set(label, own)
    own.add(startMs, endMs, label, thread)
  }

  /** Adds what the kernel has counted, without resetting it: more rows may follow. */
  toPart(description: PartDescription, kernel?: CountedElsewhere): SamplePart {
    const cells = description.labels.length * CELLS_A_LABEL
    if (cells > this.#sums.length) this.#growCells(cells - 1)
    const stalls = this.#toStalls(description.labels, kernel)
    kernel?.line?.moveTo(this.line)
    return {
      ...description,
      startMs: Math.min(this.#span[0]!, ...stalls.overall.map(({ firstStartMs }) => firstStartMs)),
      endMs: Math.max(this.#span[1]!, ...stalls.overall.map(({ lastEndMs }) => lastEndMs)),
      ...this.#sumUp(cells, description.hasElapsed, kernel),
      line: this.line.toScan(),
      errors: this.errors.toErrors(description.labels),
      stalls,
      ...(this.details && { details: this.details.toScan() })
    }
  }

  #toStalls(labels: readonly string[], kernel: CountedElsewhere | undefined): PartStalls {
    const piecesOf = (tracker: StallTracker, scope: number) => [
      tracker.toScan(),
      ...[kernel?.stallsOf?.(scope) ?? []].flat()
    ]
    return {
      overall: piecesOf(this.#stalls, 0),
      labels: new Map(
        [...this.#stallsOf].map(([label, tracker]) => [
          labels[label] ?? '',
          piecesOf(tracker, this.#scopeOf(label))
        ])
      ),
      hasFineTimes: this.#hasFineTimes || kernel?.hasFineTimes === true
    }
  }

  #sumUp(
    cells: number,
    hasElapsed: boolean,
    kernel: CountedElsewhere | undefined
  ): Pick<SamplePart, 'sums' | 'minima' | 'maxima' | 'times'> {
    const sums = this.#sums.slice(0, cells)
    const minima = this.#minima.slice(0, cells)
    const maxima = this.#maxima.slice(0, cells)
    const own = this.#times.toRuns(cells)
    const runs = kernel?.toRuns(cells)
    if (runs === undefined) return { sums, minima, maxima, times: own }
    const { offsets, values, counts } = runs
    for (let cell = 0; cell < cells && hasElapsed; cell++) {
      const [from, to] = [offsets[cell]!, offsets[cell + 1]!]
      if (from === to) continue
      minima[cell] = Math.min(minima[cell]!, values[from]!)
      maxima[cell] = Math.max(maxima[cell]!, values[to - 1]!)
      for (let i = from; i < to; i++) sums[cell]! += values[i]! * counts[i]!
    }
    return { sums, minima, maxima, times: joinRuns(own, runs) }
  }

  #count(cell: number, elapsedMs: number): void {
    if (cell >= this.#sums.length) this.#growCells(cell)
    this.#times.add(cell, elapsedMs)
    this.#sums[cell]! += elapsedMs
    if (elapsedMs < this.#minima[cell]!) this.#minima[cell] = elapsedMs
    if (elapsedMs > this.#maxima[cell]!) this.#maxima[cell] = elapsedMs
  }

  #growCells(cell: number): void {
    const length = Math.max(cell + 1, this.#sums.length * 2)
    this.#sums = grow(this.#sums, new Float64Array(length))
    this.#minima = grow(this.#minima, new Uint32Array(length).fill(NEVER))
    this.#maxima = grow(this.#maxima, new Uint32Array(length))
  }
}
