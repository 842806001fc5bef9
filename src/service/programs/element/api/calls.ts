import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 10
const parts = new AsyncLocalStorage<Calls>()

/** The calls of the part of the script (a step, a hook) that this call belongs to, however late it is. */
export function currentCalls(): Calls | undefined {
  return parts.getStore()
}

/** The calls to the browser in one part of the script: which are still going on, and when the user does nothing but think. */
export class Calls {
  readonly #pending = new Set<Promise<unknown>>()
  #going = 0
  #thinking = 0
  #waiting = 0
  #idleMs = 0
  #sinceMs: number
  #isClosed = false

  constructor(private readonly now: () => number = () => performance.now()) {
    this.#sinceMs = now()
  }

  run<T>(act: () => T): T {
    return parts.run(this, act)
  }

  /** Think time until now, or until the part ended. */
  get idleMs(): number {
    this.#advance()
    return this.#idleMs
  }

  /** Makes a call; it goes on as long as the promise that it returns. */
  track(call: () => unknown): unknown {
    this.#change(() => this.#going++)
    const end = (): void => this.#change(() => this.#going--)
    let result: unknown
    try {
      result = call()
    } finally {
      if (!(result instanceof Promise)) end()
    }
    if (!(result instanceof Promise)) return result
    // The script gets this promise: if nobody waits for it, a failure must be noticed.
    const told: Promise<unknown> = result.finally(() => {
      this.#pending.delete(told)
      end()
    })
    this.#pending.add(told)
    return told
  }

  async think(rest: () => Promise<void>): Promise<void> {
    this.#change(() => this.#thinking++)
    try {
      await rest()
    } finally {
      this.#change(() => this.#thinking--)
    }
  }

  /** Waits until the other calls have done their work, at most for this long. */
  async untilAlone(timeoutMs: number): Promise<void> {
    const endMs = this.now() + timeoutMs
    this.#waiting++
    try {
      // Another call may be made right after this one.
      do await sleep(POLL_MS)
      while (this.#going - this.#thinking > this.#waiting && this.now() < endMs)
    } finally {
      this.#waiting--
    }
  }

  /** The part has ended: what comes later is not part of its time. */
  close(): void {
    this.#advance()
    this.#isClosed = true
  }

  /** Whether any call is still in progress; nobody waits for those any more. */
  async abandon(): Promise<boolean> {
    // Calls that had nothing to wait for end now.
    if (this.#pending.size > 0) await new Promise((resolve) => setImmediate(resolve))
    for (const told of this.#pending) told.catch(() => undefined)
    return this.#pending.size > 0
  }

  #change(change: () => void): void {
    this.#advance()
    change()
  }

  /** Time counts as think time only while every call in progress rests. */
  #advance(): void {
    const nowMs = this.now()
    if (!this.#isClosed && this.#thinking > 0 && this.#going <= this.#thinking)
      this.#idleMs += nowMs - this.#sinceMs
    this.#sinceMs = nowMs
  }
}
