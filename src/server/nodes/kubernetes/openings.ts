/**
 * How many connections are opened at the same time: a thousand handshakes at once take memory here that is never given back, and
 * startle an API server. Not fewer: a thousand streams to a distant cluster, a second each, must be open before anyone calls them silent.
 */
const AT_ONCE = 100

/** Connections wait here until it is their turn to be opened; what is open does not count. */
export class Openings {
  readonly #waiting = new Set<() => void>()
  #opening = 0

  constructor(private readonly limit = AT_ONCE) {}

  /** Returns what to call once it is open, or failed to. Rejects with the reason if the signal aborts first. */
  async enter(signal: AbortSignal): Promise<() => void> {
    if (this.#opening >= this.limit) await this.#turn(signal)
    else this.#opening++
    let hasLeft = false
    return () => {
      if (!hasLeft) this.#leave()
      hasLeft = true
    }
  }

  #turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const abort = (): void => {
        this.#waiting.delete(enter)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#waiting.add(enter)
    })
  }

  /** Whoever waits longest takes the place. */
  #leave(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#opening--
      return
    }
    this.#waiting.delete(next)
    next()
  }
}
