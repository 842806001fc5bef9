/** A stack frame, or Java's note about frames left out. */
const FRAME = /^\s*(?:at\s+\S+\s*\(.*\)?|\.\.\. \d+ (?:more|common frames omitted))\s*$/
/** The cause of an exception, which usually says more than the exception itself. */
const CAUSE = /^\s*(?:Caused by|Suppressed):/

/**
 * The lines of one text with each stack trace folded into the line it belongs to: an error is one line, however deep its trace. A line
 * for which `staysAlone` is true always stays separate.
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
