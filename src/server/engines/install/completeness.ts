import { createHash } from 'node:crypto'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** The SHA-256 of files, by their paths within an installation. */
export type FileHashes = ReadonlyMap<string, string>

const MARKER = 'complete'
/** What a tool loads; people may edit the other files, such as JMeter's properties. */
const CODE = /\.(?:jar|js|mjs|cjs|node|json)$|\/bin\/[^/.]+$/

/** Marks an installation as complete, with a list of the files that it must have. */
export async function markComplete(home: string): Promise<void> {
  const paths = await listCode(home)
  const lines: string[] = []
  for (const path of paths) lines.push(`${await hashFile(join(home, path))} ${path}\n`)
  await writeFile(join(home, MARKER), `${lines.join('')}${endOf(lines)}`)
}

/** Its last line: a marker that was cut off has none. */
const endOf = (lines: readonly unknown[]): string => `end ${lines.length}\n`

/**
 * Says what is wrong with an installation; undefined if it has the code that it had when it was made, and no other: a cache may
 * be restored in part, damaged or altered. Of the jars, `pinned` decides which they are, not what lies in the cache.
 */
export async function findDamage(home: string, pinned?: FileHashes): Promise<string | undefined> {
  const expected = await readMarker(home)
  if (expected === undefined) return 'it was not completed'
  if (pinned !== undefined && !sameJars(expected, pinned)) return 'its list of files is wrong'
  const found = await listCode(home)
  const foreign = found.find((path) => !expected.has(path))
  if (foreign !== undefined) return `${foreign} is not part of it`
  const present = new Set(found)
  const missing = [...expected.keys()].find((path) => !present.has(path))
  return missing === undefined ? findAltered(home, expected) : `${missing} is missing`
}

/** Verified files, by path and time: what was not written since need not be read again. */
const verified = new Map<string, string>()

async function findAltered(home: string, expected: FileHashes): Promise<string | undefined> {
  for (const [path, sha256] of expected) {
    const file = join(home, path)
    const found = await stat(file, { bigint: true }).catch(() => undefined)
    if (found?.isFile() !== true) return `${path} is missing`
    const state = [sha256, found.dev, found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
    if (verified.get(file) === state) continue
    if ((await hashFile(file)) !== sha256) return `${path} has other bytes`
    verified.set(file, state)
  }
  return undefined
}

async function readMarker(home: string): Promise<FileHashes | undefined> {
  const text = await readFile(join(home, MARKER), 'utf8').catch(() => '')
  const lines = text.split('\n').slice(0, -2)
  if (lines.length === 0 || !text.endsWith(`\n${endOf(lines)}`)) return undefined
  return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

function sameJars(marked: FileHashes, pinned: FileHashes): boolean {
  const jars = [...marked].filter(([path]) => path.endsWith('.jar'))
  return jars.length === pinned.size && jars.every(([path, sha256]) => pinned.get(path) === sha256)
}

/** Links too: a tool follows them. */
async function listCode(home: string): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => CODE.test(path))
    .sort()
}

/** Read as a whole, which for many small files is several times faster than a stream for each. */
async function hashFile(file: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(file))
    .digest('hex')
}
