import type { RecordedScope } from '../../contract/baseline.js'

export * from '../../contract/baseline.js'

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
