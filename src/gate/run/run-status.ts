/** What a run's status means. Unknown statuses may appear at any time. */
export type Phase = 'waiting' | 'running' | 'ended well' | 'ended abnormally' | 'unknown'

const PHASES: ReadonlyMap<string, Phase> = new Map([
  ['queued', 'waiting'],
  ['starting', 'waiting'],
  ['started', 'running'],
  ['running', 'running'],
  ['stopping', 'running'],
  ['finished', 'ended well'],
  ['stopped', 'ended abnormally'],
  ['problem', 'ended abnormally'],
  // Not documented, but unambiguous: there is no point in waiting for a run that says it has failed.
  ['failed', 'ended abnormally'],
  ['error', 'ended abnormally'],
  ['errored', 'ended abnormally'],
  ['aborted', 'ended abnormally'],
  ['cancelled', 'ended abnormally'],
  ['canceled', 'ended abnormally']
])

export function phaseOf(status: string): Phase {
  return PHASES.get(status.trim().toLowerCase()) ?? 'unknown'
}

export function hasEnded(status: string): boolean {
  return phaseOf(status).startsWith('ended')
}
