import type { KubernetesPlace } from '../../../src/contract/regions/regions.js'

/** A region on Kubernetes with nothing set but what is given. */
export function makePlace(changes: Partial<KubernetesPlace> = {}): KubernetesPlace {
  return {
    kind: 'kubernetes',
    context: undefined,
    namespace: undefined,
    image: undefined,
    serviceAccount: undefined,
    nodeSelector: {},
    tolerations: [],
    imagePullSecrets: [],
    imagePullPolicy: undefined,
    hostNetwork: false,
    instanceTypes: new Map(),
    startTimeoutMs: 300_000,
    ...changes
  }
}
