import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { type FileHandle, lstat, open, readFile, stat } from 'node:fs/promises'

/** Something else is where a file should be: a plan can put anything there. */
export class NotRegularError extends Error {
  override name = 'NotRegularError'
  /** As if the system had refused to open it. */
  readonly syscall = 'open'

  constructor(
    path: string,
    kind: string,
    readonly code = 'EINVAL',
    options?: ErrorOptions
  ) {
    super(`${path} is ${kind}, not a regular file`, options)
  }
}

/** A link is not followed, and a pipe without a writer does not wait for one. */
const CAREFULLY = constants.O_NOFOLLOW | constants.O_NONBLOCK

type Mode = 'r' | 'r+'

const flagsOf = (mode: Mode): number => CAREFULLY | (mode === 'r' ? constants.O_RDONLY : constants.O_RDWR)

/** Opens a file that a plan may have made or replaced. Throws a `NotRegularError` for a link, a pipe, a folder or a device. */
export async function openRegular(path: string, mode: Mode = 'r'): Promise<FileHandle> {
  const handle = await open(path, flagsOf(mode)).catch((thrown: unknown) => {
    throw explainOpen(thrown, path)
  })
  try {
    requireRegular(await handle.stat(), path)
    return handle
  } catch (thrown) {
    await handle.close()
    throw thrown
  }
}

/** The same; undefined if there is no such file. */
export async function openIfThere(path: string, mode: Mode = 'r'): Promise<FileHandle | undefined> {
  return openRegular(path, mode).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
}

export async function truncateRegular(path: string, bytes: number): Promise<void> {
  const handle = await openRegular(path, 'r+')
  await handle.truncate(bytes).finally(() => handle.close())
}

/** Far more than any certificate or token has. */
const MOST_GIVEN_BYTES = 2 ** 20

/** A small file that the config file names, perhaps by a link. Opening anything but a regular file may never return, and then the process could not end. */
export async function readGiven(path: string): Promise<Buffer> {
  const found = await stat(path)
  requireRegular(found, path)
  if (found.size > MOST_GIVEN_BYTES)
    throw new Error(`${path} has ${found.size} bytes, more than ${MOST_GIVEN_BYTES}`)
  return readFile(path)
}

/** What is there instead of a regular file, in words; undefined if it is one, or if nothing is there. */
export async function findOddity(path: string): Promise<string | undefined> {
  const found = await lstat(path).catch(() => undefined)
  return found === undefined || found.isFile() ? undefined : describeKind(found)
}

/** The descriptor of such a file; with `O_CREAT`, of a new one that nobody else reads. Throws as `openRegular` does. */
export function openRegularSync(path: string, flags: number = constants.O_RDONLY): number {
  let file: number
  try {
    file = openSync(path, CAREFULLY | flags, 0o600)
  } catch (thrown) {
    throw explainOpen(thrown, path)
  }
  try {
    requireRegular(fstatSync(file), path)
    return file
  } catch (thrown) {
    closeSync(file)
    throw thrown
  }
}

/** The text of a small file that a plan may have made, at most so many bytes of it; throws as `openRegular` does. */
export function readRegularSync(path: string, mostBytes: number): string {
  const file = openRegularSync(path)
  try {
    const buffer = Buffer.alloc(Math.min(fstatSync(file).size, mostBytes))
    let length = 0
    for (let read = -1; read !== 0 && length < buffer.length; length += read)
      read = readSync(file, buffer, length, buffer.length - length, length)
    return buffer.toString('utf8', 0, length)
  } finally {
    closeSync(file)
  }
}

function requireRegular(found: Stats, path: string): void {
  if (!found.isFile())
    throw new NotRegularError(path, describeKind(found), found.isDirectory() ? 'EISDIR' : undefined)
}

/** `O_NOFOLLOW` fails with ELOOP; a pipe that is opened for writing, and a socket, with ENXIO; a folder, with EISDIR. */
function explainOpen(thrown: unknown, path: string): unknown {
  const { code = '' } = thrown as NodeJS.ErrnoException
  const kinds: Readonly<Record<string, string>> = {
    ELOOP: 'a symbolic link',
    EMLINK: 'a symbolic link',
    ENXIO: 'a pipe or a socket',
    EISDIR: 'a folder'
  }
  const kind = kinds[code]
  if (kind === undefined) return thrown
  return new NotRegularError(path, kind, code, { cause: thrown })
}

function describeKind(found: Stats): string {
  if (found.isSymbolicLink()) return 'a symbolic link'
  if (found.isDirectory()) return 'a folder'
  if (found.isFIFO()) return 'a pipe'
  return found.isSocket() ? 'a socket' : 'a device'
}
