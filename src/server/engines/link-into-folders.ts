import { mkdir, symlink } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'

/** Files are uploaded into one folder. Links let a plan find them in the folders they have in its repository. */
export async function linkIntoFolders(folder: string, subPaths: readonly string[]): Promise<void> {
  for (const path of subPaths) {
    const place = join(folder, path)
    const target = relative(dirname(place), join(folder, basename(path)))
    // If the plan needs a link that cannot be created, its tool reports it.
    await mkdir(dirname(place), { recursive: true })
      .then(() => symlink(target, place))
      .catch(() => undefined)
  }
}
