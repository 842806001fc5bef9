import { LiveGrid, type LiveWarmUp } from '../../../src/gate/live/live-grid.js'
import { CSV_HEADER } from './gate-service.js'

/** A sample, in ms from the start of the run. */
export interface TimedSample {
  readonly atMs: number
  readonly elapsedMs: number
  readonly label?: string
  readonly isFailure?: boolean
  /** How many users there are. */
  readonly threads?: number
}

const RUN_START_MS = Date.UTC(2026, 0, 5, 12)
export const LIVE_HEADER = `${CSV_HEADER}\n`

export function endOf({ atMs, elapsedMs }: TimedSample): number {
  return atMs + elapsedMs
}

export function rowOf({
  atMs,
  elapsedMs,
  label = 'home',
  isFailure = false,
  threads = 5
}: TimedSample): string {
  const outcome = isFailure ? '500,no,t-1,false' : '200,OK,t-1,true'
  return `${RUN_START_MS + atMs},${elapsedMs},${label},${outcome},512,${threads}\n`
}

/** Samples at a steady rate; each is what `at` says about its start. */
export function steady(
  durationMs: number,
  perSecond: number,
  at: (atMs: number) => Partial<TimedSample> = () => ({})
): TimedSample[] {
  const count = Math.floor((durationMs / 1000) * perSecond)
  return Array.from({ length: count }, (_, index) => {
    const atMs = Math.floor((index * 1000) / perSecond)
    return { atMs, elapsedMs: 100, ...at(atMs) }
  })
}

/** The rows that have ended by then, as a tool writes them. */
export function csvAt(samples: readonly TimedSample[], nowMs: number): string {
  const ended = samples.filter((sample) => endOf(sample) <= nowMs)
  return (
    LIVE_HEADER +
    ended
      .sort((one, other) => endOf(one) - endOf(other))
      .map(rowOf)
      .join('')
  )
}

/** A grid that has been read every five seconds until then. */
export function readUntil(samples: readonly TimedSample[], nowMs: number, id = 'grid1'): LiveGrid {
  const feed = new Feed(samples, id)
  for (let atMs = 5000; atMs <= nowMs; atMs += 5000) feed.readUntil(atMs)
  feed.readUntil(nowMs)
  return feed.grid
}

/** Reads on in the CSV of a grid. */
export class Feed {
  readonly grid: LiveGrid
  readonly #samples: readonly TimedSample[]
  #read = 0
  #isBegun = false

  constructor(samples: readonly TimedSample[], id = 'grid1', warmUp?: LiveWarmUp) {
    this.grid = new LiveGrid({ grid: id, region: 'us-east-1' }, warmUp)
    this.#samples = [...samples].sort((one, other) => endOf(one) - endOf(other))
  }

  readUntil(nowMs: number): void {
    const from = this.#read
    while (this.#read < this.#samples.length && endOf(this.#samples[this.#read]!) <= nowMs) this.#read++
    const rows = this.#samples.slice(from, this.#read).map(rowOf).join('')
    const text = Buffer.from((this.#isBegun ? '' : LIVE_HEADER) + rows)
    this.#isBegun = true
    this.grid.take(text)
  }
}
