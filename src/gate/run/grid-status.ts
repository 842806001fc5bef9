/** What a grid's status means. Unknown statuses may appear at any time. */
export type GridPhase = 'usable' | 'ended' | 'waiting'

const PHASES: ReadonlyMap<string, GridPhase> = new Map([
  ['started', 'usable'],
  // These no longer cost anything.
  ['stopped', 'ended'],
  ['invoiced', 'ended']
])

export function gridPhaseOf(status: string): GridPhase {
  return PHASES.get(status.trim().toLowerCase()) ?? 'waiting'
}
