import type { RecordedScope, BaselineDocument } from '../../../contract/baseline.js'
import { shorten } from '../../../contract/text.js'

export const MOST_RUNS_WITH_HISTOGRAMS = 10

/** A document that cannot be used. The message says why, and what to do. */
export class BaselineDocumentError extends Error {
  override name = 'BaselineDocumentError'

  /** The problem alone is for files that may be anything: nobody should be told to remove those. */
  constructor(
    readonly problem: string,
    { advice, cause }: { readonly advice?: string; readonly cause?: unknown } = {}
  ) {
    super(advice === undefined ? problem : `${problem} ${advice}`, { cause })
  }
}

export function withoutHistogram(scope: RecordedScope): RecordedScope {
  const bare: { -readonly [Key in keyof RecordedScope]: RecordedScope[Key] } = { ...scope }
  delete bare.histogram
  return bare
}

/** What a document may hold at most, when it is written and when it is read: everybody may have written it. */
export const MOST_BYTES = 1024 * 1024
/** Decompressed. */
export const MOST_TEXT_BYTES = 16 * 1024 * 1024

/** The clock of the service that gave the times may be ahead. */
const CLOCK_SLACK_MS = 3_600_000
const MOST_NAMED = 3

interface Earlier {
  readonly document: BaselineDocument
  /** Which runs were left out, and why; undefined if none were. */
  readonly words: string | undefined
}

/** The document without runs that are later than it can have: one of them would be the newest for years. */
export function leaveOutFutureRuns(document: BaselineDocument, latestMs: number): Earlier {
  const isEarlier = ({ atMs }: { readonly atMs: number }): boolean => atMs <= latestMs + CLOCK_SLACK_MS
  const future = document.runs.filter((run) => !isEarlier(run))
  if (future.length === 0) return { document, words: undefined }
  const named = future
    .slice(0, MOST_NAMED)
    .map(({ runId, commit, atMs }) => `${shorten(runId)} of ${commit.slice(0, 7)}, ${formatTime(atMs)}`)
  const more = future.length > MOST_NAMED ? `; and ${future.length - MOST_NAMED} more` : ''
  return {
    document: { ...document, runs: document.runs.filter(isEarlier) },
    words: `${future.length === 1 ? 'a recorded run is' : `${future.length} recorded runs are`} from the future (after ${formatTime(latestMs)}) and left out: ${named.join('; ')}${more}`
  }
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}
