import { mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { messageOf, ToolError } from '../../errors.js'
import { isComplete, markComplete } from './completeness.js'
import { holdLock } from './install-lock.js'
import type { InstallPorts } from './install-ports.js'

export interface Installation {
  /** For people, such as `Gatling 3.15.1`. */
  readonly what: string
  /** The folder with all installations of its kind. */
  readonly cache: string
  /** The installation's own folder in it; another name for any other content. */
  readonly name: string
  /** Fills the folder `home` of a draft; whatever else it leaves in the draft is thrown away. */
  readonly install: (draft: Draft) => Promise<void>
}

export interface Draft {
  readonly home: string
  /** For files that are not part of the installation. */
  readonly work: string
}

const ABANDONED_AFTER_MS = 24 * 3600 * 1000
const DRAFT = 'installing-'

/**
 * Returns the folder of an installation, which is made now if there is none: all or nothing, in a draft that gets its name as
 * the last step. Of several processes at once one installs, and the others wait for it.
 */
export async function installOnce(installation: Installation, ports: InstallPorts): Promise<string> {
  const { cache, name, what } = installation
  const home = join(cache, name)
  // Before anything is written: a cache that is complete may be read-only.
  if (await isComplete(home)) return home
  try {
    makeFolder(cache)
    const lock = await holdLock(join(cache, `${name}.lock`), what, ports)
    try {
      if (!(await isComplete(home))) await installNow(installation, home)
    } finally {
      await lock.release()
    }
    return home
  } catch (thrown) {
    if (ports.signal.aborted) throw thrown
    throw explain(thrown, installation, ports)
  }
}

async function installNow({ cache, install }: Installation, home: string): Promise<void> {
  await removeAbandoned(cache)
  const work = await mkdtemp(join(cache, DRAFT))
  try {
    const draft = { work, home: join(work, 'home') }
    makeFolder(draft.home)
    await install(draft)
    await markComplete(draft.home)
    await giveName(draft.home, home)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** The lock can fail to keep two apart, such as in two containers; then the first to rename wins. */
async function giveName(installed: string, home: string): Promise<void> {
  try {
    await rename(installed, home)
  } catch (thrown) {
    if (await isComplete(home)) return
    // An incomplete installation has the name, such as a partly restored cache.
    await rename(home, `${installed}-replaced`)
    await rename(installed, home).catch(async () => {
      if (!(await isComplete(home))) throw thrown
    })
  }
}

/** Drafts whose process was killed. */
async function removeAbandoned(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.startsWith(DRAFT)) continue
    const { mtimeMs } = await stat(join(cache, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS)
      await rm(join(cache, name), { recursive: true, force: true })
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
