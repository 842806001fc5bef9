import { open } from 'node:fs/promises'

/** A file that grows, and how far it was read. */
export interface GrowingFile {
  readonly file: string
  position: number
}

/** Hands on what was added since the last time, block by block. False if there is no file: not yet, or no longer. */
export async function readOn(
  source: GrowingFile,
  buffer: Buffer,
  onBytes: (bytes: Buffer) => void | Promise<void>
): Promise<boolean> {
  const handle = await open(source.file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, source.position)
      if (bytesRead === 0) return true
      source.position += bytesRead
      await onBytes(buffer.subarray(0, bytesRead))
    }
  } finally {
    await handle.close()
  }
}
