import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'

const END_OF_DIRECTORY = 0x06054b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const DEFLATED = 8

interface Entry {
  readonly name: string
  readonly method: number
  readonly size: number
  readonly offset: number
}

/**
 * Unpacks the files of a jar whose paths start with a prefix, as a JRE has no command for it. Only for jars whose hash was
 * checked: it trusts what they say about themselves.
 */
export async function unpackJar(file: string, prefix: string, to: string): Promise<void> {
  const jar = await readFile(file)
  const files = readDirectory(jar).filter(({ name }) => name.startsWith(prefix) && !name.endsWith('/'))
  for (const entry of files) {
    const target = join(to, entry.name)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, await readEntry(jar, entry))
  }
}

function readDirectory(jar: Buffer): Entry[] {
  const end = jar.subarray(-END_BYTES)
  if (end.length < END_BYTES || end.readUInt32LE(0) !== END_OF_DIRECTORY)
    throw new Error('this is not a jar, or one with a comment')
  const entries: Entry[] = []
  let at = end.readUInt32LE(16)
  for (let left = end.readUInt16LE(10); left > 0; left--) {
    const nameBytes = jar.readUInt16LE(at + 28)
    entries.push({
      name: jar.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method: jar.readUInt16LE(at + 10),
      size: jar.readUInt32LE(at + 20),
      offset: jar.readUInt32LE(at + 42)
    })
    at += ENTRY_BYTES + nameBytes + jar.readUInt16LE(at + 30) + jar.readUInt16LE(at + 32)
  }
  return entries
}

async function readEntry(jar: Buffer, { method, size, offset }: Entry): Promise<Buffer> {
  // The local header has extra fields of its own.
  const start = offset + LOCAL_BYTES + jar.readUInt16LE(offset + 26) + jar.readUInt16LE(offset + 28)
  const bytes = jar.subarray(start, start + size)
  return method === DEFLATED ? promisify(inflateRaw)(bytes) : bytes
}
