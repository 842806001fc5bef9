import { crc32, deflateRawSync } from 'node:zlib'

/** A zip of these files, by name, as the artifact client makes it. `claimedBytes` is what it says of their sizes. */
export function makeZip(
  files: Record<string, Uint8Array>,
  { claimedBytes }: { claimedBytes?: number } = {}
): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, content] of Object.entries(files)) {
    const bytes = deflateRawSync(content)
    const facts = Buffer.alloc(26)
    facts.writeUInt16LE(20, 0)
    facts.writeUInt16LE(8, 4)
    facts.writeUInt32LE(crc32(content), 10)
    facts.writeUInt32LE(bytes.length, 14)
    facts.writeUInt32LE(claimedBytes ?? content.length, 18)
    facts.writeUInt16LE(Buffer.byteLength(name), 22)
    const local = Buffer.concat([word(0x04034b50), facts, Buffer.from(name), bytes])
    directory.push(
      Buffer.concat([
        word(0x02014b50),
        Buffer.from([20, 0]),
        facts,
        Buffer.alloc(10),
        word(offset),
        Buffer.from(name)
      ])
    )
    locals.push(local)
    offset += local.length
  }
  const central = Buffer.concat(directory)
  const end = Buffer.alloc(18)
  end.writeUInt16LE(directory.length, 4)
  end.writeUInt16LE(directory.length, 6)
  end.writeUInt32LE(central.length, 8)
  end.writeUInt32LE(offset, 12)
  return Buffer.concat([...locals, central, word(0x06054b50), end])
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
