import { open, stat } from 'node:fs/promises'

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
