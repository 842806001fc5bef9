import { existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { messageOf, ToolError } from '../../errors.js'
import { type FileHashes, findDamage, markComplete } from './completeness.js'
import { makeDraft, removeAbandonedDrafts } from './drafts.js'
import { holdLock } from './install-lock.js'
import type { InstallPorts } from './install-ports.js'

export interface Installation {
  /** For people, such as `Gatling 3.15.1`. */
  readonly what: string
  /** The folder with all installations of its kind. */
  readonly cache: string
  /** The installation's own folder in it; another name for any other content. */
  readonly name: string
  /** The jars that it must have; it must have no others. */
  readonly jars?: FileHashes
  /** Fills the folder `home` of a draft; whatever else it leaves in the draft is thrown away. */
  readonly install: (draft: Draft) => Promise<void>
}

export interface Draft {
  readonly home: string
  /** For files that are not part of the installation. */
  readonly work: string
}

/**
 * Returns the folder of an installation, which is made now if there is none: all or nothing, in a draft that gets its name as
 * the last step. Of several processes at once one installs, and the others wait for it.
 */
export async function installOnce(installation: Installation, ports: InstallPorts): Promise<string> {
  const { cache, name, what, jars } = installation
  const home = join(cache, name)
  await removeAbandonedDrafts(cache)
  // Before anything is written: a cache that is complete may be read-only.
  if (await isComplete(home, jars)) return home
  try {
    makeFolder(cache)
    const lock = await holdLock(join(cache, `${name}.lock`), what, ports)
    try {
      if (!(await isComplete(home, jars))) await installNow(installation, home, ports)
    } finally {
      await lock.release()
    }
    return home
  } catch (thrown) {
    if (ports.signal.aborted) throw thrown
    throw explain(thrown, installation, ports)
  }
}

async function isComplete(home: string, jars: FileHashes | undefined): Promise<boolean> {
  return existsSync(home) && (await findDamage(home, jars)) === undefined
}

async function installNow(
  { what, cache, jars, install }: Installation,
  home: string,
  ports: Pick<InstallPorts, 'log'>
): Promise<void> {
  const damage = existsSync(home) ? await findDamage(home, jars) : undefined
  if (damage !== undefined) ports.log(`Installing ${what} again, because ${home} is damaged: ${damage}`)
  const work = await makeDraft(cache)
  try {
    const draft = { work, home: join(work, 'home') }
    makeFolder(draft.home)
    await install(draft)
    await markComplete(draft.home)
    await giveName(draft.home, home, jars)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The lock can fail to keep two apart, such as in two containers; then the first to rename wins. */
async function giveName(installed: string, home: string, jars: FileHashes | undefined): Promise<void> {
  try {
    await rename(installed, home)
  } catch (thrown) {
    if (await isComplete(home, jars)) return
    // An incomplete installation has the name, such as a partly restored cache.
    await rename(home, `${installed}-replaced`)
    await rename(installed, home).catch(async () => {
      if (!(await isComplete(home, jars))) throw thrown
    })
  }
}

function explain(thrown: unknown, { what, cache }: Installation, { env }: InstallPorts): unknown {
  if (thrown instanceof ToolError) return thrown
  const advice =
    (thrown as NodeJS.ErrnoException | undefined)?.code === 'ENOSPC'
      ? 'the disk is full: free up space'
      : `set ${env.RUNNER_TOOL_CACHE ? 'RUNNER_TOOL_CACHE' : 'XDG_CACHE_HOME'} to a folder in which this user may write`
  return new ToolError(`${what} could not be installed into ${cache}: ${messageOf(thrown)}; ${advice}`, {
    cause: thrown
  })
}
