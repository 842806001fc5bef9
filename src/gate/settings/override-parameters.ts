const ENTRY = /^-([JD])([\w.-]+)=([^]*)$/
/** Before a value that is secret, whatever its name. */
export const SECRET_MARK = 'secret:'

/** Where the embedded service takes the target of its apdex from, as JMeter's own report does. */
export const APDEX_PROPERTY = 'jmeter.reportgenerator.apdex_satisfied_threshold'

export interface Parameter {
  readonly kind: 'J' | 'D'
  readonly name: string
  readonly value: string
  readonly isMarked: boolean
}

/** Entries are separated by commas or spaces, and a value may contain both. */
export function splitParameters(text: string): string[] {
  return text
    .split(/[\s,]+(?=-[A-Za-z])/)
    .map((entry) => entry.replace(/^[\s,]+|[\s,]+$/g, ''))
    .filter((entry) => entry !== '')
}

export function readParameters(text: string): Parameter[] {
  return splitParameters(text).flatMap((entry) => readParameter(entry) ?? [])
}

function readParameter(entry: string): Parameter | undefined {
  const [, kind, name, given] = ENTRY.exec(entry) ?? []
  if (name === undefined || given === undefined) return undefined
  const isMarked = given.startsWith(SECRET_MARK)
  const value = isMarked ? given.slice(SECRET_MARK.length) : given
  return { kind: kind === 'D' ? 'D' : 'J', name, value, isMarked }
}

/** The text without marks, as it is sent to the service. */
export function withoutMarks(text: string): string {
  if (!text.includes(SECRET_MARK)) return text
  const entries = splitParameters(text).map((entry) => {
    const parameter = readParameter(entry)
    return parameter === undefined ? entry : `-${parameter.kind}${parameter.name}=${parameter.value}`
  })
  return entries.join(', ')
}

/** The parameters with others laid over them: those with the same name are replaced. `-Jx` and `-Dx` are two names. */
export function overlayParameters(parameters: string | undefined, overlay: string): string {
  const over = splitParameters(overlay)
  const replaced = new Set(over.map(keyOf))
  const kept = splitParameters(parameters ?? '').filter((entry) => !replaced.has(keyOf(entry)))
  return [...kept, ...over].join(', ')
}

/** The number of the first entry that is not a parameter, from 1 (its text may be secret); 0 if there is none. */
export function findNoParameter(text: string): number {
  return splitParameters(text).findIndex((entry) => readParameter(entry) === undefined) + 1
}

/** Entries that are not parameters. */
export function oddEntries(text: string): string[] {
  return splitParameters(text).filter((entry) => readParameter(entry) === undefined)
}

/** Whether laying these over the parameters would change any of them, or add one. */
export function changesParameters(parameters: string | undefined, overlay: string): boolean {
  const known = valuesOf(parameters ?? '')
  return [...valuesOf(overlay)].some(([key, value]) => known.get(key) !== value)
}

/** By name; of several with the same name the last one counts. */
function valuesOf(text: string): Map<string, string> {
  return new Map(splitParameters(text).map((entry) => [keyOf(entry), readParameter(entry)?.value ?? entry]))
}

function keyOf(entry: string): string {
  const parameter = readParameter(entry)
  return parameter === undefined ? entry : `-${parameter.kind}${parameter.name}`
}
