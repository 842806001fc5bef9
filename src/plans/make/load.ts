/** How many users arrive in a time. */
export interface Rate {
  readonly arrivals: number
  readonly per: 's' | 'min' | 'h'
}

/** A fixed number of users who start over as soon as they are done, or users who arrive at a rate, whether others wait or not. */
export type Load =
  { readonly kind: 'closed'; readonly threads: number } | { readonly kind: 'open'; readonly rate: Rate }

const MOST_PER_SECOND = 10_000
const SECONDS = { s: 1, min: 60, h: 3600 }
const RATE = /^(\d{1,8}(?:\.\d{1,3})?)\s*(?:\/\s*(s|sec|second|m|min|minute|h|hour))?$/

/** Reads `20/s`, `90/min` or `500/h`; a number alone is per second. Undefined if it is none of these, or too much to mean. */
export function readRate(text: string): Rate | undefined {
  const [, number = '', unit = 's'] = RATE.exec(text.trim()) ?? []
  const per = unit.startsWith('s') ? 's' : unit.startsWith('m') ? 'min' : 'h'
  const arrivals = Number(number)
  return number !== '' && arrivals > 0 && arrivals / SECONDS[per] <= MOST_PER_SECOND
    ? { arrivals, per }
    : undefined
}

/** For people: `20 users per second`. */
export function describeLoad(load: Load): string {
  if (load.kind === 'closed') return load.threads === 1 ? '1 user' : `${load.threads} users`
  const { arrivals, per } = load.rate
  const time = { s: 'second', min: 'minute', h: 'hour' }[per]
  return arrivals === 1 ? `1 user per ${time}` : `${arrivals} users per ${time}`
}
