import type { Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from './arguments.js'

export const RESULT_FILE = /\.(csv|jtl)$/i

/**
 * Files as they are named, and every CSV and JTL below a folder. What is not a regular file is refused where it was
 * named and skipped in a folder; a result that cannot be read is never skipped. A file that several ways lead to
 * counts once.
 */
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

/** Links are followed, each folder once: one may lead back to a folder that it is in. */
async function listBelow(folder: string, seen: Set<string>): Promise<string[]> {
  const real = await realpath(folder)
  if (seen.has(real)) return []
  seen.add(real)
  const files: string[] = []
  for (const name of (await readdir(folder).catch(refuse(folder))).sort()) {
    const path = join(folder, name)
    const isResult = RESULT_FILE.test(name)
    // A link to nowhere matters only if a result should be there.
    const facts = await stat(path).catch((thrown: unknown) => (isResult ? refuse(path)(thrown) : undefined))
    if (facts?.isDirectory()) files.push(...(await listBelow(path, seen)))
    else if (facts?.isFile() && isResult) files.push(path)
  }
  return files
}

function refuse(path: string): (thrown: unknown) => never {
  return (thrown) => {
    const { code } = thrown as NodeJS.ErrnoException
    throw new UsageError(`${path} cannot be read: ${CAUSES[code ?? ''] ?? String(code)}`, { cause: thrown })
  }
}

const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  ELOOP: 'its links lead in a circle'
}

function kindOf(facts: Stats): string {
  if (facts.isFIFO()) return 'a pipe'
  if (facts.isSocket()) return 'a socket'
  return 'a device'
}
