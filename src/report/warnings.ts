import type { Outcome } from './outcome.js'

/** More than anyone reads; verdict.json has all of them. */
const MOST_SHOWN = 10

/** Warnings besides the verdict: load that was not reached, and the service's own error messages. */
export function listWarnings({
  warnings,
  remoteErrors
}: Pick<Outcome, 'warnings' | 'remoteErrors'>): string[] {
  const all = [...warnings, ...remoteErrors.map((line) => `The service says: ${line}`)]
  if (all.length <= MOST_SHOWN) return all
  return [...all.slice(0, MOST_SHOWN), `${all.length - MOST_SHOWN} more are in verdict.json.`]
}
