/** Ends the text with a full stop, unless it has its own: messages of others come in both ways. */
export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
