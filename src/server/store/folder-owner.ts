import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'

/**
 * Files that root or somebody else creates beside the database would keep the service from opening it. A folder may belong to
 * root and be the service's by its group, as a volume in a cluster: then the database's owner counts.
 */
export function requireOwnFolder(dataDir: string, file: string): void {
  const user = process.getuid?.()
  if (user === undefined) return
  const found = statSync(file, { throwIfNoEntry: false })
  const owner = found?.uid ?? (user === 0 ? statSync(dataDir).uid : user)
  if (owner === user) return
  throw new Error(
    `the data folder ${dataDir} belongs to another user; run the command as that one: sudo -u ${nameOf(owner)} loadgate …`
  )
}

/** `sudo` takes both. */
function nameOf(user: number): string {
  try {
    return execFileSync('id', ['-nu', String(user)], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return `'#${user}'`
  }
}
