import type { NodeOrder } from './engine.js'
import { packageFile } from './install/run-to-end.js'

/**
 * What gives host names other addresses in a whole JVM, whatever looks them up: an option, and the file that it names. Nothing if there
 * are none. A JVM that cannot do it does not start, so that nothing is sent to a host that was overridden.
 */
export function hostAgent({ hosts, node }: Pick<NodeOrder, 'hosts' | 'node'>): {
  brings: readonly string[]
  options: readonly string[]
} {
  if (hosts.length === 0) return { brings: [], options: [] }
  const jar = packageFile('java/jars/hosts.jar')
  const entries = hosts.map(({ host, address }) => `${host}/${address}`)
  return { brings: [jar], options: [`-javaagent:${node.pathOf(jar)}=${entries.join(',')}`] }
}
