/** How a grid's status is to be taken. Statuses that are not known may come up at any time. */
export type GridPhase = 'usable' | 'ended' | 'waiting'

const PHASES: ReadonlyMap<string, GridPhase> = new Map([
  ['started', 'usable'],
  // These cost nothing any more.
  ['stopped', 'ended'],
  ['invoiced', 'ended']
])

export function gridPhaseOf(status: string): GridPhase {
  return PHASES.get(status.trim().toLowerCase()) ?? 'waiting'
}
