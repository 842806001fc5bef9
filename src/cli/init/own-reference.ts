import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readGitHead } from '../git-head.js'

const COMMIT = /^[0-9a-f]{40}$/

/**
 * The commit or tag by which workflows use this version: in a clone the commit, because the tag of a release may not exist
 * yet; in an installed package the tag of the major version.
 */
export async function findOwnReference(root: string, version: string): Promise<string> {
  // An installed package may be inside the repository of somebody else.
  if (existsSync(join(root, '.git'))) {
    const commit = await readGitHead(root)
    if (COMMIT.test(commit)) return commit
  }
  return `v${version.split('.')[0] ?? ''}`
}

/** The step of a workflow; a release cannot contain its own commit, so that a package names a tag. */
export function gateAt(reference: string): string {
  return `loadgate/loadgate@${reference}${COMMIT.test(reference) ? '' : ' # zizmor: ignore[unpinned-uses]'}`
}
