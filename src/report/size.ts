const encoder = new TextEncoder()

export function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/** The longest prefix of the text that fits, never half a character. */
export function cutToBytes(text: string, mostBytes: number): string {
  const bytes = encoder.encode(text)
  if (bytes.length <= mostBytes) return text
  let end = Math.max(0, mostBytes)
  // Continuation bytes of UTF-8 start with the bits 10.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--
  return new TextDecoder().decode(bytes.subarray(0, end))
}

export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  const units = ['kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 'B'
  while (value >= 1000 && units.length > 0) {
    value /= 1000
    unit = units.shift() ?? unit
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`
}
