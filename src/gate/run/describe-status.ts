import type { Progress } from '../ports.js'

/** What a run is doing, for people. */
export function describeStatus({
  status,
  queuePosition
}: Pick<Progress, 'status' | 'queuePosition'>): string {
  return queuePosition === undefined ? status : `waiting in the service's queue, position ${queuePosition}`
}
