import { shorten } from '../../thresholds/quoting.js'
import { listRemoteErrors } from '../../evidence/remote-errors.js'
import type { Findings } from '../findings.js'

/** What the service reported of a run that finished all the same: its first error; undefined without any. */
export function describeRemoteErrors(run: Findings['run']): string | undefined {
  const [first, ...others] = listRemoteErrors(run?.remoteErrors)
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `the service reported errors: "${shorten(first)}"${more}`
}
