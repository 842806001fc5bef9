import type { NodeOrder } from './engine.js'
import { packageFile } from './install/run-to-end.js'

/** What a JVM with the addresses prints, if it is asked to. */
export const SIGN = 'loadgate-hosts'

/**
 * The option, and the file that it names, that give host names other addresses in a whole JVM, whatever looks them up. Nothing if there
 * are none. A JVM that cannot do it does not start, so that nothing is sent to a host that was overridden.
 */
export function hostAgent(
  { hosts, node }: Pick<NodeOrder, 'hosts' | 'node'>,
  sign?: typeof SIGN
): {
  brings: readonly string[]
  options: readonly string[]
  /** For a JVM that is started by somebody's script: a script may set one of them itself. */
  variables: Readonly<Record<string, string>>
} {
  if (hosts.length === 0) return { brings: [], options: [], variables: {} }
  const jar = packageFile('java/jars/hosts.jar')
  const entries = hosts.map(({ host, address }) => `${host}/${address}`).join(',')
  const option = `-javaagent:${node.pathOf(jar)}=${entries}${sign === undefined ? '' : `;${sign}`}`
  const names = ['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS']
  return {
    ...{ brings: [jar], options: [option] },
    variables: Object.fromEntries(names.map((name) => [name, `"${option}"`]))
  }
}
