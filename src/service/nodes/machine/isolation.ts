import { spawnSync } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { messageOf } from '../../../contract/text.js'
import { attempt } from '../../errors.js'
import type { NodeCommand } from '../load-node.js'
import type { ToolCommand } from './processes.js'

/** Ids that no system gives to a person or a daemon, as systemd's list of them says; in a container with few ids, some that are rare there. */
const RANGES = [
  { from: 1_900_000_000, size: 2 ** 24 },
  { from: 40_000, size: 2 ** 14 }
]

interface IsolationParts {
  readonly dataDir: string
  readonly runDir: (runId: string) => string
  readonly log: (line: string) => void
}

type Command = Pick<NodeCommand, 'brings' | 'follows' | 'collects' | 'starts'> & ToolCommand

interface IsolatedCommand {
  readonly command: ToolCommand
  /** After its end: its files are the service's again, and its home is removed. */
  readonly end: () => Promise<void>
}

/**
 * Keeps plans on this machine away from the service and from each other, as far as a user can: every node has a home and a folder for
 * temporary files of its own, and, if the service is root, a user of its own in a group for each run.
 */
export class Isolation {
  /** Known with the first node: a service whose nodes are all elsewhere keeps its folder closed. */
  #found: { readonly range: (typeof RANGES)[number] | undefined } | undefined
  readonly #told = new Set<string>()

  constructor(private readonly parts: IsolationParts) {}

  /** For a node of a run: all its commands have the same user. */
  nodeOf(runId: string): { prepare: (command: Command) => IsolatedCommand } {
    const { range } = (this.#found ??= this.#start())
    const user = range && { uid: range.from + randomInt(range.size), gid: groupOf(runId, range) }
    return { prepare: (command) => this.#prepare(command, { user, runDir: this.parts.runDir(runId) }) }
  }

  #prepare(
    command: Command,
    { user, runDir }: { user: ToolCommand['user']; runDir: string }
  ): IsolatedCommand {
    const { brings, follows, collects } = command
    const hidden = user && this.#findHidden(command, runDir)
    if (hidden !== undefined)
      this.#tellOnce(
        `plans run as root on this machine, because other users cannot read ${hidden}: install the tools where they can (XDG_CACHE_HOME=/var/cache, for example), or run the service as another user`
      )
    const other = hidden === undefined ? user : undefined
    const own = command.tempDir ?? mkdtempSync(join(tmpdir(), 'loadgate-'))
    const env = { ...command.env, ...ownFolders(command, own) }
    if (other === undefined)
      return {
        command: { ...command, env, tempDir: own },
        end: () => this.#end(command, own, () => undefined)
      }
    const nameless = { ...env, USER: undefined, LOGNAME: undefined }
    const grant = new Grant(runDir, other)
    giveAll(own, other)
    for (const path of brings) grant.share(path)
    for (const path of [command.cwd, ...follows, ...collects]) grant.give(path)
    return {
      command: { ...command, env: nameless, tempDir: own, user: other },
      end: () => this.#end(command, own, () => grant.takeBack())
    }
  }

  async #end(command: Command, own: string, takeBack: () => void): Promise<void> {
    try {
      takeBack()
    } finally {
      // A folder that the caller gave is the caller's.
      if (command.tempDir === undefined) await rm(own, { recursive: true, force: true, maxRetries: 3 })
    }
  }

  /** A path that the command needs and that other users cannot read. */
  #findHidden(command: Command, runDir: string): string | undefined {
    // Nothing that a caller of the service has a say in, or a plan could choose to be root.
    const needed = [command.file, ...(command.starts ?? []), ...command.brings]
    const outside = needed.filter(
      (path) => !isWithin(path, runDir) && !isWithin(path, command.tempDir ?? runDir)
    )
    return [dirname(runDir), tmpdir(), ...outside].find((path) => !isOpen(path, path === dirname(runDir)))
  }

  #start(): { range: (typeof RANGES)[number] | undefined } {
    const isRoot = process.platform === 'linux' && process.getuid?.() === 0
    const range = isRoot ? this.#findRange() : undefined
    if (range !== undefined) openWay(this.parts.dataDir)
    return { range }
  }

  #findRange() {
    const map = attempt(() => readFileSync('/proc/self/uid_map', 'utf8')) ?? ''
    const spans = map.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    const range = RANGES.find(({ from, size }) =>
      spans.some(([start = 0, , count = 0]) => start <= from && from + size <= start + count)
    )
    const why = range === undefined ? 'this container has too few users' : tryUser(range.from)
    if (why === undefined) return range
    this.#tellOnce(`plans run as root on this machine, because ${why}: run the service as another user`)
    return undefined
  }

  #tellOnce(words: string): void {
    if (this.#told.has(words)) return
    this.#told.add(words)
    this.parts.log(words)
  }
}

function groupOf(runId: string, { from, size }: (typeof RANGES)[number]): number {
  return from + (createHash('sha256').update(runId).digest().readUInt32BE(0) % size)
}

