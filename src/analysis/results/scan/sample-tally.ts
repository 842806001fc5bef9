/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { ErrorTable } from '../counts/error-table.js'
import { countAt, countBefore, type CountedRuns, Histogram } from '../counts/histogram.js'
import { TIME_BITS } from '../kernel/assembly/layout.js'
import type { DetailTally, RowDetails } from '../details/detail-tally.js'
import { CELLS_A_LABEL, type PartStalls, type SamplePart } from '../counts/scan-result.js'
import { TimeLine } from '../counts/time-line.js'
import { grow } from '../typed-arrays.js'
import { StallTracker } from '../stalls/stall-tracker.js'
import type { KernelTimes, RowKernel } from '../kernel/row-kernel.js'

const FIRST_CELLS = 64 * CELLS_A_LABEL
const NEVER = 0xffffffff

export type PartDescription = Pick<SamplePart, 'counts' | 'labels' | 'hasLabels' | 'hasElapsed' | 'hasTimes'>

/** What the kernel knows of when rows were. */
type KernelMoments = Pick<RowKernel, 'line' | 'stallsOf' | 'hasFineTimes' | 'details'>

export class SampleTally {
  readonly errors: ErrorTable
  readonly line = new TimeLine()
  /** Only of a second reading. */
  readonly details: DetailTally | undefined
  /** Below 65.5 s every millisecond has its own bucket; above, a bucket is at most 0.003 % wide. */
  #times = new Histogram(TIME_BITS)
  /** Counts all times that are short enough, also of rows that it has not read. */
  #kernel: KernelTimes | undefined
  /** Of the times that the kernel does not count. */
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
    else if (this.#kernel?.add(cell, 0) !== true) this.#times.add(cell, 0)
    if (startMs < 0) return
    const endMs = elapsedMs < 0 ? startMs : startMs + elapsedMs
    if (startMs < this.#span[0]!) this.#span[0] = startMs
    if (endMs > this.#span[1]!) this.#span[1] = endMs
    this.line.add(endMs, elapsedMs, cell & 1, threads)
  }

  /** From now on the kernel counts, and so it does what has been counted here. */
  useKernel(kernel: KernelTimes): void {
    const cells = this.#sums.length
    const runs = this.#times.toRuns(cells)
    const { offsets, values } = runs
    this.#times = new Histogram(TIME_BITS)
    this.#kernel = kernel
    for (let cell = 0; cell < cells; cell++)
      for (let i = offsets[cell]!; i < offsets[cell + 1]!; i++)
        for (let n = countAt(runs, i, offsets[cell]!); n > 0; n--) {
          if (kernel.add(cell, values[i]!)) this.#sums[cell]! -= values[i]!
          else this.#times.add(cell, values[i]!)
        }
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
  toPart(description: PartDescription, kernel?: KernelMoments): SamplePart {
    const cells = description.labels.length * CELLS_A_LABEL
    if (cells > this.#sums.length) this.#growCells(cells - 1)
    const stalls = this.#toStalls(description.labels, kernel)
    kernel?.line.moveTo(this.line)
    if (kernel?.details !== undefined) this.details?.absorb(kernel.details)
    return {
      ...description,
      startMs: Math.min(this.#span[0]!, ...stalls.overall.map(({ firstStartMs }) => firstStartMs)),
      endMs: Math.max(this.#span[1]!, ...stalls.overall.map(({ lastEndMs }) => lastEndMs)),
      ...this.#sumUp(cells, description.hasElapsed),
      line: this.line.toScan(),
      errors: this.errors.toErrors(description.labels),
      stalls,
      ...(this.details && { details: this.details.toScan() })
    }
  }

  #toStalls(labels: readonly string[], kernel: KernelMoments | undefined): PartStalls {
    const piecesOf = (tracker: StallTracker, scope: number) => [
      tracker.toScan(),
      ...[kernel?.stallsOf(scope) ?? []].flat()
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
    hasElapsed: boolean
  ): Pick<SamplePart, 'samples' | 'sums' | 'minima' | 'maxima' | 'times'> {
    const samples = new Float64Array(cells)
    const sums = this.#sums.slice(0, cells)
    const minima = this.#minima.slice(0, cells)
    const maxima = this.#maxima.slice(0, cells)
    const own = this.#times.toRuns(cells)
    countRuns(own, samples)
    const ofKernel = this.#kernel?.toRuns(cells) ?? []
    for (const runs of ofKernel) {
      countRuns(runs, samples)
      if (hasElapsed) sumRuns(runs, { sums, minima, maxima })
    }
    return {
      samples,
      sums,
      minima,
      maxima,
      times: [own, ...ofKernel].filter(({ values }) => values.length > 0)
    }
  }

  #count(cell: number, elapsedMs: number): void {
    if (this.#kernel?.add(cell, elapsedMs) === true) return
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

function countRuns(runs: CountedRuns, samples: Float64Array): void {
  const { offsets } = runs
  for (let run = 0; run < samples.length; run++)
    samples[run]! += countBefore(runs, offsets[run + 1]!, offsets[run]!)
}

type Sums = Record<'sums', Float64Array> & Record<'minima' | 'maxima', Uint32Array>

function sumRuns(runs: CountedRuns, { sums, minima, maxima }: Sums): void {
  const { offsets, values } = runs
  for (let run = 0; run < sums.length; run++) {
    const from = offsets[run]!
    const to = offsets[run + 1]!
    if (from === to) continue
    let sum = 0
    if (runs.upTo === undefined) for (let i = from; i < to; i++) sum += values[i]!
    else for (let i = from; i < to; i++) sum += values[i]! * countAt(runs, i, from)
    sums[run]! += sum
    if (values[from]! < minima[run]!) minima[run] = values[from]!
    if (values[to - 1]! > maxima[run]!) maxima[run] = values[to - 1]!
  }
}
