export const PLACE = {
  kind: 'kubernetes',
  nodeSelector: {},
  tolerations: [],
  imagePullSecrets: [],
  imagePullPolicy: 'Never',
  hostNetwork: false,
  instanceTypes: { small: { cpu: '75m', memory: '64Mi' } },
  startTimeoutMs: 120_000
}

export const cpuSec = (from, to) => (to.user + to.system - from.user - from.system) / 1e6
export const coresBetween = (from, to) => cpuSec(from, to) / ((to.atMs - from.atMs) / 1000)
