import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname, resolve, join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile, open, stat, readdir } from 'node:fs/promises'

/** Says why a folder could not be created and what to do; `code` is the system's error code. */
export class FolderError extends Error {
  override name = 'FolderError'
  readonly code: string

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message, { cause })
    this.code = cause.code ?? ''
  }
}

/** With its parents, one by one; with a mode, they have it whatever the umask is: Node's recursive mkdir loops forever on ENOENT below an existing folder, which `/proc` returns. */
export function makeFolder(path: string, options: { mode?: number } = {}): void {
  const folder = resolve(path)
  try {
    for (const missing of listMissing(folder)) makeOne(missing, options)
  } catch (thrown) {
    throw explain(folder, thrown as NodeJS.ErrnoException)
  }
}

/** The folder and its parents that do not exist, topmost first. */
function listMissing(folder: string): string[] {
  const parent = dirname(folder)
  if (isFolder(folder)) return []
  return parent === folder ? [folder] : [...listMissing(parent), folder]
}

function makeOne(folder: string, options: { mode?: number }): void {
  try {
    mkdirSync(folder, options)
    if (options.mode !== undefined) chmodSync(folder, options.mode)
  } catch (thrown) {
    // Another process may have created it first.
    if (!isFolder(folder)) throw thrown
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function explain(folder: string, error: NodeJS.ErrnoException): FolderError {
  const file = findFile(folder)
  const why =
    error.code === 'ENOSPC'
      ? `the disk is full (${error.message}); free up space and try again`
      : file === undefined
        ? `${error.message}; choose another folder`
        : `${file} is a file, not a folder; choose another folder, or remove the file`
  return new FolderError(`the folder ${folder} could not be created: ${why}`, error)
}

/** The file in the way: the path itself, or one of its parents. */
function findFile(path: string): string | undefined {
  const found = statIfAllowed(path)
  if (found !== undefined) return found.isDirectory() ? undefined : path
  const parent = dirname(path)
  return parent === path ? undefined : findFile(parent)
}

function statIfAllowed(path: string): ReturnType<typeof statSync> {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/**
 * A plan may have closed its folders to their owner. Root needs no permission, and gives none: `chmod` would follow a link that is put there
 * meanwhile. What still writes there may make the first try fail.
 */
const REMOVE = `
rm -rf -- "$1" 2>/dev/null && exit
[ "$(id -u)" = 0 ] || chmod -R u+rwX -- "$1" 2>/dev/null
words=$(rm -rf -- "$1" 2>&1 | tail -n 1)
[ ! -e "$1" ] && [ ! -L "$1" ] || { echo "$words" >&2; exit 1; }
`

/**
 * Removes a folder that a plan could write to, if it is there. The system's `rm` goes from folder to folder without their paths: no link that is
 * put there meanwhile leads it elsewhere, no tree is too deep for it, and many files do not keep this process from its other work.
 */
export function removeFolder(path: string): Promise<void> {
  const folder = resolve(path)
  // What this process was started with may have no `rm` in it.
  const env = { PATH: `/usr/bin:/bin:${process.env.PATH ?? '/bin'}`, LC_ALL: 'C' }
  return new Promise((done, fail) => {
    execFile('/bin/sh', ['-c', REMOVE, 'sh', folder], { env, cwd: '/' }, (error, _, words) => {
      if (error === null) done()
      // Windows, where no plan runs.
      else if (error.code === 'ENOENT') rm(folder, { recursive: true, force: true }).then(done, fail)
      else
        fail(new Error(`${folder} could not be removed: ${words.trim() || error.message}`, { cause: error }))
    })
  })
}

/** First under another name: a reader, or a kill, finds the old bytes or the new ones. */
export async function replaceFile(path: string, bytes: Uint8Array): Promise<void> {
  const temporary = `${path}.${randomUUID()}.part`
  try {
    await writeFile(temporary, bytes, { flag: 'wx', flush: true })
    await rename(temporary, path)
  } catch (thrown) {
    await rm(temporary, { force: true })
    throw thrown
  }
}

export class NotAFileError extends Error {
  override name = 'NotAFileError'
}

/** The first bytes of a file, at most so many; undefined if there is no such file. */
export async function readStart(path: string, mostBytes: number): Promise<Uint8Array | undefined> {
  const facts = await stat(path).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  if (facts === undefined) return undefined
  // A pipe or a device may never end.
  if (!facts.isFile()) throw new NotAFileError(`${path} is not a file`)
  const file = await open(path)
  try {
    const buffer = Buffer.alloc(Math.min(facts.size, mostBytes))
    let bytes = 0
    for (let read = -1; read !== 0 && bytes < buffer.length; bytes += read)
      read = (await file.read(buffer, bytes, buffer.length - bytes)).bytesRead
    return buffer.subarray(0, bytes)
  } finally {
    await file.close()
  }
}

/** The first bytes of a stream, at most so many; the rest is not read. */
export async function readUpTo(
  source: AsyncIterable<Uint8Array>,
  mostBytes: number
): Promise<{ readonly bytes: Buffer; readonly hasMore: boolean }> {
  const chunks: Uint8Array[] = []
  let length = 0
  // Leaving the loop ends the stream.
  for await (const chunk of source) {
    chunks.push(chunk)
    length += chunk.length
    if (length > mostBytes) break
  }
  return { bytes: Buffer.concat(chunks).subarray(0, mostBytes), hasMore: length > mostBytes }
}

/** Of `stat`, whatever the file system uses. */
const BLOCK_BYTES = 512

/** The bytes of all files below a folder, without their holes, one after the other; what disappears meanwhile has none. */
export async function sizeOfFolder(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await sizeOfFolder(path)
    else if (entry.isFile()) {
      const found = await stat(path).catch(() => undefined)
      if (found !== undefined) bytes += Math.min(found.size, found.blocks * BLOCK_BYTES)
    }
  }
  return bytes
}
