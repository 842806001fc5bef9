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
