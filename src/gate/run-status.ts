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
  ['problem', 'ended badly']
])

export function phaseOf(status: string): Phase {
  return PHASES.get(status) ?? 'unknown'
}

export function hasEnded(status: string): boolean {
  return phaseOf(status).startsWith('ended')
}
