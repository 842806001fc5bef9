/** What people are told about the baseline of a run. */
export interface BaselineFacts {
  readonly state: 'compared' | 'no baseline' | 'not comparable' | 'off'
  readonly kind: 'recorded' | 'side-by-side'
  readonly branch: string | undefined
  /** The commit of the newest base run. */
  readonly commit: string | undefined
  /** The ids of the base runs, oldest first; side by side, of the base segments. */
  readonly runs: readonly string[]
  /** One sentence: why nothing was compared, and what to do. */
  readonly reason: string | undefined
  /** Sentences such as "no run on main for a514cef, so 8c5a0f1 was used". */
  readonly notes: readonly string[]
  /** What a later run must share to be comparable: `loadgate baseline record` takes it from verdict.json. */
  readonly fingerprint?: Readonly<Record<string, string>>
}
