export interface Apdex {
  readonly score: number
  readonly targetMs: number
}

/**
 * Whether the service has reported its apdex. Until then the field is empty or has a placeholder ("N/A", "pending"), which may just as
 * well be an apdex in another format that waiting does not change.
 */
export function stateOfApdex(text: string | null): 'there' | 'late' | 'odd' {
  if (typeof readApdex(text) !== 'string') return 'there'
  return (text ?? '').trim() === '' ? 'late' : 'odd'
}

/** `<score> [<ms>]`, also with a decimal comma, without the leading zero, and with a unit or decimals after the target. */
const APDEX = /^\s*(\d+(?:[.,]\d+)?|[.,]\d+)\s*\[\s*(\d+)(?:[.,]0{1,2})?\s*(?:ms)?\s*\]\s*$/i

/** Reads the service's apdex, `<score> [<ms>]`; or says why it cannot be used. */
export function readApdex(text: string | null): Apdex | string {
  if (text === null || text.trim() === '') return 'the service gave no apdex for this run'
  const [, score, target] = APDEX.exec(text) ?? []
  const apdex = { score: Number(score?.replace(',', '.')), targetMs: Number(target) }
  if (score === undefined || apdex.score > 1 || apdex.targetMs === 0)
    return `the service gave the apdex "${text.slice(0, 60)}", which is not of the form "0.85 [500]"`
  return apdex
}
