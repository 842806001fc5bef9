import { open } from 'node:fs/promises'

/** More than any header has. */
const HEADER_BYTES = 1 << 16

/** Whether a node's file has anything after its header. */
export async function hasSamples(samplesFile: string): Promise<boolean> {
  const handle = await open(samplesFile).catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES))
    const header = buffer.indexOf('\n')
    return header >= 0 && header + 1 < bytesRead
  } finally {
    await handle.close()
  }
}
