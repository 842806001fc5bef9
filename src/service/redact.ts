import { Transform, pipeline } from 'node:stream'
import type { Readable } from 'node:stream'

/** What stands where a secret stood in a text. */
export const REDACTED = '***'

/** Shorter ones occur in any text by chance: striking them out would destroy the text and protect nothing. */
const LEAST_SECRET = 6
/** The longest way to write one character: an escape within an escape. */
const LONGEST_CHARACTER = 10

/**
 * Takes the token out of what the service says: as it is, as the value of the Basic header, and in the forms in which JSON, addresses,
 * CSV and HTML write them. Masks cover logs only, and what a service echoes goes into files, outputs and the artifact too.
 */
export class Redactor {
  readonly #text: RegExp | undefined
  readonly #bytes: RegExp | undefined
  /** Every form of a secret holds one of these as it is, so that bytes without them need no closer look. */
  readonly #clues: readonly Buffer[]
  readonly #longestBytes: number

  constructor(token: string) {
    const secrets = secretsOf(token)
    const asBytes = secrets.map(latin1Of)
    this.#text = patternOf(secrets, (character) => character)
    this.#bytes = patternOf(secrets, latin1Of)
    this.#clues = asBytes.map((secret) => Buffer.from(longestWord(secret)))
    this.#longestBytes = Math.max(0, ...asBytes.map(({ length }) => length)) * LONGEST_CHARACTER
  }

  text(text: string): string {
    return this.#text === undefined ? text : text.replace(this.#text, REDACTED)
  }

  /** The same bytes with asterisks over the secrets: lengths stay, so that ranges and promised lengths still hold. */
  stream(source: Readable): Readable {
    if (this.#bytes === undefined) return source
    let held: Buffer = Buffer.alloc(0)
    const redacting = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const { ready, rest } = this.#strike(held.length === 0 ? chunk : Buffer.concat([held, chunk]))
        held = rest
        done(null, ready)
      },
      flush: (done) => done(null, this.#strike(held, 0).ready)
    })
    // Whoever reads it is told of its failures; here nobody is.
    return pipeline(source, redacting, () => undefined)
  }

  /** What may begin a secret that goes on in the next chunk is held back; a secret is never cut in two. */
  #strike(bytes: Buffer, heldBack = this.#longestBytes): { ready: Buffer; rest: Buffer } {
    let end = Math.max(0, bytes.length - heldBack)
    if (this.#bytes === undefined || !this.#clues.some((clue) => bytes.includes(clue)))
      return { ready: bytes.subarray(0, end), rest: bytes.subarray(end) }
    const struck = Buffer.from(bytes)
    for (const { index, 0: found } of bytes.toString('latin1').matchAll(this.#bytes)) {
      struck.fill('*', index, index + found.length)
      if (index < end && index + found.length > end) end = index
    }
    return { ready: struck.subarray(0, end), rest: bytes.subarray(end) }
  }
}

/** The token; the value of the Basic header, for which it stands before a colon; and the token in base64 by itself. */
function secretsOf(token: string): string[] {
  const base64 = [`${token}:`, token].map((text) => Buffer.from(text).toString('base64').replace(/=+$/, ''))
  // The longest first: of two that begin alike the whole one is to be found.
  return [...new Set([token, ...base64])]
    .filter((secret) => token !== '' && secret.length >= LEAST_SECRET)
    .sort((one, other) => other.length - one.length)
}

/** UTF-8 bytes, a character each. */
function latin1Of(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function patternOf(secrets: readonly string[], literal: (character: string) => string): RegExp | undefined {
  if (secrets.length === 0) return undefined
  const forms = secrets.map((secret) =>
    Array.from(secret)
      .map((each) => formsOf(each, literal(each)))
      .join('')
  )
  return new RegExp(`(?:${forms.join('|')})(?:${formsOf('=', '=')}){0,2}`, 'g')
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;'
}
/** base64 for addresses has other letters for two of the plain one's. */
const IN_ADDRESSES: Readonly<Record<string, string>> = { '+': '-', '/': '_', ' ': '\\+' }

/** The ways to write one character; letters and digits are written as they are everywhere. */
function formsOf(character: string, literal: string): string {
  if (/^[A-Za-z0-9]$/.test(character)) return character
  const code = character.codePointAt(0) ?? 0
  const entity = NAMED_ENTITIES[character]
  const inAddresses = IN_ADDRESSES[character]
  const forms = [
    // Backslashes and doubled quotes are how JSON and CSV write some of them.
    `\\\\{0,3}${escapedUnits(literal)}`,
    ...(character === '"' ? ['""'] : []),
    [...Buffer.from(character)].map((byte) => `%(?:25){0,2}${hex(byte, 2)}`).join(''),
    `\\\\{1,3}u${hex(code, 4)}`,
    `&#(?:${code}|[xX]0{0,2}${hex(code, 2)});`,
    ...(entity === undefined ? [] : [entity]),
    ...(inAddresses === undefined ? [] : [inAddresses])
  ]
  return `(?:${forms.join('|')})`
}

/** For a pattern, in which signs have meanings of their own. */
function escapedUnits(text: string): string {
  return text
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')
}

/** In upper and lower case. */
function hex(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
}

function longestWord(secret: string): string {
  return (secret.match(/[A-Za-z0-9]+/g) ?? ['']).reduce((longest, word) =>
    word.length > longest.length ? word : longest
  )
}
