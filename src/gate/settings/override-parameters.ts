const NAME = /^-[JD][\w.-]+(?==)/

/** Entries are separated by commas or spaces, and a value may contain both. */
export function splitParameters(text: string): string[] {
  return text
    .split(/[\s,]+(?=-[A-Za-z])/)
    .map((entry) => entry.replace(/^[\s,]+|[\s,]+$/g, ''))
    .filter((entry) => entry !== '')
}

/** The parameters with others laid over them: those with the same name are replaced. `-Jx` and `-Dx` are two names. */
export function overlayParameters(parameters: string | undefined, overlay: string): string {
  const over = splitParameters(overlay)
  const replaced = new Set(over.flatMap((entry) => NAME.exec(entry)?.[0] ?? []))
  const kept = splitParameters(parameters ?? '').filter((entry) => !replaced.has(NAME.exec(entry)?.[0] ?? ''))
  return [...kept, ...over].join(', ')
}
