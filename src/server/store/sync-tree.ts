import { open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Returns when a folder with all that is in it, and its name in the folders above, would survive a power failure. */
export async function syncTree(folder: string, top: string): Promise<void> {
  await syncBelow(folder)
  for (let above = dirname(folder); above.startsWith(top); above = dirname(above)) await sync(above)
}

async function syncBelow(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((thrown: unknown) => {
    // A run without samples has no results.
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw thrown
  })
  if (entries === undefined) return
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) await syncBelow(path)
    else if (entry.isFile()) await sync(path)
  }
  await sync(folder)
}

async function sync(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
