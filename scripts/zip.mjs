// Writes a zip file (a jar is one) that depends on nothing but its content: stored, not compressed, sorted, with one date.
import { crc32 } from 'node:zlib'

/** The first day that the format knows: 1 January 1980. */
const DATE = 0x21
const VERSION = 10
/** Names are UTF-8. */
const FLAGS = 0x800

/** Makes a zip of a map from path to bytes. */
export function makeZip(files) {
  const entries = [...files].sort(([one], [other]) => (one < other ? -1 : 1))
  const parts = []
  const directory = []
  let offset = 0
  for (const [name, bytes] of entries) {
    const path = Buffer.from(name)
    const about = describe(path, bytes)
    const local = Buffer.concat([fields('4', [0x04034b50]), about, path, bytes])
    directory.push(
      Buffer.concat([fields('42', [0x02014b50, VERSION]), about, fields('22244', [0, 0, 0, 0, offset]), path])
    )
    parts.push(local)
    offset += local.length
  }
  const index = Buffer.concat(directory)
  const end = fields('42222442', [0x06054b50, 0, 0, entries.length, entries.length, index.length, offset, 0])
  return Buffer.concat([...parts, index, end])
}

/** What the local header and the directory both say about a file. */
function describe(path, bytes) {
  const sizes = [crc32(bytes), bytes.length, bytes.length]
  return fields('22222' + '444' + '22', [VERSION, FLAGS, 0, 0, DATE, ...sizes, path.length, 0])
}

/** Little-endian numbers of two or four bytes. */
function fields(widths, values) {
  return Buffer.concat(
    values.map((value, index) => {
      const field = Buffer.alloc(Number(widths[index]))
      field.writeUIntLE(value, 0, field.length)
      return field
    })
  )
}
