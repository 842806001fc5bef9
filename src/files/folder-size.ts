import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

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
