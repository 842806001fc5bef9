import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [key: string]: unknown
}

export const SERVICE_MANIFEST = 'examples/service/kubernetes.yaml'

/** The documents of the manifest, read as kubectl does: in its YAML, 0440 is octal. */
export function readServiceManifest(change: (text: string) => string = (text) => text): Manifest[] {
  const documents = parseAllDocuments(change(readFileSync(SERVICE_MANIFEST, 'utf8')), { version: '1.1' })
  return [...documents].map((document) => document.toJS() as Manifest)
}

export interface Namespaces {
  readonly service: string
  readonly grids: string
}

/** The manifest in namespaces of other names: somebody may have a service on the same cluster. */
export function renameNamespaces(text: string, { service, grids }: Namespaces): string {
  return text
    .replace(/^(\s*namespace:) loadgate$/gm, `$1 ${service}`)
    .replace(/^(\s*namespace:) load$/gm, `$1 ${grids}`)
    .replace(/(kind: Namespace\nmetadata:\n {2}name:) loadgate$/m, `$1 ${service}`)
    .replace(/(kind: Namespace\nmetadata:\n {2}name:) load$/m, `$1 ${grids}`)
    .replace(/^(# .*(?:-n|namespace)) loadgate\b/gm, `$1 ${service}`)
}

/** The commands of its head, which deploy it. */
export function commandsOf(text: string): string[] {
  return [...text.matchAll(/^# {3}(\S.*)$/gm)].map(([, command = '']) => command)
}
