import { open } from 'node:fs/promises'
import { RowCutter } from './row-cutter.js'
import { RowRedactor } from './row-redactor.js'

const CHUNK_BYTES = 1 << 20

/**
 * Redacts secrets in a node's file in place, which needs no space on a disk that may be full. Returns up to where the
 * file consists of complete rows; what follows is unchanged.
 */
export async function redactSamples(
  file: string,
  forms: readonly string[],
  signal?: AbortSignal
): Promise<number> {
  const handle = await open(file, 'r+')
  try {
    const cutter = new RowCutter()
    const redactor = new RowRedactor(forms)
    const buffer = Buffer.alloc(CHUNK_BYTES)
    let wholeBytes = 0
    let position = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
      if (bytesRead === 0) return wholeBytes
      position += bytesRead
      const rows = cutter.push(buffer.subarray(0, bytesRead))
      if (redactor.cover(rows)) await writeAll(handle, rows, wholeBytes)
      wholeBytes += rows.length
    }
  } finally {
    await handle.close()
  }
}

async function writeAll(handle: Handle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, position + at)
    at += bytesWritten
  }
}

type Handle = Awaited<ReturnType<typeof open>>
