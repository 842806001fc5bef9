import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Writes a file into a folder and removes it; throws if there is no room for this many bytes. */
export function probeFolder(folder: string, bytes: number): void {
  const file = join(folder, '.writable')
  try {
    writeFileSync(file, Buffer.alloc(bytes, 'x'), { mode: 0o600 })
  } finally {
    rmSync(file, { force: true })
  }
}
