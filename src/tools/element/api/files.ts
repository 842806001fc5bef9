import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'

/** An uploaded file by the path that it has in the script's repository: all of them are uploaded into one folder. */
export function findUploaded(folder: string, path: string): string {
  const inPlace = resolve(folder, path)
  const inFolder = join(folder, basename(path))
  return !existsSync(inPlace) && existsSync(inFolder) ? inFolder : inPlace
}
