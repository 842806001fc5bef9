import type { Clock } from '../../contract/clock.js'
import type { EventStream } from './send-page.js'

/** What to show now, and whether it can still change. */
export interface Sight {
  readonly data: string
  readonly isLast: boolean
}

interface Options {
  readonly clock: Clock
  readonly look: () => Promise<Sight>
  readonly onEnd: (thrown?: unknown) => void
  /** How many things are watched, this one included: what watching may cost is divided between them. */
  readonly countWatched: () => number
}

const PACE_MS = 1000
/** A page that shows the end of a run later than this looks like a run that goes on. */
const LONGEST_PACE_MS = 30_000
const BEAT_MS = 15_000
/** Watching everything together should not take more than this share of a processor from the load under test. */
const MAX_SHARE = 0.03

/** Shows the same thing to all watchers as it changes. Without watchers, it costs nothing. */
export class Watch {
  readonly #streams = new Set<EventStream>()
  #last: string | undefined
  #beatMs = 0
  #isLooking = false
  #tookMs = 0
  #callOff: (() => void) | undefined

  constructor(private readonly options: Options) {}

  get isWatched(): boolean {
    return this.#streams.size > 0
  }

  add(stream: EventStream): void {
    this.#streams.add(stream)
    stream.onClose(() => {
      this.#streams.delete(stream)
      if (this.#streams.size === 0) this.#rest()
    })
    if (this.#last !== undefined) stream.send(this.#last)
    if (this.#callOff === undefined && !this.#isLooking) void this.#look()
  }

  close(): void {
    this.#rest()
    for (const stream of this.#streams) stream.end()
    this.#streams.clear()
  }

  /** The next watcher starts with fresh data. */
  #rest(): void {
    this.#callOff?.()
    this.#callOff = undefined
    this.#last = undefined
  }

  async #look(): Promise<void> {
    this.#callOff = undefined
    this.#isLooking = true
    const began = performance.now()
    try {
      const { data, isLast } = await this.options.look()
      if (isLast) this.#finish(data)
      else this.#show(data)
    } catch (thrown) {
      this.close()
      this.options.onEnd(thrown)
    } finally {
      this.#isLooking = false
    }
    if (this.#streams.size > 0) this.#wait(this.#paceMs(performance.now() - began))
  }

  /** By the shorter of the last two looks: the first may have hours of samples to read, and any may have had to wait. */
  #paceMs(tookMs: number): number {
    const usualMs = Math.min(tookMs, this.#tookMs)
    this.#tookMs = tookMs
    const fairMs = (usualMs / MAX_SHARE) * this.options.countWatched()
    return Math.min(LONGEST_PACE_MS, Math.max(PACE_MS, fairMs))
  }

  #wait(ms: number): void {
    const { clock } = this.options
    this.#callOff =
      ms > BEAT_MS
        ? clock.after(BEAT_MS, () => {
            this.#beat()
            this.#wait(ms - BEAT_MS)
          })
        : clock.after(ms, () => void this.#look())
  }

  #show(data: string): void {
    if (data === this.#last) {
      if (this.options.clock.now() - this.#beatMs >= BEAT_MS) this.#beat()
      return
    }
    this.#beatMs = this.options.clock.now()
    this.#last = this.#streams.size === 0 ? undefined : data
    for (const stream of this.#streams) stream.send(data)
  }

  #beat(): void {
    this.#beatMs = this.options.clock.now()
    for (const stream of this.#streams) stream.beat()
  }

  #finish(data: string): void {
    for (const stream of this.#streams) stream.end(data)
    this.#streams.clear()
    this.options.onEnd()
  }
}
