import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'

export interface KubeconfigParts {
  readonly name?: string
  readonly server: string
  readonly context?: string
  readonly namespace?: string
  readonly cluster?: Readonly<Record<string, unknown>>
  readonly user?: Readonly<Record<string, unknown>>
}

/** A kubeconfig for a stand-in, with one context; returns its path. */
export function writeKubeconfig(folder: string, parts: KubeconfigParts): string {
  const {
    name = 'config',
    server,
    context = 'load-eu',
    namespace,
    cluster,
    user = { token: 'secret-token' }
  } = parts
  const file = join(folder, name)
  writeFileSync(
    file,
    stringify({
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [
        {
          name: `cluster-of-${context}`,
          cluster: {
            server,
            ...(server.startsWith('http:') && { 'insecure-skip-tls-verify': true }),
            ...cluster
          }
        }
      ],
      users: [{ name: `user-of-${context}`, user }],
      contexts: [
        {
          name: context,
          context: {
            cluster: `cluster-of-${context}`,
            user: `user-of-${context}`,
            ...(namespace && { namespace })
          }
        }
      ],
      'current-context': context
    }),
    { mode: 0o600 }
  )
  return file
}
