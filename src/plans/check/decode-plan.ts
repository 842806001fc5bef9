/** The text of a file, or why it has none that can be read. */
export type Decoded = { readonly text: string; readonly hasBadBytes: boolean } | { readonly problem: string }

const SIGNATURES: readonly (readonly [bytes: readonly number[], problem: string])[] = [
  [[0x1f, 0x8b], 'is compressed (gzip); unpack it first'],
  [[0x50, 0x4b, 0x03, 0x04], 'is a zip archive; unpack it first'],
  [[0xff, 0xfe], 'is encoded in UTF-16; save it as UTF-8'],
  [[0xfe, 0xff], 'is encoded in UTF-16; save it as UTF-8']
]
const LOOKED_AT_BYTES = 4096

/** Reads the bytes of a plan or of another text that goes with it. */
export function decodePlan(bytes: Uint8Array): Decoded {
  const signature = SIGNATURES.find(([start]) => start.every((byte, at) => bytes[at] === byte))
  if (signature !== undefined) return { problem: signature[1] }
  if (bytes.subarray(0, LOOKED_AT_BYTES).includes(0))
    return { problem: 'is not a text: it has zero bytes in it; it may be the wrong file' }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  if (text.replace('\ufeff', '').trim() === '') return { problem: 'is empty' }
  return { text, hasBadBytes: text.includes('\ufffd') && !isValid(bytes) }
}

/** The sign for bad bytes may be in the text itself. */
function isValid(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
