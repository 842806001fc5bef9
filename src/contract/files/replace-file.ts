import { randomUUID } from 'node:crypto'
import { rename, rm, writeFile, open, stat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

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

/** The bytes of all files below a folder, one after the other; what disappears meanwhile has none. */
export async function sizeOfFolder(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await sizeOfFolder(path)
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0
  }
  return bytes
}

/** A region as part of a file name: regions come from services and settings, and may contain anything. */
export function regionName(region: string): string {
  return region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
}
