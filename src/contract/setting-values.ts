import { suggestName, suggestWord } from './nearest.js'

/** The value, or a description of what is accepted. */
export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  /** `shown`: the text as messages quote it, if it can be no secret, or without what can be one. */
  | { readonly ok: false; readonly accepted: string; readonly shown?: string | undefined }

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const accept = <T>(value: T): Parsed<T> => ({ ok: true, value })
const refuse = (accepted: string): { ok: false; accepted: string } => ({ ok: false, accepted })

/** Ends what is accepted with what was probably meant. */
const ask = (meant: string | undefined): string => (meant === undefined ? '' : `: did you mean ${meant}?`)

export function parseInteger(
  text: string,
  { least, most }: { least: number; most?: number }
): Parsed<number> {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN
  if (value >= least && value <= (most ?? Infinity)) return accept(value)
  return refuse(
    most === undefined ? `a whole number, at least ${least}` : `a whole number from ${least} to ${most}`
  )
}

/** Other words for these; suggested, not accepted. */
const BOOLEAN_SYNONYMS: ReadonlyMap<string, string> = new Map([
  ...['yes', 'y', 'on', '1'].map((word) => [word, 'true'] as const),
  ...['no', 'n', 'off', '0'].map((word) => [word, 'false'] as const)
])

/** The spellings that the toolkit accepts. */
export function parseBoolean(text: string): Parsed<boolean> {
  if (/^(true|True|TRUE)$/.test(text)) return accept(true)
  if (/^(false|False|FALSE)$/.test(text)) return accept(false)
  const meant = BOOLEAN_SYNONYMS.get(text.toLowerCase()) ?? suggestWord(text, ['true', 'false'])
  return refuse(`true or false${ask(meant)}`)
}

/** Whole seconds, or hours, minutes and seconds such as `1h30m`. */
export function parseDurationSeconds(text: string, least: number): Parsed<number> {
  const parts = /^(?:(\d{1,7})|(?:(\d{1,5})h)?(?:(\d{1,6})m)?(?:(\d{1,7})s)?)$/.exec(text)
  const [, plain, hours, minutes, seconds] = parts ?? []
  const value =
    parts && text !== ''
      ? Number(plain ?? 0) + Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0)
      : NaN
  if (value >= least) return accept(value)
  return refuse(`a duration of at least ${least} s, in whole seconds or as 90s, 5m, 2h, 1h30m`)
}

/** How messages quote an address that is not accepted; undefined for what is no address: it may be a token in the wrong place. */
export function showAddress(text: string): string | undefined {
  return /^[a-z]+:\/\//i.test(text) && URL.canParse(text) ? withoutSecrets(text) : undefined
}

/** Messages never quote a password or token from an address. */
export function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^/]*@/, '//***@').replace(/[?#].*$/s, '?***')
}

const LONGEST_MS = 9_999_999
/** The default of JMeter's own dashboard. */
export const DEFAULT_APDEX_TARGET_MS = 500

/** A response time in whole ms, such as `500ms` or `1.5s`. */
export function parseMilliseconds(text: string): Parsed<number> {
  const [, digits, unit] = /^(\d{1,7}(?:\.\d{1,3})?)\s?(ms|s)?$/.exec(text) ?? []
  const value = Number(`${digits ?? ''}e${unit === 's' ? 3 : 0}`)
  if (unit !== undefined && Number.isInteger(value) && value > 0 && value <= LONGEST_MS) return accept(value)
  const meant = digits !== undefined && unit === undefined ? `${digits}ms` : undefined
  return refuse(`a time in whole ms, with its unit, such as 500ms or 1.5s${ask(meant)}`)
}

/** A share such as `5%` or `7.5%`, above 0 and at most 100; as a ratio. */
export function parsePercent(text: string): Parsed<number> {
  const digits = /^(\d{1,3}(?:\.\d{1,6})?)\s?%$/.exec(text)?.[1]
  const value = Number(`${digits ?? ''}e-2`)
  if (digits !== undefined && value > 0 && value <= 1) return accept(value)
  const plain = /^\d{1,3}(?:\.\d{1,6})?$/.test(text) ? Number(text) : 0
  // Other tools write a ratio here.
  const meant =
    plain <= 0 || plain > 100 ? '' : `: did you mean ${plain < 1 ? Number(`${plain}e2`) : plain}%?`
  return refuse(`a percentage above 0% and at most 100%, such as 5%${meant}`)
}

export function parseChoice<const T extends string>(text: string, choices: readonly T[]): Parsed<T> {
  const found = choices.find((choice) => choice === text)
  return found === undefined
    ? refuse(`one of ${choices.join(', ')}${ask(suggestName(text, choices))}`)
    : accept(found)
}

export function parsePattern(text: string, pattern: RegExp, accepted: string): Parsed<string> {
  return pattern.test(text) ? accept(text) : refuse(accepted)
}
