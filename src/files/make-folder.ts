import { mkdirSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Why a folder could not be made, with what to do; `code` is the system's. */
export class FolderError extends Error {
  override name = 'FolderError'
  readonly code: string

  constructor(message: string, cause: NodeJS.ErrnoException) {
    super(message, { cause })
    this.code = cause.code ?? ''
  }
}

/**
 * Makes a folder and those above it, unless they are there. Parent by parent: Node's own way asks again for ever where a system, as in
 * `/proc`, answers "not there" below a folder that is there.
 */
export function makeFolder(path: string, options: { mode?: number } = {}): void {
  const folder = resolve(path)
  try {
    for (const missing of listMissing(folder)) makeOne(missing, options)
  } catch (thrown) {
    throw explain(folder, thrown as NodeJS.ErrnoException)
  }
}

/** The folder and those above it that are not there, from the top on. */
function listMissing(folder: string): string[] {
  const parent = dirname(folder)
  if (isFolder(folder)) return []
  return parent === folder ? [folder] : [...listMissing(parent), folder]
}

function makeOne(folder: string, options: { mode?: number }): void {
  try {
    mkdirSync(folder, options)
  } catch (thrown) {
    // Somebody else was quicker.
    if (!isFolder(folder)) throw thrown
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

function explain(folder: string, error: NodeJS.ErrnoException): FolderError {
  const words = `the folder ${folder} could not be made`
  if (error.code === 'ENOSPC')
    return new FolderError(`${words}: the disk is full (${error.message}); make room and try again`, error)
  const file = findFile(folder)
  if (file !== undefined)
    return new FolderError(
      `${words}: ${file} is a file, not a folder; give another folder, or remove the file`,
      error
    )
  return new FolderError(`${words}: ${error.message}; give another folder`, error)
}

/** What is in the way: the path itself, or one above it. */
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
