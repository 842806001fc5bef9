import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A disk of a few megabytes that can be filled up, mounted on a folder. */
export interface SmallDisk {
  /** Takes all the room there is. */
  fill(): void
  /** Gives it back. */
  free(): void
  unmount(): void
}

const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder]).status === 0
/** Lazily: a process that was killed just now may not be gone yet. */
const unmount = (folder: string): boolean => spawnSync('umount', ['-l', folder]).status === 0

/** Undefined where this process may not mount anything, as on most machines. */
export function mountSmallDisk(folder: string): SmallDisk | undefined {
  mkdirSync(folder, { recursive: true })
  if (process.platform !== 'linux' || !mount(folder)) return undefined
  const filler = join(folder, 'filler')
  return {
    fill: () => {
      for (const size of [64 * 1024, 4096, 1]) fillBy(filler, size)
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => {
      if (!unmount(folder)) throw new Error(`${folder} cannot be unmounted`)
    }
  }
}

function fillBy(filler: string, size: number): void {
  try {
    for (;;) writeFileSync(filler, Buffer.alloc(size), { flag: 'a' })
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ENOSPC') throw thrown
  }
}
