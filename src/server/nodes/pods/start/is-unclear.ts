import { ClusterError } from '../../kubernetes/cluster.js'

/** Whether a request that failed may have been served all the same, or may be when it is repeated: all but a refusal. */
export function isUnclear(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false
  const { status } = error
  return status === undefined || status < 400 || status === 408 || status === 429 || status >= 500
}
