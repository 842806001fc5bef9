import type { Clock } from '../clock.js'
import type { EventStream } from './event-stream.js'

/** What to show now, and whether it can still change. */
export interface Sight {
  readonly data: string
  readonly isLast: boolean
}

const PACE_MS = 1000
const SLOWEST_PACE_MS = 5000
const BEAT_MS = 15_000
/** Watching must not take more than this share of a processor from the load under test. */
const MAX_SHARE = 0.03

/** Shows the same thing to all watchers as it changes. Without watchers, it costs nothing. */
export class Watch {
  readonly #streams = new Set<EventStream>()
  #last: string | undefined
  #beatMs = 0
  #isLooking = false
  #callOff: (() => void) | undefined

  constructor(
    private readonly options: { clock: Clock; look: () => Promise<Sight>; onEnd: (thrown?: unknown) => void }
  ) {}

  get isWatched(): boolean {
    return this.#streams.size > 0
  }

  /** Adds a watcher. */
  add(stream: EventStream): void {
    this.#streams.add(stream)
    stream.onClose(() => {
      this.#streams.delete(stream)
      if (this.#streams.size === 0) this.#rest()
    })
    if (this.#last !== undefined) stream.send(this.#last)
    if (this.#callOff === undefined && !this.#isLooking) void this.#look()
  }

  /** Ends all watching. */
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
    if (this.#streams.size === 0) return
    const fairMs = (performance.now() - began) / MAX_SHARE
    const paceMs = Math.min(SLOWEST_PACE_MS, Math.max(PACE_MS, fairMs))
    this.#callOff = this.options.clock.after(paceMs, () => void this.#look())
  }

  #show(data: string): void {
    const nowMs = this.options.clock.now()
    const isNew = data !== this.#last
    if (!isNew && nowMs - this.#beatMs < BEAT_MS) return
    this.#beatMs = nowMs
    this.#last = this.#streams.size === 0 ? undefined : data
    for (const stream of this.#streams) {
      if (isNew) stream.send(data)
      else stream.beat()
    }
  }

  #finish(data: string): void {
    for (const stream of this.#streams) stream.end(data)
    this.#streams.clear()
    this.options.onEnd()
  }
}
