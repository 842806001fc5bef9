import type { Run } from '../../contract/api.js'
import type { Settings } from '../settings/settings.js'
import type { Progress } from '../ports.js'

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

/** What a grid's status means. Unknown statuses may appear at any time. */
export type GridPhase = 'usable' | 'ended' | 'waiting'

const GRID_PHASES: ReadonlyMap<string, GridPhase> = new Map([
  ['started', 'usable'],
  // These no longer cost anything.
  ['stopped', 'ended'],
  ['invoiced', 'ended']
])

export function gridPhaseOf(status: string): GridPhase {
  return GRID_PHASES.get(status.trim().toLowerCase()) ?? 'waiting'
}

/** Longer ones are useless, and would fill the output, the summary and the comment. */
const LONGEST_URL = 2_048

/** The run's web page. The embedded service ends with the step, so its runs have none; an invalid URL counts as none. */
export function runUrl({ target }: Settings, { permalink }: Run): string | undefined {
  if (target.kind === 'local' || permalink === undefined || !URL.canParse(permalink)) return undefined
  const url = new URL(permalink)
  return ['https:', 'http:'].includes(url.protocol) && url.href.length <= LONGEST_URL ? url.href : undefined
}

/** What a run is doing, for people. */
export function describeStatus({
  status,
  queuePosition
}: Pick<Progress, 'status' | 'queuePosition'>): string {
  return queuePosition === undefined ? status : `waiting in the service's queue, position ${queuePosition}`
}
