import { open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Returns when a folder and all that is in it would survive a power failure. */
export async function syncTree(folder: string): Promise<void> {
  await syncBelow(folder)
  await sync(dirname(folder))
}

async function syncBelow(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
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
