import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import { link, lstat, realpath, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { FolderError, makeFolder } from '../../contract/files.js'
import { UsageError } from '../arguments.js'

export interface NewFile {
  /** Relative to the folder, with slashes. */
  readonly path: string
  readonly text: string
}

/** Says why these files cannot be written, before anything is. */
export async function checkPaths(folder: string, paths: readonly string[], force: boolean): Promise<void> {
  const root = await realpath(folder)
  const existing: string[] = []
  for (const path of paths) {
    await checkParents(root, path)
    const found = await lstatIfThere(join(root, path))
    if (found?.isDirectory())
      throw new UsageError(`${path} is a folder, where a file should be; move it. Nothing was written`)
    if (found !== undefined) existing.push(path)
  }
  if (existing.length > 0 && !force)
    throw new UsageError(
      `${existing.join(' and ')} ${existing.length === 1 ? 'exists' : 'exist'} already; move ${existing.length === 1 ? 'it' : 'them'}, or overwrite with --force. Nothing was written`
    )
}

/** A link on the way could lead anywhere, and a repository may come from someone else. */
async function checkParents(root: string, path: string): Promise<void> {
  for (let parent = dirname(path); parent !== '.'; parent = dirname(parent)) {
    const found = await lstatIfThere(join(root, parent))
    if (found === undefined) continue
    if (!found.isDirectory() && !found.isSymbolicLink())
      throw new UsageError(`${parent} is a file, where a folder should be; move it. Nothing was written`)
    // A link that leads nowhere has no real path.
    const real = await realpath(join(root, parent)).catch(() => undefined)
    if (real === undefined || (real !== root && !real.startsWith(root + sep)))
      throw new UsageError(
        `${parent} is a link that leads out of this folder; remove it. Nothing was written`
      )
  }
}

/** All of them or none: what was written is removed, and what was there restored, if one fails. */
export async function writeFiles(folder: string, files: readonly NewFile[], force: boolean): Promise<void> {
  await checkPaths(
    folder,
    files.map(({ path }) => path),
    force
  )
  const journal: Journal = { undo: [], backups: [] }
  try {
    const staged = []
    // The bytes first, under other names: a full disk is found before anything is replaced.
    for (const file of files) staged.push(await stage(folder, file, journal))
    for (const { part, path } of staged) await putInPlace(part, path, { force, journal })
  } catch (thrown) {
    for (const step of journal.undo.reverse()) await step().catch(() => undefined)
    throw explain(thrown as NodeJS.ErrnoException)
  }
  for (const backup of journal.backups) await rm(backup, { force: true })
}

/** What was done so far. */
interface Journal {
  readonly undo: (() => Promise<unknown>)[]
  readonly backups: string[]
}

interface Staged {
  readonly part: string
  readonly path: string
}

async function stage(folder: string, { path, text }: NewFile, { undo }: Journal): Promise<Staged> {
  const target = resolve(folder, path)
  for (const parent of await listMissing(folder, dirname(target))) {
    makeFolder(parent)
    undo.push(() => rmdir(parent))
  }
  const part = `${target}.${randomUUID()}.part`
  undo.push(() => rm(part, { force: true }))
  await writeFile(part, text, { flag: 'wx', flush: true })
  return { part, path: target }
}

async function listMissing(folder: string, parent: string): Promise<string[]> {
  if (relative(folder, parent) === '' || (await lstatIfThere(parent)) !== undefined) return []
  return [...(await listMissing(folder, dirname(parent))), parent]
}

async function putInPlace(
  part: string,
  path: string,
  { force, journal }: { force: boolean; journal: Journal }
): Promise<void> {
  if (force && (await lstatIfThere(path)) !== undefined) {
    const backup = `${part}.old`
    await rename(path, backup)
    journal.undo.push(() => rename(backup, path))
    journal.backups.push(backup)
    await rename(part, path)
    return
  }
  // Unlike a rename, it does not replace a file that has appeared since.
  await link(part, path).catch((thrown: unknown) => {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') throw thrown
    // Some file systems have no links.
    return rename(part, path)
  })
  journal.undo.push(() => rm(path, { force: true }))
  await rm(part, { force: true })
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((thrown: unknown) => {
    const { code } = thrown as NodeJS.ErrnoException
    // A file in place of a parent is found when that parent is looked at.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw thrown
  })
}

function explain(error: NodeJS.ErrnoException): Error {
  // Folders have words of their own.
  if (error instanceof FolderError)
    return new Error(`${error.message}. Nothing was written`, { cause: error })
  const advice =
    error.code === 'ENOSPC'
      ? 'the disk is full; free up space and try again'
      : 'check that you may write to this folder, and try again'
  return new Error(`the files could not be written: ${error.message}; ${advice}. Nothing was written`, {
    cause: error
  })
}
