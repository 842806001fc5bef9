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

/** The number of the first entry that is no parameter, from 1: its text may be secret. 0 if there is none. */
export function findNoParameter(text: string): number {
  return splitParameters(text).findIndex((entry) => !NAME.test(entry)) + 1
}

/** Whether laying these over the parameters would change any of them, or add one. */
export function changesParameters(parameters: string | undefined, overlay: string): boolean {
  const known = valuesOf(parameters ?? '')
  return [...valuesOf(overlay)].some(([name, entry]) => known.get(name) !== entry)
}

/** By name; of several with the same name the last one counts. */
function valuesOf(text: string): Map<string, string> {
  return new Map(splitParameters(text).map((entry) => [NAME.exec(entry)?.[0] ?? entry, entry]))
}
