import { execFile, spawnSync } from 'node:child_process'
import { randomInt, randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { promisify } from 'node:util'
import { removeFolder } from '../../../contract/files.js'
import { messageOf } from '../../../contract/text.js'
import { attempt, ToolError } from '../../errors.js'
import type { NodeCommand } from '../load-node.js'
import type { ToolCommand } from './processes.js'

/** Ids that no system gives to a person or a daemon, as systemd's list of them says; in a container with few ids, some that are rare there. */
const RANGES = [
  { from: 1_900_000_000, size: 2 ** 24 },
  { from: 40_000, size: 2 ** 14 }
]
type Range = (typeof RANGES)[number]
type User = NonNullable<ToolCommand['user']>

interface IsolationParts {
  readonly dataDir: string
  readonly runDir: (runId: string) => string
  /** Whether a plan that would run as root is not run at all: where others than this machine's owner send plans. */
  readonly isRequired: boolean
  /** Instead of the first that the system has. */
  readonly range?: Range
  readonly log: (line: string) => void
}

type Command = Pick<NodeCommand, 'brings' | 'follows' | 'collects' | 'starts'> & ToolCommand

interface IsolatedCommand {
  readonly command: ToolCommand
  /** After its end: nobody else writes to its files any more, and its home is removed. */
  readonly end: () => Promise<void>
}

/** A node of a run: its variables, and what its commands become. */
export interface IsolatedNode {
  readonly env: Readonly<Record<'HOME' | 'TMPDIR', string>>
  readonly prepare: (command: Command) => Promise<IsolatedCommand>
  /** Nothing runs on it any more. */
  readonly close: () => void
}

/**
 * Keeps plans on this machine away from the service and from each other, as far as a user can: every node has a home and a folder for
 * temporary files of its own, and, if the service is root, every folder that plans write to has a user of its own, in a group for each run.
 *
 * The folders around those of plans are root's, and what has its name there is handed over and taken back by that name. In a folder that a plan
 * could write to, root changes no owner and no mode, writes and reads nothing, and it removes it as a whole (`removeFolder`): what a plan puts
 * there does not lead root elsewhere.
 */
export class Isolation {
  /** Known with the first node: a service whose nodes are all elsewhere keeps its folder closed. */
  #found: { readonly ids: Ids | undefined } | undefined
  /** Of the runs that have nodes. */
  readonly #grants = new Map<string, Grant>()
  readonly #told = new Set<string>()

  constructor(private readonly parts: IsolationParts) {}

  nodeOf(runId: string): IsolatedNode {
    const temp = join(tmpdir(), `loadgate-${randomUUID()}`)
    const env = { HOME: join(temp, 'home'), TMPDIR: temp }
    const { ids } = (this.#found ??= this.#start())
    const grant = ids && (this.#grants.get(runId) ?? new Grant(this.parts.runDir(runId), ids))
    if (grant) this.#use(runId, grant)
    const release = (): void => this.#release(runId, grant)
    const prepare = async (command: Command): Promise<IsolatedCommand> => {
      if (grant) this.#use(runId, grant)
      try {
        const isolated = await this.#prepare(command, env, grant)
        return { ...isolated, end: () => isolated.end().finally(release) }
      } catch (thrown) {
        release()
        throw thrown
      }
    }
    return { env, prepare, close: release }
  }

  #use(runId: string, grant: Grant): void {
    grant.uses += 1
    this.#grants.set(runId, grant)
  }

  /** With its last node closed and its last command ended, the run's users are free for others, and its folder is closed to its group. */
  #release(runId: string, grant: Grant | undefined): void {
    if (grant === undefined || --grant.uses > 0) return
    this.#grants.delete(runId)
    grant.close()
  }

  async #prepare(
    command: Command,
    { HOME, TMPDIR }: IsolatedNode['env'],
    grant: Grant | undefined
  ): Promise<IsolatedCommand> {
    const { tempDir = TMPDIR, env } = command
    const end = async (): Promise<void> => {
      grant?.takeBack(command)
      // A folder that the caller gave is the caller's.
      if (tempDir === TMPDIR) await removeFolder(TMPDIR)
    }
    if (tempDir === TMPDIR) mkdirSync(TMPDIR, { mode: 0o700 })
    const home = env.HOME === HOME ? join(tempDir, 'home') : env.HOME
    if (env.HOME === HOME) mkdirSync(join(tempDir, 'home'), { mode: 0o700 })
    try {
      const own = { ...command, tempDir, env: { ...env, HOME: home } }
      const user = grant && (await this.#userOf(own, grant))
      if (user === undefined) return { command: own, end }
      return { command: { ...own, user, env: { ...own.env, USER: undefined, LOGNAME: undefined } }, end }
    } catch (thrown) {
      await end()
      throw thrown
    }
  }

  async #userOf(command: Command & { tempDir: string }, grant: Grant): Promise<User | undefined> {
    const { user, hidden } = await grant.prepare(command)
    if (hidden === undefined) return user
    this.#runAsRoot(
      `other users cannot read ${hidden}: move it to a folder that every user can read, or run the service as another user`
    )
    return undefined
  }

  #start(): { ids: Ids | undefined } {
    const range = process.getuid?.() === 0 ? this.#findRange() : undefined
    if (range !== undefined) openWay(this.parts.dataDir)
    return { ids: range && new Ids(this.parts.range ?? range) }
  }

  #findRange(): Range | undefined {
    const map = attempt(() => readFileSync('/proc/self/uid_map', 'utf8')) ?? ''
    const spans = map.split('\n').map((line) => line.trim().split(/\s+/).map(Number))
    const range = RANGES.find(({ from, size }) =>
      spans.some(([start = 0, , count = 0]) => start <= from && from + size <= start + count)
    )
    const why = range === undefined ? 'this system has too few users' : tryUser(range.from)
    if (why === undefined) return range
    this.#runAsRoot(`${why}: run the service as another user`)
    return undefined
  }

  /** Says so once, or refuses. */
  #runAsRoot(why: string): void {
    if (this.parts.isRequired)
      throw new ToolError(`the plan was not run, because it would run as root: ${why}`)
    if (this.#told.has(why)) return
    this.#told.add(why)
    this.parts.log(`plans run as root on this machine, because ${why}`)
  }
}

