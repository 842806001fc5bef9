import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The jars of a folder, always in the same order. */
export async function listJars(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jar'))
  return names.sort().map((name) => join(folder, name))
}
