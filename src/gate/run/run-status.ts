/** How a run's status is to be taken. Statuses that are not known may come up at any time. */
export type Phase = 'waiting' | 'running' | 'ended well' | 'ended badly' | 'unknown'

const PHASES: ReadonlyMap<string, Phase> = new Map([
  ['queued', 'waiting'],
  ['starting', 'waiting'],
  ['started', 'running'],
  ['running', 'running'],
  ['stopping', 'running'],
  ['finished', 'ended well'],
  ['stopped', 'ended badly'],
  ['problem', 'ended badly'],
  // Not documented, and not to be misunderstood: nobody waits for the end of what says that it has failed.
  ['failed', 'ended badly'],
  ['error', 'ended badly'],
  ['errored', 'ended badly'],
  ['aborted', 'ended badly'],
  ['cancelled', 'ended badly'],
  ['canceled', 'ended badly']
])

export function phaseOf(status: string): Phase {
  return PHASES.get(status.trim().toLowerCase()) ?? 'unknown'
}

export function hasEnded(status: string): boolean {
  return phaseOf(status).startsWith('ended')
}
