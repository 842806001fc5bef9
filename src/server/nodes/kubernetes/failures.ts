import { ClusterError } from './cluster.js'

/** Whether a request that failed may have been served all the same, or may be when it is repeated: all but a refusal. */
export function isUnclear(error: unknown): boolean {
  if (!(error instanceof ClusterError)) return false
  const { status } = error
  return status === undefined || status < 400 || status === 408 || status === 429 || status >= 500
}

/** Whether the cluster is too busy: whatever it would answer, it has not yet. */
export function isBusy(error: unknown): error is ClusterError {
  return (
    error instanceof ClusterError &&
    error.status !== undefined &&
    (error.status === 429 || error.status >= 500)
  )
}

/** Whether the cluster does not accept the credentials, or does not allow it: waiting longer seldom helps. */
export function isRefusal(error: unknown): error is ClusterError {
  return error instanceof ClusterError && (error.status === 401 || error.status === 403)
}
