import { rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const NAME = 'service'
/** How the folders of steps are named. */
const OF_A_STEP = 'loadgate-'

/** Where the embedded service of a step keeps its data: plans and parameters, secret ones too. */
export function serviceFolder(scratchDir: string): string {
  return join(scratchDir, NAME)
}

/** Removes it, if the step was killed before it could, and the step's folder if nothing else is in it. Nothing else is ever removed, whatever the saved state says. */
export async function removeServiceFolder(folder: string): Promise<void> {
  if (basename(folder) !== NAME || !basename(dirname(folder)).startsWith(OF_A_STEP)) return
  await rm(folder, { recursive: true, force: true })
  // Results may be in it, or it is gone.
  await rmdir(dirname(folder)).catch(() => undefined)
}
