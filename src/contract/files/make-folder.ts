import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Says why a folder could not be created and what to do; `code` is the system's error code. */
export class FolderError extends Error {
  override name = 'FolderError'
  readonly code: string

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message, { cause })
    this.code = cause.code ?? ''
  }
}

/**
 * Creates a folder and its parents if they do not exist. One by one: Node's recursive mkdir loops forever if the system, as in `/proc`,
 * returns ENOENT below a folder that exists.
 */
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
  } catch (thrown) {
    // Another process may have created it first.
    if (!isFolder(folder)) throw thrown
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function explain(folder: string, error: NodeJS.ErrnoException): FolderError {
  const words = `the folder ${folder} could not be created`
  if (error.code === 'ENOSPC')
    return new FolderError(
      `${words}: the disk is full (${error.message}); free up space and try again`,
      error
    )
  const file = findFile(folder)
  if (file !== undefined)
    return new FolderError(
      `${words}: ${file} is a file, not a folder; choose another folder, or remove the file`,
      error
    )
  return new FolderError(`${words}: ${error.message}; choose another folder`, error)
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
