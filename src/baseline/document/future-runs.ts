import { shorten } from '../../thresholds/quoting.js'
import type { BaselineDocument } from './baseline-document.js'

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
