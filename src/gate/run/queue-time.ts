import { formatDuration } from '../../contract/text.js'

/** How long the runs of a step have waited in the service's queue. */
export class QueueTime {
  #pastMs = 0
  #sinceMs: number | undefined
  #position: number | undefined

  /** Called with what each poll says; undefined if the run is not in the queue. */
  note(position: number | undefined, nowMs: number): void {
    if (position !== undefined) {
      this.#position = position
      this.#sinceMs ??= nowMs
      return
    }
    this.#pastMs = this.totalMs(nowMs)
    this.#sinceMs = undefined
  }

  totalMs(nowMs: number): number {
    // The wall clock may have been set back meanwhile.
    return this.#pastMs + (this.#sinceMs === undefined ? 0 : Math.max(0, nowMs - this.#sinceMs))
  }

  /** For the message of a timeout: the time was not the run's; undefined if it was. */
  describe(nowMs: number): string | undefined {
    const totalMs = this.totalMs(nowMs)
    if (totalMs === 0 && this.#sinceMs === undefined) return undefined
    const last = this.#sinceMs === undefined ? '' : `, last at position ${this.#position}`
    return `${formatDuration(totalMs)} of it passed in the service's queue${last}: raise timeout, start fewer runs at once, or let the service have more nodes at work (max-nodes).`
  }
}
