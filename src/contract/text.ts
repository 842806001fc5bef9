/** Ends the text with a full stop, unless it has its own: messages of others come in both ways. */
export function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** One after the other, separated by semicolons; only the last keeps its full stop, if it has one. */
export function joinClauses(clauses: readonly string[]): string {
  return clauses.map((text, i) => (i < clauses.length - 1 ? text.replace(/\.$/, '') : text)).join('; ')
}

/** `a, b and c`; of more than `most`, the first ones and how many others there are: `a, b and 3 more`. */
export function joinWords(words: readonly string[], most = Infinity, more = 'more'): string {
  const hidden = words.length - most
  const shown = hidden > 0 ? [...words.slice(0, most), `${hidden} ${more}`] : words
  // Intl.ListFormat writes the same, but loading its locale takes a tenth of the time to a step's first request.
  return [shown.slice(0, -1).join(', '), shown.at(-1)].filter(Boolean).join(' and ')
}

/** For people to read: `90 s`, `12 min`, `1 h 5 min`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

/** Whether a value matches the literal pieces between the `*` of a pattern: without regular expressions, so no pattern can be slow. */
export function matchesPieces(pieces: readonly string[], value: string): boolean {
  const first = pieces[0] ?? ''
  if (pieces.length <= 1) return value === first

  const last = pieces[pieces.length - 1] ?? ''
  const middleEnd = value.length - last.length
  if (middleEnd < first.length || !value.startsWith(first) || !value.endsWith(last)) return false

  // The leftmost match of each piece leaves the most space for the next ones, so no backtracking is needed.
  let at = first.length
  for (const piece of pieces.slice(1, -1)) {
    const found = value.indexOf(piece, at)
    if (found < 0 || found + piece.length > middleEnd) return false
    at = found + piece.length
  }
  return true
}

/** Anything can be thrown, even a value that cannot be converted to text: reporting it must not throw again. */
export function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? thrown.message : String(thrown)
  } catch {
    return 'an error without a message was thrown'
  }
}

/** A text on one line of at most that length; never cut between the two halves of a character. */
export function shorten(text: string, most = 80): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > most ? `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…` : line
}

/** Lines that are said only then. */
export function when(isSo: boolean, ...lines: string[]): string[] {
  return isSo ? lines : []
}

/** `1 run`, `2 runs`. */
export function count(number: number, unit: string): string {
  return `${number.toLocaleString('en-US')} ${number === 1 ? unit : `${unit}s`}`
}

/** A part of an address; what is not percent-encoded properly stays as it is. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** In UTC: `2026-03-01 12:30 UTC`. */
export function formatMinute(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
