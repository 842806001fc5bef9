import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** What a cluster of scripts/cluster/up has on this machine. */
export interface ClusterFolders {
  readonly data: string
  /** Of what is built once. */
  readonly cache: string
  /** The network of its pods. */
  readonly network: { readonly bridge: string; readonly subnet: string }
  /** The command line of containerd, with the images of the pods. */
  readonly ctr: (...args: string[]) => void
}

/** Undefined if the cluster is another one, such as kind's. */
export function findClusterFolders(kubeconfig: string | undefined): ClusterFolders | undefined {
  const data = dirname(kubeconfig ?? '.')
  const socket = join(data, 'containerd.sock')
  if (!existsSync(socket)) return undefined
  const { K8S_CACHE, XDG_CACHE_HOME = join(homedir(), '.cache') } = process.env
  const [{ bridge, ipam }] = (
    JSON.parse(readFileSync(join(data, 'cni/10-pods.conflist'), 'utf8')) as {
      plugins: [{ bridge: string; ipam: { ranges: [[{ subnet: string }]] } }]
    }
  ).plugins
  return {
    data,
    cache: K8S_CACHE ?? join(XDG_CACHE_HOME, 'loadgate-k8s'),
    network: { bridge, subnet: ipam.ranges[0][0].subnet },
    ctr: (...args) => void execFileSync('ctr', ['-a', socket, '-n', 'k8s.io', ...args], { stdio: 'pipe' })
  }
}
