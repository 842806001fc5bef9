export interface Apdex {
  readonly score: number
  readonly targetMs: number
}

/** Reads the service's apdex, `<score> [<ms>]`; or says why it cannot be used. */
export function readApdex(text: string | null): Apdex | string {
  if (text === null || text.trim() === '') return 'the service gave no apdex for this run'
  const [, score, target] = /^\s*(\d+(?:\.\d+)?)\s*\[\s*(\d+)\s*\]\s*$/.exec(text) ?? []
  const apdex = { score: Number(score), targetMs: Number(target) }
  if (score === undefined || apdex.score > 1 || apdex.targetMs === 0)
    return `the service gave the apdex "${text.slice(0, 60)}", which is not of the form "0.85 [500]"`
  return apdex
}