/** Ids of users and groups, each in use once at a time: whoever ends a user's processes ends nobody else's. */
class Ids {
  readonly #inUse = new Set<number>()

  constructor(private readonly range: Range) {}

  take(): number {
    const { from, size } = this.range
    if (this.#inUse.size >= size)
      throw new ToolError('this system has too few users for all plans that run at the same time')
    let id = from + randomInt(size)
    while (this.#inUse.has(id)) id = from + randomInt(size)
    this.#inUse.add(id)
    return id
  }

  free(ids: Iterable<number>): void {
    for (const id of ids) this.#inUse.delete(id)
  }
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

/** Other users may pass through these folders, and read nothing in them: each run's own folder is closed to all but its group. */
function openWay(dataDir: string): void {
  const runs = join(dataDir, 'runs')
  // No plan runs yet: what an earlier service has opened to a group is closed, too.
  for (const name of attempt(() => readdirSync(runs)) ?? []) closeToOthers(join(runs, name), 0o077)
  for (const name of readdirSync(dataDir)) if (name !== 'runs') closeToOthers(join(dataDir, name))
  for (const folder of [dataDir, runs]) chmodSync(folder, 0o711)
}

function closeToOthers(path: string, others = 0o007): void {
  const found = lstatSync(path)
  if (!found.isSymbolicLink() && (found.mode & others) !== 0) chmodSync(path, found.mode & 0o777 & ~others)
}

const run = promisify(execFile)

/** What the users of a run's nodes get of its folder. The folders in that one are root's: what is in them keeps its name. */
class Grant {
  /** Who has what was handed over: with all that is in it once, before anybody else could write to it. */
  readonly #owners = new Map<string, number>()

  readonly #taken: number[] = []
  readonly #gid: number
  /** Nodes that are open, and commands that have not ended. */
  uses = 0

  constructor(
    private readonly runDir: string,
    private readonly ids: Ids
  ) {
    this.#gid = this.#take()
  }

  #take(): number {
    const id = this.ids.take()
    this.#taken.push(id)
    return id
  }

  /** Whoever has its ids from now on gets nothing of it. */
  close(): void {
    // It may have been deleted.
    attempt(() => chmodSync(this.runDir, 0o700))
    attempt(() => lchownSync(this.runDir, 0, 0))
    this.ids.free(this.#taken)
  }

  /** The user of a command, with what it may write to and read; `hidden` is a path that it needs and that other users cannot read. */
  async prepare(command: Command & { tempDir: string }): Promise<{ user: User; hidden: string | undefined }> {
    const { cwd, tempDir, brings } = command
    const folder = this.#topOf(cwd) ?? tempDir
    const user = { uid: this.#owners.get(folder) ?? this.#take(), gid: this.#gid }
    const inRun = this.#topsOf(command)
    const own = isWithin(tempDir, this.runDir) ? [] : [tempDir]
    for (const path of inRun) this.#pass(path)
    await this.#handOver([...inRun, ...own], user)
    for (const path of brings.flatMap((each) => this.#topOf(each) ?? []))
      if (!inRun.includes(path) && existsSync(path)) this.#share(path)
    return { user, hidden: await this.#findHidden(command, user) }
  }

  takeBack(command: Command): void {
    for (const path of this.#topsOf(command)) if (this.#owners.has(path)) this.#give(path, 0)
  }

  #topsOf({ cwd, follows, collects }: Command): string[] {
    return [...new Set([cwd, ...follows, ...collects].flatMap((path) => this.#topOf(path) ?? []))]
  }

  /** What has its name in the run's folder, or in a folder of that one: the folder of a node or of a build as a whole, or a file beside it. */
  #topOf(path: string): string | undefined {
    if (!isWithin(path, this.runDir)) return undefined
    return join(this.runDir, ...relative(this.runDir, path).split(sep).slice(0, 2))
  }

  async #handOver(paths: readonly string[], { uid, gid }: User): Promise<void> {
    for (const path of paths) {
      if (!existsSync(path)) closeSync(openSync(path, 'wx', 0o600))
      if (!this.#owners.has(path)) await run('chown', ['-R', '-h', `${uid}:${gid}`, '--', path])
      // What is outside is made anew for each command.
      if (isWithin(path, this.runDir)) this.#owners.set(path, uid)
      this.#give(path, uid)
    }
  }

  #give(path: string, uid: number): void {
    lchownSync(path, uid, this.#gid)
    chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600)
  }

  /** To read, with the other nodes of the run: what the service has made, or a build that is complete. */
  #share(path: string): void {
    this.#pass(path)
    lchownSync(path, 0, this.#gid)
    chmodSync(path, statSync(path).isDirectory() ? 0o750 : 0o640)
  }

  /** Through the folders above it. */
  #pass(path: string): void {
    for (let folder = dirname(path); isWithin(folder, this.runDir); folder = dirname(folder)) {
      lchownSync(folder, 0, this.#gid)
      chmodSync(folder, 0o710)
    }
  }

  /** Asks as that user, of whom the system alone knows what it can read. */
  async #findHidden({ file, starts = [], brings, tempDir, cwd }: Command, user: User) {
    // Nothing that a caller of the service has a say in, or a plan could choose to be root.
    const needed = [file, ...starts, ...brings].filter(
      (path) => !isWithin(path, this.runDir) && !isWithin(path, tempDir ?? this.runDir) && existsSync(path)
    )
    const script =
      'for path; do if [ -d "$path" ]; then [ -x "$path" ]; else [ -r "$path" ]; fi || { printf %s "$path"; exit; }; done'
    const { stdout } = await run('/bin/sh', ['-c', script, 'sh', cwd, tmpdir(), ...needed], {
      ...{ ...user, cwd: '/', env: {} }
    })
    return stdout === '' ? undefined : stdout
  }
}

function isWithin(path: string, folder: string): boolean {
  const rest = relative(folder, resolve(path))
  return rest === '' || (!rest.startsWith('..') && !isAbsolute(rest))
}
