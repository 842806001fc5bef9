import { NodeError } from '../../load-node.js'

/** The node may well be working, but nobody here may use it any more. */
export class RefusedError extends NodeError {
  override name = 'RefusedError'
}

export const REFUSED_ADVICE =
  'See whether the credentials of the kubeconfig are valid for the whole run, and whether its user may still list pods and run commands in them (pods/exec).'
