import { posix } from 'node:path'
import { decodeXml } from './xml.js'

/**
 * The paths below its own folder where a plan looks for files that were uploaded next to it: `data/users.csv` for an
 * uploaded `users.csv`. Paths built at run time cannot be found in the text.
 */
export function readSubPaths(plan: string, names: ReadonlySet<string>): string[] {
  const words = decodeXml(plan).split(/[\s"'<>(),;=${}|:*?]+/)
  const paths = words
    .filter((word) => word.includes('/') && names.has(posix.basename(word)))
    .map((word) => posix.normalize(word))
    .filter((path) => path.includes('/') && !path.startsWith('/') && !path.startsWith('../'))
  return [...new Set(paths)]
}
