/** A place in the code, and what Java leaves out since it was printed before. */
const FRAME = /^\s*(?:at\s+\S+\s*\(.*\)?|\.\.\. \d+ (?:more|common frames omitted))\s*$/
/** What an exception came from, which mostly says more than the exception itself. */
const CAUSE = /^\s*(?:Caused by|Suppressed):/

/**
 * The lines of one text with each stack trace in the line that it belongs to: an error is one line, however deep it went. What
 * `staysAlone` is a line of its own wherever it stands.
 */
export function foldStackTraces(
  lines: readonly string[],
  staysAlone: (line: string) => boolean = () => false
): string[] {
  const errors: { readonly words: string[]; frames: number }[] = []
  for (const line of lines) {
    const last = staysAlone(line) ? undefined : errors.at(-1)
    if (last !== undefined && FRAME.test(line)) last.frames++
    else if (last !== undefined && CAUSE.test(line)) last.words.push(line.trim())
    else errors.push({ words: [line], frames: 0 })
  }
  return errors.map(({ words, frames }) => {
    const trace =
      frames === 0 ? '' : ` (${frames} ${frames === 1 ? 'line' : 'lines'} of stack trace left out)`
    return `${words.join('; ')}${trace}`
  })
}
