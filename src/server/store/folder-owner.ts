import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/**
 * Files that root or somebody else creates beside the database would keep the service from opening it. A folder may belong to
 * root and be the service's by its group, as a volume in a cluster: then the database's owner counts.
 */
export function requireOwnFolder(dataDir: string, file: string): void {
  const user = process.getuid?.()
  if (user === undefined) return
  const owner = ownerOfDatabase(dataDir, file) ?? (user === 0 ? ownerAbove(dataDir) : user)
  if (owner === user) return
  const byMistake =
    owner === 0 ? ` (if root made it by mistake, give it back: chown -R ${nameOf(user)} ${dataDir})` : ''
  throw new Error(
    `the data folder ${dataDir} belongs to another user; run the command as that one: sudo -u ${nameOf(owner)} loadgate …${byMistake}`
  )
}

/** Undefined if there is none yet. */
function ownerOfDatabase(dataDir: string, file: string): number | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })?.uid
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EACCES') throw thrown
    return statSync(dataDir).uid
  }
}

/** Of the folder, or of the one in which it would be created. */
function ownerAbove(folder: string): number {
  const path = resolve(folder)
  return statSync(path, { throwIfNoEntry: false })?.uid ?? ownerAbove(dirname(path))
}

/** `sudo` and `chown` take both. */
function nameOf(user: number): string {
  try {
    return execFileSync('id', ['-nu', String(user)], { stdio: ['ignore', 'pipe', 'ignore'] })
      .toString()
      .trim()
  } catch {
    return `'#${user}'`
  }
}
