import type { Vocabulary } from '../protocol/vocabulary.js'
import type { Accounts } from './accounts/users.js'
import type { Places } from './places.js'
import type { Queue } from './queue/queue.js'
import type { RunRecord } from './store/records.js'
import type { Store } from './store/store.js'

/** What the documents need to know of the service that answers with them. */
export interface ServiceFacts {
  readonly words: Vocabulary
  readonly store: Store
  readonly places: Places
  readonly accounts: Accounts
  readonly queue: Queue
  readonly startedMs: number
  /** Where callers reach the service; known once it listens. */
  baseUrl(): string
}

/** Runs in one page of the list. */
export const PAGE_SIZE = 50

/** A run's tool in the service's own word, with its version once that is known. */
export function describeTool({ request, toolVersion }: RunRecord, { words }: ServiceFacts): string {
  const name = words.toolName(request.tool)
  return toolVersion === null ? name : `${name}-${toolVersion}`
}
