/** Lets the nodes of a run start together: it opens when all that have work are ready, or never, if one fails before that. */
export class StartGate {
  readonly #parts: { readonly count: number; readonly onOpen: () => void }
  readonly #callers = new Set<{ readonly start: () => void; readonly refuse: (reason: Error) => void }>()
  #gone = 0
  #state: 'closed' | 'open' | Error = 'closed'

  constructor(parts: { count: number; onOpen: () => void }) {
    this.#parts = parts
  }

  /** For a run whose nodes were told to start before: whoever comes goes on at once. */
  static opened(): StartGate {
    const gate = new StartGate({ count: 0, onOpen: () => undefined })
    gate.#state = 'open'
    return gate
  }

  /** Fulfilled when all nodes may start; rejected with the reason of the signal, or because another node has failed. */
  pass(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    if (this.#state instanceof Error) return Promise.reject(this.#state)
    if (this.#state === 'open') return Promise.resolve()
    return new Promise((start, refuse) => {
      const caller = { start, refuse }
      this.#callers.add(caller)
      const abort = (): void => {
        if (this.#callers.delete(caller)) refuse(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#openIfComplete()
    })
  }

  /** A node has ended before it came here, with nothing to start or called off: the others do not wait for it. */
  leave(): void {
    this.#gone += 1
    this.#openIfComplete()
  }

  /** A node has failed before it came here: none of them starts. */
  fail(reason: string): void {
    if (this.#state !== 'closed') return
    this.#state = new Error(`no node was started, because ${reason}`)
    for (const { refuse } of this.#callers) refuse(this.#state)
    this.#callers.clear()
  }

  #openIfComplete(): void {
    const waiting = this.#callers.size
    if (this.#state !== 'closed' || waiting === 0 || waiting + this.#gone < this.#parts.count) return
    this.#state = 'open'
    this.#parts.onOpen()
    for (const { start } of this.#callers) start()
    this.#callers.clear()
  }
}
