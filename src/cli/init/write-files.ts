import type { Stats } from 'node:fs'
import { lstat, realpath, rmdir } from 'node:fs/promises'
import { dirname, join, resolve, sep } from 'node:path'
import { FolderError, makeFolder, replaceFile } from '../../contract/files.js'
import { joinWords } from '../../contract/text.js'
import { UsageError } from '../arguments.js'

interface NewFile {
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
      `${joinWords(existing)} already ${existing.length === 1 ? 'exists; move it' : 'exist; move them'}, or overwrite with --force. Nothing was written`
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

/** Writes each file whole, or not at all; an error says which ones are there. */
export async function writeFiles(folder: string, files: readonly NewFile[], force: boolean): Promise<void> {
  await checkPaths(
    folder,
    files.map(({ path }) => path),
    force
  )
  const written: string[] = []
  for (const { path, text } of files) {
    try {
      makeFolder(dirname(resolve(folder, path)))
      await replaceFile(resolve(folder, path), Buffer.from(text))
      written.push(path)
    } catch (thrown) {
      // Only if nothing is in it.
      await rmdir(dirname(resolve(folder, path))).catch(() => undefined)
      throw explain(thrown as NodeJS.ErrnoException, written)
    }
  }
}

async function lstatIfThere(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((thrown: unknown) => {
    const { code } = thrown as NodeJS.ErrnoException
    // A file in place of a parent is found when that parent is looked at.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw thrown
  })
}

function explain(error: NodeJS.ErrnoException, written: readonly string[]): Error {
  const done = written.length === 0 ? 'Nothing was written' : `Written: ${written.join(', ')}`
  // Its message says what to do.
  if (error instanceof FolderError) return new Error(`${error.message}. ${done}`, { cause: error })
  const advice =
    error.code === 'ENOSPC'
      ? 'the disk is full; free up space and try again'
      : 'check that you may write to this folder, and try again'
  return new Error(`the files could not be written: ${error.message}; ${advice}. ${done}`, { cause: error })
}
