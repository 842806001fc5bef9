/** Ends the text with a full stop, unless it has its own: messages of others come in both ways. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** One after the other, separated by semicolons; only the last keeps its full stop, if it has one. */
export function joinClauses(clauses: readonly string[]): string {
  return clauses.map((text, i) => (i < clauses.length - 1 ? text.replace(/\.$/, '') : text)).join('; ')
}
