import { ClusterError } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'

/** Whether the cluster does not accept the credentials, or does not allow it: waiting longer seldom helps. */
export function isRefusal(error: unknown): error is ClusterError {
  return error instanceof ClusterError && (error.status === 401 || error.status === 403)
}

/** The node may well be working, but nobody here may use it any more. */
export class RefusedError extends NodeError {
  override name = 'RefusedError'
}

export const REFUSED_ADVICE =
  'See whether the credentials of the kubeconfig are valid for the whole run, and whether its user may still list pods and run commands in them (pods/exec).'
