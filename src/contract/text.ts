/** Anything can be thrown, even a value that cannot be converted to text: reporting it must not throw again. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'an error without a message was thrown'
  }
}

/** A text on one line, cut if it is longer; never between the two halves of a character. */
export function shorten(text: string, most: number): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > most ? `${line.slice(0, most).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}
