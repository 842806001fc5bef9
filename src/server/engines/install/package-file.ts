import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const PACKAGE = 'loadgate'

/**
 * The absolute path of a file that is shipped with this package, such as `java/jars/fetch.jar`. This module is at one depth
 * in `src/` and at another in `dist/`, so the root is found by its package.json.
 */
export function packageFile(path: string): string {
  return join(findRoot(dirname(fileURLToPath(import.meta.url))), path)
}

function findRoot(folder: string): string {
  if (nameOf(folder) === PACKAGE) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error(`There is no package.json of ${PACKAGE} above ${import.meta.url}`)
  return findRoot(parent)
}

function nameOf(folder: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined
  }
}
