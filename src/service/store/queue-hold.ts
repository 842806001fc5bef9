import type { DatabaseSync } from 'node:sqlite'
import { Facts } from './tables.js'

const KEY = 'queue-held'

/** Why no queued run starts until an admin lets the queue go. It is in the database: a restart does not end it, a command beside the service does. */
export class QueueHold {
  readonly #facts: Facts

  constructor(database: DatabaseSync) {
    this.#facts = new Facts(database)
  }

  /** Undefined if the queue is not held. */
  get why(): string | undefined {
    return this.#facts.get(KEY)
  }

  hold(why: string): void {
    this.#facts.set(KEY, why)
  }

  release(): void {
    this.#facts.delete(KEY)
  }
}

/** For callers, operators and gates. */
export function describeHold(why: string): string {
  return `the queue is held: ${why}. An admin of the service has to look at the waiting runs, stop those that must not run, and let the queue go: with \`loadgate queue resume\`, or the button on the service's pages`
}
