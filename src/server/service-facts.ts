import type { Vocabulary } from '../protocol/vocabulary.js'
import type { Places } from './places.js'
import type { RunRecord } from './store/records.js'
import type { Store } from './store/store.js'

/** What the documents need to know of the service that answers with them. */
export interface ServiceFacts {
  readonly words: Vocabulary
  readonly store: Store
  readonly places: Places
  readonly token: string
  readonly startedMs: number
  /** `http://127.0.0.1:<port>`; known once the service listens. */
  baseUrl(): string
}

/** Runs in one page of the list. */
export const PAGE_SIZE = 50

/** A run's tool in the service's own word, with its version once that is known. */
export function describeTool({ request, toolVersion }: RunRecord, { words }: ServiceFacts): string {
  const name = words.toolName(request.tool)
  return toolVersion === null ? name : `${name}-${toolVersion}`
}
