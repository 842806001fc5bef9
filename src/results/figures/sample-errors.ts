import type { ErrorCount } from './measurements.js'
import type { SamplePart } from '../counts/scan-result.js'

const SHOWN_PER_LABEL = 20

interface LabelErrors {
  readonly counts: Map<string, { code: string; message: string; count: number }>
  rest: number
}

/** Adds up the errors of the rows that count, of all labels or of one. */
export function sumErrors(parts: readonly SamplePart[], label: string | undefined): ErrorCount[] {
  const byLabel = new Map<string, LabelErrors>()
  for (const part of parts) {
    if (part.counts && (label === undefined || part.hasLabels)) addPart(byLabel, part, label)
  }
  const shown: ErrorCount[] = []
  let rest = 0
  for (const [name, errors] of byLabel) {
    const sorted = [...errors.counts.values()].sort(compare)
    shown.push(...sorted.slice(0, SHOWN_PER_LABEL).map((error) => ({ label: name, ...error })))
    rest += errors.rest + sorted.slice(SHOWN_PER_LABEL).reduce((sum, { count }) => sum + count, 0)
  }
  shown.sort(compare)
  return rest === 0 ? shown : [...shown, { label: undefined, code: '', message: 'other errors', count: rest }]
}

function addPart(byLabel: Map<string, LabelErrors>, { errors }: SamplePart, label: string | undefined): void {
  const errorsOf = (name: string): LabelErrors => {
    const known = byLabel.get(name) ?? { counts: new Map(), rest: 0 }
    byLabel.set(name, known)
    return known
  }
  const isWanted = (error: { label: string }) => label === undefined || error.label === label
  for (const error of errors.counts.filter(isWanted)) {
    const { counts } = errorsOf(error.label)
    const { code, message } = error
    const key = `${code}\n${message}`
    counts.set(key, { code, message, count: error.count + (counts.get(key)?.count ?? 0) })
  }
  for (const { label: name, count } of errors.rest.filter(isWanted)) errorsOf(name).rest += count
}

type Sortable = Omit<ErrorCount, 'label'> & { readonly label?: string | undefined }

/** By count, and in a fixed order if the counts are equal. */
function compare(a: Sortable, b: Sortable): number {
  if (a.count !== b.count) return b.count - a.count
  const [textA, textB] = [a, b].map(({ label = '', code, message }) => [label, code, message].join('\n'))
  return (textA ?? '') < (textB ?? '') ? -1 : 1
}
