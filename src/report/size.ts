const encoder = new TextEncoder()

export function bytesOf(text: string): number {
  return encoder.encode(text).length
}

/** The longest prefix of the text that fits, never half a character. */
export function cutToBytes(text: string, mostBytes: number): string {
  // A unit of UTF-16 is at most three bytes of UTF-8: nothing long is encoded only to be measured.
  if (text.length * 3 <= mostBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(Math.max(0, mostBytes)))
  return text.slice(0, read)
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
