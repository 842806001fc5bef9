import { readFileSync } from 'node:fs'
import { packageFile } from './engines/install/run-to-end.js'

/** Tells a gate that it speaks to this service, and to which one. */
export const VERSION_HEADER = 'x-loadgate-version'

export function readPackageVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string }).version
}
