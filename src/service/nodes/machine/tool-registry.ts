import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync
} from 'node:fs'
import { homedir, hostname } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { isProcessGroup } from '../../../contract/records.js'
import { makeFolder, removeFolder } from '../../../contract/files.js'
import { attempt } from '../../errors.js'
import { bootId, endLeftoverGroup, isSameProcess, type ProcessGroup, readStartTime } from './processes.js'

/** A tool's process group, and the process responsible for ending it. */
interface Note {
  readonly group: ProcessGroup
  readonly owner: ProcessGroup
  /** Process ids are only valid in one place; home folders are shared between machines and containers. */
  readonly place: string
  /** Its temporary files. */
  readonly folder?: string | undefined
}

/** Also matches a temporary file that a kill may have left. */
const NOTE = /^\d+-[0-9a-f]{16}\.json(\.new)?$/
const FORGOTTEN_AFTER_MS = 7 * 24 * 3600 * 1000

/** The user's running tools, one file each, to find what a killed command and its watchdog left behind. Its own failures stop nothing. */
export class ToolRegistry {
  private readonly files = new Map<number, string>()
  private readonly owner = { pid: process.pid, startTime: attempt(() => readStartTime(process.pid)) ?? '' }
  /** A container has its own pid namespace, and a host name may change. */
  private readonly place = attempt(() => `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`) ?? hostname()

  constructor(
    private readonly dir: string | undefined,
    private readonly log: (line: string) => void
  ) {}

  /** In the user's state folder, or in another one. */
  static open(env: NodeJS.ProcessEnv, log: (line: string) => void, dir = stateFolder(env)): ToolRegistry {
    return new ToolRegistry(
      attempt(() => claimFolder(join(dir, 'tools'))),
      log
    )
  }

  note(group: ProcessGroup, folder?: string): void {
    const { dir, owner, place } = this
    // An owner that cannot be identified would look dead.
    if (dir === undefined || owner.startTime === '' || group.startTime === '') return
    const file = join(dir, `${group.pid}-${randomBytes(8).toString('hex')}.json`)
    attempt(() => {
      writeFileSync(`${file}.new`, JSON.stringify({ group, owner, place, folder } satisfies Note), {
        mode: 0o600
      })
      renameSync(`${file}.new`, file)
      this.files.set(group.pid, file)
    })
  }

  forget(pid: number): void {
    const file = this.files.get(pid)
    if (file === undefined) return
    this.files.delete(pid)
    attempt(() => rmSync(file, { force: true }))
  }

  /** Ends the tools whose owners have died. Those of live owners, here or elsewhere, are left alone. */
  async endOrphans(): Promise<void> {
    const { dir } = this
    if (dir === undefined) return
    const names = attempt(() => readdirSync(dir)) ?? []
    await Promise.all(names.filter((name) => NOTE.test(name)).map((name) => this.follow(join(dir, name))))
  }

  private async follow(file: string): Promise<void> {
    const note = attempt(() => readNote(file))
    if (note?.place !== this.place) {
      attempt(() => removeForgotten(file))
      return
    }
    try {
      if (isSameProcess(note.owner)) return
      if (await endLeftoverGroup(note.group))
        this.log(
          `ended the tool's processes (group ${note.group.pid}), left behind when process ${note.owner.pid} was killed`
        )
      if (note.folder !== undefined) await removeFolder(note.folder)
      rmSync(file, { force: true })
    } catch {
      // Another command may be doing the same, or the folder may be read-only; the next command tries again.
    }
  }
}

/** Where programs of this user keep state that must outlive them and is only useful on this machine. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const { XDG_STATE_HOME, HOME } = env
  // By the XDG specification: an empty variable counts as unset, and a relative path is ignored.
  if (XDG_STATE_HOME !== undefined && isAbsolute(XDG_STATE_HOME)) return join(XDG_STATE_HOME, 'loadgate')
  const home = HOME !== undefined && isAbsolute(HOME) ? HOME : homedir()
  return join(
    home,
    process.platform === 'darwin' ? 'Library/Application Support' : '.local/state',
    'loadgate'
  )
}

/** The folder, if only this user can write to it: processes recorded in it get ended. */
function claimFolder(dir: string): string | undefined {
  makeFolder(dir, { mode: 0o700 })
  const { uid, mode } = statSync(dir)
  if (uid !== process.getuid?.()) return undefined
  if ((mode & 0o077) !== 0) chmodSync(dir, 0o700)
  return dir
}

function readNote(file: string): Note | undefined {
  // Reading a pipe would wait for a writer.
  if (!lstatSync(file).isFile()) return undefined
  const { group, owner, place, folder } = (JSON.parse(readFileSync(file, 'utf8')) ?? {}) as Partial<Note>
  const isWhole = isProcessGroup(group) && isProcessGroup(owner) && typeof place === 'string'
  const isPath = folder === undefined || (typeof folder === 'string' && isAbsolute(folder))
  return isWhole && isPath ? { group, owner, place, folder } : undefined
}

function removeForgotten(file: string): void {
  if (Date.now() - statSync(file).mtimeMs > FORGOTTEN_AFTER_MS) rmSync(file, { force: true })
}
