import { shorten as shortenTo } from '../../contract/text.js'

/** What is wrong with a plan, or may be: what happened, and what to do. */
export interface Finding {
  /** `error`: the run would fail. `warning`: it would not do what was asked of it. `note`: worth knowing. */
  readonly level: 'error' | 'warning' | 'note'
  readonly message: string
  /** An input that cannot be meant like this: nothing is started with it. */
  readonly isInput?: true
}

const MAX_QUOTE = 100

/** A text of the plan for a message: one line, not too long. */
export function quote(text: string): string {
  return `"${shorten(text)}"`
}

export function shorten(text: string): string {
  return shortenTo(text, MAX_QUOTE)
}

/** `a, b and c`. */
export function list(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1) ?? ''}`
}

/** For a name within a regular expression. */
export function literal(name: string): string {
  return name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
