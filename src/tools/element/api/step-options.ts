import type { Step } from './plan.js'
import type { TestSettings } from './settings.js'

/** Each decides whether or how often the step runs, so a run without it is another test. */
const REFUSED: Readonly<Record<string, string>> = {
  predicate: 'use step.if or step.unless',
  stepWhile: 'use step.while'
}
const KNOWN = new Set([
  ...['once', 'skip', 'pending', 'repeat', 'stepDelay', 'actionDelay', 'waitTimeout', 'waitUntil'],
  ...['name', 'description']
])
/** The labels of the pages' own times end with these. */
const TIMING_LABEL = / \[(?:ttfb|dom ready|load|lcp)\]$/

/** Checks what is the label of the step's rows. */
export function readStepName(name: string | undefined): string {
  if (name === undefined) throw new Error('a step needs a name: step(name, async (browser) => { … })')
  const shown = JSON.stringify(name)
  if (name.trim() === '') throw new Error(`a step needs a name that is not blank: its name is ${shown}`)
  if (/\p{Cc}/u.test(name)) throw new Error(`the name of a step has control characters: ${shown}`)
  if (TIMING_LABEL.test(name))
    throw new Error(`the name of a step ends like the labels of the pages' own times: ${shown}`)
  return name
}

/** What the options of a step say about when it runs; throws for what cannot be honoured. */
export function readStepOptions(step: string, options: TestSettings): Partial<Step> {
  for (const [name, instead] of Object.entries(REFUSED))
    if (options[name] !== undefined && options[name] !== null)
      throw new Error(`the option ${name} of the step "${step}" is not supported: ${instead}`)
  const { repeat } = options
  const count = typeof repeat === 'object' && repeat !== null ? (repeat as { count?: unknown }).count : repeat
  return {
    ...(options.once ? { isOnce: true } : {}),
    ...(options.skip || options.pending ? { isSkipped: true } : {}),
    ...(count === undefined || count === null ? {} : { repeat: readCount(count) })
  }
}

/** One sentence for each option that has no effect. */
export function listUnknownOptions(step: string, options: TestSettings): string[] {
  return Object.keys(options)
    .filter((name) => !KNOWN.has(name))
    .map((name) => `the option ${name} of the step "${step}" is unknown and has no effect`)
}

export function readCount(count: unknown): number {
  if (Number.isInteger(count) && Number(count) >= 0) return Number(count)
  throw new Error(`step.repeat needs a whole number of times, not ${JSON.stringify(count)}`)
}
