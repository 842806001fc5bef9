import type { Run } from '../../contract/api.js'
import type { Settings } from '../settings/settings.js'
import type { Progress } from '../ports.js'

/** What a run's status means. Unknown statuses may appear at any time. */
type Phase = 'waiting' | 'running' | 'ended well' | 'ended abnormally' | 'unknown'

const PHASES: readonly (readonly [Phase, statuses: readonly string[]])[] = [
  ['waiting', ['queued', 'starting']],
  ['running', ['started', 'running', 'stopping']],
  ['ended well', ['finished']],
  ['ended abnormally', ['stopped', 'problem']],
  // Not documented, but unambiguous: there is no point in waiting for a run that says it has failed.
  ['ended abnormally', ['failed', 'error', 'errored', 'aborted', 'cancelled', 'canceled']]
]

export function phaseOf(status: string): Phase {
  const word = status.trim().toLowerCase()
  return PHASES.find(([, statuses]) => statuses.includes(word))?.[0] ?? 'unknown'
}

export function hasEnded(status: string): boolean {
  return phaseOf(status).startsWith('ended')
}

/** What a grid's status means. Unknown statuses may appear at any time. */
type GridPhase = 'usable' | 'ended' | 'waiting'

export function gridPhaseOf(status: string): GridPhase {
  const word = status.trim().toLowerCase()
  if (word === 'started') return 'usable'
  // These no longer cost anything.
  return word === 'stopped' || word === 'invoiced' ? 'ended' : 'waiting'
}

/** Longer ones are useless, and would fill the output, the summary and the comment. */
const LONGEST_URL = 2_048

/** The run's web page. The embedded service ends with the step, so its runs have none; an invalid URL counts as none. */
export function runUrl({ target }: Pick<Settings, 'target'>, { permalink }: Run): string | undefined {
  if (target.kind !== 'remote' || permalink === undefined || !URL.canParse(permalink)) return undefined
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
