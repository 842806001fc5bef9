import type { Results } from './reached-load.js'

export interface Apdex {
  readonly score: number
  readonly targetMs: number
}

/** Whether the service has reported its apdex. A placeholder ("N/A") may be an apdex in another format, so waiting may not help. */
export function stateOfApdex(text: string | null): 'there' | 'late' | 'odd' {
  if (typeof readApdex(text) !== 'string') return 'there'
  return (text ?? '').trim() === '' ? 'late' : 'odd'
}

/** `<score> [<ms>]`, also with a decimal comma, without the leading zero, and with a unit or decimals after the target. */
const APDEX = /^\s*(\d+(?:[.,]\d+)?|[.,]\d+)\s*\[\s*(\d+)(?:[.,]0{1,2})?\s*(?:ms)?\s*\]\s*$/i

export function readApdex(text: string | null): Apdex | string {
  if (text === null || text.trim() === '') return 'the service gave no apdex for this run'
  const [, score, target] = APDEX.exec(text) ?? []
  const apdex = { score: Number(score?.replace(',', '.')), targetMs: Number(target) }
  if (score === undefined || apdex.score > 1 || apdex.targetMs === 0)
    return `the service gave the apdex "${text.slice(0, 60)}", which is not of the form "0.85 [500]"`
  return apdex
}

/** The service's own; with a warm-up, whose samples are in that one, it is computed from the others with the service's target. */
export function apdexOf(
  { apdex }: { readonly apdex: string | null },
  collection: Pick<Results, 'measurements' | 'warmUp'> | undefined
): Apdex | string {
  const told = readApdex(apdex)
  if (collection?.warmUp === undefined) return told
  if (typeof told === 'string')
    return `${told}, so the target for computing the apdex without the warm-up is unknown`
  const figures = collection.measurements?.figures({})
  if (figures === undefined) return 'there are no samples after the warm-up to compute it from'
  const score = figures.apdex(told.targetMs)
  return score === undefined
    ? 'the CSVs do not have the time of each sample, from which the apdex without the warm-up is computed'
    : { score, targetMs: told.targetMs }
}
