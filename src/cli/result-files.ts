import type { Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from './arguments.js'

/** What is taken from a folder; a file that is named may be called anything. */
export const RESULT_FILE = /\.(csv|jtl)(\.gz)?$/i

/** Files, and every CSV and JTL below folders, each once. Refuses what is unreadable, and a named one that is not a regular file. */
export async function listResultFiles(places: readonly string[]): Promise<string[]> {
  const found = new Map<string, string>()
  const add = async (file: string): Promise<void> => {
    const handle = await open(file).catch(refuse(file))
    await handle.close()
    const real = await realpath(file)
    if (!found.has(real)) found.set(real, file)
  }
  for (const place of places) {
    const facts = await stat(place).catch(refuse(place))
    if (facts.isDirectory()) {
      const inside = await listBelow(place, new Set())
      if (inside.length === 0) throw new UsageError(`there is no .csv and no .jtl in ${place}`)
      for (const file of inside) await add(file)
    } else if (facts.isFile()) await add(place)
    else throw new UsageError(`${place} is ${kindOf(facts)}, not a file; write its content to a file first`)
  }
  return [...found.values()]
}

/** Links are followed, each folder once: a link may lead back to a parent folder. */
async function listBelow(folder: string, seen: Set<string>): Promise<string[]> {
  const real = await realpath(folder)
  if (seen.has(real)) return []
  seen.add(real)
  const files: string[] = []
  for (const name of (await readdir(folder).catch(refuse(folder))).sort()) {
    const path = join(folder, name)
    const isResult = RESULT_FILE.test(name)
    // A broken link only matters if it should be a result.
    const facts = await stat(path).catch((thrown: unknown) => (isResult ? refuse(path)(thrown) : undefined))
    if (facts?.isDirectory()) files.push(...(await listBelow(path, seen)))
    else if (facts?.isFile() && isResult) files.push(path)
  }
  return files
}

/** Throws what a file could not be read for, in words. */
export function refuse(path: string): (thrown: unknown) => never {
  return (thrown) => {
    const { code } = thrown as NodeJS.ErrnoException
    if (code === undefined) throw thrown
    throw new UsageError(`${path} cannot be read: ${CAUSES[code] ?? code}`, { cause: thrown })
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  ELOOP: 'it is a circular link'
}

function kindOf(facts: Stats): string {
  if (facts.isFIFO()) return 'a pipe'
  if (facts.isSocket()) return 'a socket'
  return 'a device'
}
