import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { isSameProcess, readStartTime, type ProcessGroup } from '../../nodes/machine/processes.js'
import { readOwner } from './install-lock.js'

interface Owner extends ProcessGroup {
  /** The process ids of another machine or container mean nothing here. */
  readonly place: string
}

const DRAFT = 'installing-'
const OWNER = 'owner'
const ABANDONED_AFTER_MS = 24 * 3600 * 1000

/** Makes a folder for an installation that is not complete yet, with the name of this process in it. */
export async function makeDraft(cache: string): Promise<string> {
  const draft = await mkdtemp(join(cache, DRAFT))
  const owner: Owner = { pid: process.pid, startTime: readStartTime(process.pid) ?? '', place: thisPlace() }
  try {
    await writeFile(join(draft, OWNER), JSON.stringify(owner))
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true })
    throw thrown
  }
  return draft
}

/** Removes the drafts whose processes were killed; never fails, because the cache may be read-only. */
export async function removeAbandonedDrafts(cache: string): Promise<void> {
  const names = await readdir(cache).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(DRAFT))) {
    const draft = join(cache, name)
    if (await isAbandoned(draft)) await rm(draft, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function isAbandoned(draft: string): Promise<boolean> {
  const owner: (Partial<Owner> & ProcessGroup) | undefined = await readOwner(join(draft, OWNER))
  if (owner?.place === thisPlace()) return !isSameProcess(owner)
  const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }))
  return Date.now() - mtimeMs > ABANDONED_AFTER_MS
}

export function thisPlace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
