import type { BaselineFacts } from '../../baseline/baseline-facts.js'
import { baselineFactsDocument } from '../../report/baseline-document.js'

const MOST_CHARACTERS = 1000
const MOST_RUNS = 1000

/** The output `baseline`: what verdict.json has, bounded, and without what only recording needs. */
export function baselineOutput(facts: BaselineFacts): string {
  const document = baselineFactsDocument(facts)
  return JSON.stringify({
    ...document,
    fingerprint: undefined,
    runs: document.runs.slice(-MOST_RUNS),
    reason: document.reason?.slice(0, MOST_CHARACTERS) ?? null,
    notes: document.notes.slice(0, 10).map((note) => note.slice(0, MOST_CHARACTERS))
  })
}
