import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rename, rm, mkdtemp, readdir, stat, writeFile, readFile } from 'node:fs/promises'
import { join, resolve, relative, sep } from 'node:path'
import { homedir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { makeFolder } from '../../../contract/files.js'
import { ToolError } from '../../errors.js'
import { messageOf } from '../../../contract/text.js'
import { isSameProcess, readStartTime, type ProcessGroup } from '../../nodes/machine/processes.js'
import type { InstallPorts } from './run-to-end.js'

interface Installation {
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

/** Returns the folder of an installation, made now if missing: all or nothing. If several processes need it, one installs it and the others wait. */
export async function installOnce(installation: Installation, ports: InstallPorts): Promise<string> {
  const { cache, name, what, jars } = installation
  const home = join(cache, name)
  await removeAbandonedDrafts(cache)
  // Before anything is written: a cache that is complete may be read-only.
  if ((await findDamage(home, jars)) === undefined) return home
  try {
    makeFolder(cache, isForOthers() ? { mode: 0o755 } : {})
    const lock = join(cache, `${name}.lock`)
    await takeLock(lock, what, ports)
    try {
      const damage = await findDamage(home, jars)
      if (damage !== undefined && existsSync(home))
        ports.log(`Installing ${what} again, because ${home} is damaged: ${damage}`)
      if (damage !== undefined) await installNow(installation, home)
    } finally {
      await rm(lock, { force: true })
    }
    return home
  } catch (thrown) {
    if (ports.signal.aborted) throw thrown
    throw explain(thrown, installation, ports)
  }
}

async function installNow({ cache, jars, install }: Installation, home: string): Promise<void> {
  const work = await mkdtemp(join(cache, DRAFT))
  try {
    const draft = { work, home: join(work, 'home') }
    makeFolder(draft.home)
    await install(draft)
    await markComplete(draft.home)
    if (isForOthers()) await run('chmod', ['-R', 'a+rX', '--', draft.home])
    await giveName(draft.home, home, jars)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const run = promisify(execFile)

/** The plans of root's service are other users; its umask may close what it makes to them. */
function isForOthers(): boolean {
  return process.getuid?.() === 0
}

/** The lock can fail to keep two apart, such as in two containers; then the first to rename wins. */
async function giveName(installed: string, home: string, jars: FileHashes | undefined): Promise<void> {
  try {
    await rename(installed, home)
  } catch (thrown) {
    if ((await findDamage(home, jars)) === undefined) return
    // An incomplete installation has the name, such as a partly restored cache.
    await rename(home, `${installed}-replaced`)
    await rename(installed, home).catch(async () => {
      if ((await findDamage(home, jars)) !== undefined) throw thrown
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

/** Where installed tools are kept, for caching: in the runner's tool cache, or in the user's cache folder. */
export function cacheFolder(name: string, env: NodeJS.ProcessEnv): string {
  if (env.RUNNER_TOOL_CACHE) return resolve(env.RUNNER_TOOL_CACHE, name)
  if (env.XDG_CACHE_HOME) return resolve(env.XDG_CACHE_HOME, name)
  const home = env.HOME ?? homedir()
  return resolve(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', name)
}

const DRAFT = 'installing-'
const ABANDONED_AFTER_MS = 24 * 3600 * 1000

/** Removes the drafts of processes that were killed, a day later; never fails, because the cache may be read-only. */
async function removeAbandonedDrafts(cache: string): Promise<void> {
  const names = await readdir(cache).catch(() => [])
  for (const name of names.filter((each) => each.startsWith(DRAFT))) {
    const draft = join(cache, name)
    const { mtimeMs } = await stat(draft).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > ABANDONED_AFTER_MS)
      await rm(draft, { recursive: true, force: true }).catch(() => undefined)
  }
}

const LOOK_EVERY_MS = 200
/** For a lock without an owner: its process was killed between creating and writing it, or is about to write. */
const UNREADABLE_LOOKS = 10

/** Waits until no running process holds this lock, and takes it. It only saves work: two that find a left-over lock may both go on. */
async function takeLock(file: string, what: string, ports: InstallPorts): Promise<void> {
  let looks = 0
  let unreadable = 0
  const self = { pid: process.pid, startTime: readStartTime(process.pid) ?? '' }
  while (!(await tryCreate(file, self))) {
    ports.signal.throwIfAborted()
    const owner = await readOwner(file)
    unreadable = owner === undefined ? unreadable + 1 : 0
    if (owner === undefined ? unreadable > UNREADABLE_LOOKS : !isSameProcess(owner)) {
      await rm(file, { force: true })
      continue
    }
    if (looks++ === 0 && owner !== undefined)
      ports.log(`Process ${owner.pid} is installing ${what}; waiting for it`)
    await sleep(LOOK_EVERY_MS, undefined, { signal: ports.signal })
  }
}

async function tryCreate(file: string, owner: ProcessGroup): Promise<boolean> {
  try {
    await writeFile(file, JSON.stringify(owner), { flag: 'wx' })
    return true
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false
    // On a full disk the file exists, without an owner.
    await rm(file, { force: true })
    throw thrown
  }
}

async function readOwner(file: string): Promise<ProcessGroup | undefined> {
  try {
    const owner = JSON.parse(await readFile(file, 'utf8')) as ProcessGroup
    return typeof owner.pid === 'number' && typeof owner.startTime === 'string' ? owner : undefined
  } catch {
    return undefined
  }
}

/** The SHA-256 of files, by their paths within an installation. */
type FileHashes = ReadonlyMap<string, string>

const MARKER = 'complete'
/** What a tool loads; people may edit the other files, such as JMeter's properties. */
const CODE = /\.(?:jar|js|mjs|cjs|node|json)$|\/bin\/[^/.]+$/

/** Marks an installation as complete, with a list of the files that it must have. */
async function markComplete(home: string): Promise<void> {
  const paths = await listCode(home)
  const lines: string[] = []
  for (const path of paths) lines.push(`${await hashFile(join(home, path))} ${path}\n`)
  await writeFile(join(home, MARKER), `${lines.join('')}${endOf(lines)}`)
}

/** The last line: a truncated marker has none. */
const endOf = (lines: readonly unknown[]): string => `end ${lines.length}\n`

/** What is wrong with an installation, if anything: a cache may be incomplete, damaged or altered. `pinned`: the jars it must have. */
async function findDamage(home: string, pinned?: FileHashes): Promise<string | undefined> {
  const expected = await readMarker(home)
  if (expected === undefined) return 'it was not completed'
  if (pinned !== undefined && !sameJars(expected, pinned)) return 'its list of files is wrong'
  const found = await listCode(home)
  const foreign = found.find((path) => !expected.has(path))
  if (foreign !== undefined) return `${foreign} is not part of it`
  const present = new Set(found)
  const missing = [...expected.keys()].find((path) => !present.has(path))
  return missing === undefined ? findAltered(home, expected) : `${missing} is missing`
}

/** Verified files, by path and time: a file that was not written since is not read again. */
const verified = new Map<string, string>()

async function findAltered(home: string, expected: FileHashes): Promise<string | undefined> {
  for (const [path, sha256] of expected) {
    const file = join(home, path)
    const found = await stat(file, { bigint: true }).catch(() => undefined)
    if (found?.isFile() !== true) return `${path} is missing`
    const state = [sha256, found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
    if (verified.get(file) === state) continue
    if ((await hashFile(file)) !== sha256) return `${path} has other bytes`
    verified.set(file, state)
  }
  return undefined
}

async function readMarker(home: string): Promise<FileHashes | undefined> {
  const text = await readFile(join(home, MARKER), 'utf8').catch(() => '')
  const lines = text.split('\n').slice(0, -2)
  if (lines.length === 0 || !text.endsWith(`\n${endOf(lines)}`)) return undefined
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

function sameJars(marked: FileHashes, pinned: FileHashes): boolean {
  const jars = [...marked].filter(([path]) => path.endsWith('.jar'))
  return jars.length === pinned.size && jars.every(([path, sha256]) => pinned.get(path) === sha256)
}

/** Including links, which a tool follows. */
async function listCode(home: string): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => CODE.test(path))
    .sort()
}

/** Read as a whole, which for many small files is several times faster than a stream for each. */
export async function hashFile(file: string): Promise<string> {
  const bytes = await readFile(file)
  return createHash('sha256').update(bytes).digest('hex')
}
