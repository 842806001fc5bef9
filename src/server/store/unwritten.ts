import type { Clock } from '../clock.js'
import { messageOf } from '../errors.js'

const RETRY_MS = 5000

/**
 * Changes that have happened and are not in the database yet. A failed write, as on a full disk, is retried later: with the next
 * change, after a while, or at the end. It never blocks anything else.
 */
export class Unwritten {
  readonly #parts: { clock: Clock; log: (line: string) => void; commit: (changes: readonly Change[]) => void }
  /** The newest change of each thing, by its kind and id. */
  readonly #changes = new Map<string, Change>()
  #callOff: (() => void) | undefined
  #isFailing = false
  #isClosed = false

  constructor(parts: {
    clock: Clock
    log: (line: string) => void
    /** Writes all of them in one transaction, or throws. */
    commit: (changes: readonly Change[]) => void
  }) {
    this.#parts = parts
  }

  has(key: string): boolean {
    return this.#changes.has(key)
  }

  get all(): readonly Change[] {
    return [...this.#changes.values()]
  }

  /** Writes the state that the thing has when the write succeeds. */
  add(change: Change): void {
    if (this.#isClosed) return
    this.#changes.set(change.key, change)
    this.flush()
  }

  /** Writes everything that could not be written before; returns why not, if so. */
  flush(): unknown {
    this.#callOff?.()
    this.#callOff = undefined
    let failure: unknown
    try {
      if (this.#changes.size > 0) this.#parts.commit(this.all)
      this.written()
    } catch (thrown) {
      failure = thrown
      this.#tell(failure)
      this.#callOff = this.#parts.clock.after(RETRY_MS, () => void this.flush())
    }
    return failure
  }

  /** They have been written together with something else. */
  written(): void {
    this.#callOff?.()
    this.#callOff = undefined
    const changes = this.all
    this.#changes.clear()
    for (const change of changes) change.onWritten?.()
    if (this.#isFailing) this.#parts.log("the service's state can be written again")
    this.#isFailing = false
  }

  /** The last attempt. */
  close(): void {
    this.flush()
    this.#isClosed = true
    this.#callOff?.()
  }

  /** Once when writing starts to fail: a full disk fails at every change. */
  #tell(failure: unknown): void {
    if (!this.#isFailing)
      this.#parts.log(
        `the service's state cannot be written (${messageOf(failure)}); it stays in memory and is written as soon as possible`
      )
    this.#isFailing = true
  }
}

export interface Change {
  readonly key: string
  write(): void
  onWritten?(): void
}
