import { lstat } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The folder with `.git`, this one or one above; undefined outside a repository. */
export async function findRepositoryRoot(folder: string): Promise<string | undefined> {
  // A file in a worktree or a submodule.
  const found = await lstat(join(folder, '.git')).catch(() => undefined)
  if (found !== undefined) return folder
  const parent = dirname(folder)
  return parent === folder ? undefined : findRepositoryRoot(parent)
}