/** Why no process can be started as another user; undefined if one can. */
function tryUser(id: number): string | undefined {
  const { status, error } = spawnSync('/bin/sh', ['-c', ':'], {
    uid: id,
    gid: id,
    cwd: '/',
    env: {},
    stdio: 'ignore'
  })
  return status === 0
    ? undefined
    : `another user cannot be used (${error ? messageOf(error) : `exit code ${status}`})`
}

/** Where the command has none of its own already. */
function ownFolders({ env, tempDir }: Command, own: string): NodeJS.ProcessEnv {
  const home = join(own, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const hasOwn = (path: string | undefined): boolean =>
    path !== undefined && tempDir !== undefined && isWithin(path, tempDir)
  return { HOME: hasOwn(env.HOME) ? env.HOME : home, TMPDIR: hasOwn(env.TMPDIR) ? env.TMPDIR : own }
}

/** Other users may pass through these folders, and read nothing in them: each run's own folder is closed to all but its group. */
function openWay(dataDir: string): void {
  const runs = join(dataDir, 'runs')
  for (const name of attempt(() => readdirSync(runs)) ?? []) closeToOthers(join(runs, name))
  for (const name of readdirSync(dataDir)) if (name !== 'runs') closeToOthers(join(dataDir, name))
  for (const folder of [dataDir, runs]) chmodSync(folder, 0o711)
}

function closeToOthers(path: string): void {
  const found = lstatSync(path)
  if (!found.isSymbolicLink() && (found.mode & 0o007) !== 0) chmodSync(path, found.mode & 0o770)
}

/** What the user of a node gets of its run's folder. Nothing of another owner changes hands: a plan may have put links there. */
class Grant {
  readonly #given: string[] = []

  constructor(
    private readonly runDir: string,
    private readonly user: NonNullable<ToolCommand['user']>
  ) {}

  /** To read, with the other nodes of the run. */
  share(path: string): void {
    if (!isWithin(path, this.runDir)) return
    this.#pass(path)
    walk(path, (each, found) => {
      if (!isOwn(found)) return
      lchownSync(each, found.uid, this.user.gid)
      chmodSync(each, (found.mode & 0o770) | (found.isDirectory() ? 0o050 : 0o040))
    })
  }

  /** To write: the folder of a node or of a build as a whole, or a file beside it. */
  give(path: string): void {
    if (!isWithin(path, this.runDir)) return
    const top = join(this.runDir, ...relative(this.runDir, path).split(sep).slice(0, 2))
    if (this.#given.includes(top)) return
    this.#pass(top)
    if (!existsSync(top)) closeSync(openSync(top, 'wx', 0o600))
    giveAll(top, this.user)
    this.#given.push(top)
  }

  /** What the service reads, and what other nodes read of a build. */
  takeBack(): void {
    const [uid, gid] = [process.getuid?.() ?? 0, this.user.gid]
    for (const top of this.#given.filter((path) => existsSync(path)))
      walk(top, (each, found) => {
        if (found.uid !== this.user.uid) return
        lchownSync(each, uid, gid)
        if (found.isFile() || found.isDirectory())
          chmodSync(each, (found.mode & 0o770) | (found.isDirectory() ? 0o050 : 0o040))
      })
  }

  /** Through the folders above it. */
  #pass(path: string): void {
    for (let folder = dirname(path); isWithin(folder, this.runDir); folder = dirname(folder)) {
      const found = lstatSync(folder)
      if (!found.isDirectory() || !isOwn(found)) continue
      lchownSync(folder, found.uid, this.user.gid)
      chmodSync(folder, (found.mode & 0o770) | 0o010)
    }
  }
}

function giveAll(top: string, { uid, gid }: NonNullable<ToolCommand['user']>): void {
  walk(top, (each, found) => {
    if (isOwn(found) || found.isSymbolicLink()) lchownSync(each, uid, gid)
  })
}

/** The service's own, and not a second name of some other file. */
function isOwn(found: Stats): boolean {
  return found.uid === process.getuid?.() && (found.isDirectory() || (found.isFile() && found.nlink === 1))
}

/** Never through a link. */
function walk(path: string, visit: (path: string, found: Stats) => void): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return
  if (found.isDirectory()) for (const name of readdirSync(path)) walk(join(path, name), visit)
  visit(path, found)
}

function isWithin(path: string, folder: string): boolean {
  const rest = relative(folder, resolve(path))
  return rest === '' || (!rest.startsWith('..') && !isAbsolute(rest))
}

/** Whether every user can read it, or at least pass through it; true for what is not there. */
function isOpen(path: string, isPassage: boolean): boolean {
  const real = attempt(() => realpathSync(path))
  if (real === undefined) return true
  const found = statSync(real)
  const bits = found.isDirectory() ? (isPassage ? 0o001 : 0o005) : 0o004
  if ((found.mode & bits) !== bits) return false
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if ((statSync(folder).mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
