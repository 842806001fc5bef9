import type { Readable } from 'node:stream'

/** A reply's bytes as they arrive, to be read once. */
export interface ReplyBody extends AsyncIterable<Buffer> {
  destroy(): unknown
  resume(): unknown
  /** After the end of a part: its last bytes, if they may begin a secret that continues in the next part. */
  readonly held?: Buffer | undefined
}

export interface PartsBefore {
  readonly held?: Buffer | undefined
  /** The size of the whole, if they have stated it. */
  readonly total?: number | undefined
}

export const REDACTED = '***'

/** Shorter ones occur in any text by chance: redacting them would destroy the text and protect nothing. */
const LEAST_SECRET = 6

/** A secret, character by character, each in the forms in which it may be written. */
type Spelling = readonly (readonly string[])[]

/** ID tokens of one issuer begin with the same header, whatever is signed: everything that does is redacted, so that hundreds cost no more than one. */
const ID_TOKEN = /^([\w-]{12,})\.[\w-]+\.[\w-]*$/
/** One more character of an ID token, also escaped or in base64; more of them than a request's headers can have are not one. */
const MORE = String.raw`(?:[\w.+/-]|%(?:25){0,2}[\da-fA-F]{2}|\\{1,4}(?:/|u[\da-fA-F]{4})|&#x?[\da-fA-F]{2,5};)`
const MOST_MORE = 16 * 1024
const LONGEST_ESCAPE = '\\\\\\\\u0000'.length

/**
 * Redacts the token and other secrets in the service's replies: as they are, as the value of the Basic header, and as written in JSON,
 * URLs, CSV and HTML. GitHub's masks cover logs only, and what a service echoes goes into files, outputs and the artifact too.
 */
export class Redactor {
  readonly #token: string
  readonly #others: string[]
  /** How the ID tokens begin that were used. */
  readonly #heads = new Set<string>()
  /** Made for the first reply, not before the first request: it takes milliseconds. */
  #patterns: Patterns | undefined

  /** `others`: secrets that were sent in requests. */
  constructor(token: string, others: readonly string[] = []) {
    this.#token = token
    this.#others = [...others]
  }

  /** One more token, before it is sent. */
  learn(token: string): void {
    const [, head] = ID_TOKEN.exec(token) ?? []
    if (head === undefined ? this.#others.includes(token) : this.#heads.has(head)) return
    if (head === undefined) this.#others.push(token)
    else this.#heads.add(head)
    this.#patterns = undefined
  }

  get #secrets(): Patterns {
    return (this.#patterns ??= this.#makePatterns())
  }

  #makePatterns(): Patterns {
    const secrets = longestFirst([...secretsOf(this.#token), ...this.#others.flatMap(formsOfOther)])
    const codes = codesOf(longestFirst([this.#token, ...this.#others]))
    const heads = longestFirst([...this.#heads].flatMap(formsOfOther))
    const codedHeads = codesOf([...this.#heads])
    const whole = { coded: codes.map(asItIs), secrets }
    const begun = { coded: codedHeads.map(asItIs), secrets: heads }
    const spell = (spelling: (secret: string) => Spelling) =>
      [whole, begun].map((kind) => [...kind.coded, ...kind.secrets.map(spelling)])
    const inBytes = spell(spellForBytes)
    const clues = [...codes, ...codedHeads, ...[...secrets, ...heads].map(longestWord)]
    return {
      text: patternOf(spell(spellForText)),
      bytes: patternOf(inBytes),
      byFirst: byFirst(inBytes.flat()),
      clues: [...new Set(clues)].map((clue) => Buffer.from(clue)),
      longestBytes: Math.max(0, ...inBytes.flat().map(longestLength))
    }
  }

  text(text: string): string {
    const pattern = this.#secrets.text
    return pattern === undefined ? text : text.replace(pattern, REDACTED)
  }

  /** The same bytes with asterisks over secrets, so that ranges stay valid. `bytesToEnd`: of the whole from here on, without `held`. */
  stream(source: Readable, bytesToEnd = 0, held?: Buffer): ReplyBody {
    if (this.#secrets.bytes === undefined) return source
    const left: { held?: Buffer } = {}
    // Not a separate stream: one that is destroyed when the connection breaks would lose the bytes it has buffered.
    return {
      [Symbol.asyncIterator]: () => this.#redactChunks(source, { bytesToEnd, held, left }),
      get held() {
        return left.held
      },
      destroy: () => source.destroy(),
      resume: () => source.resume()
    }
  }

  async *#redactChunks(
    source: AsyncIterable<Buffer>,
    { bytesToEnd, left, ...part }: { bytesToEnd: number; held: Buffer | undefined; left: { held?: Buffer } }
  ): AsyncGenerator<Buffer, void, undefined> {
    let held: Buffer = part.held ?? Buffer.alloc(0)
    let count = 0
    for await (const chunk of source) {
      count += chunk.length
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const found = this.#find(bytes)
      const end = this.#openSecretIn(bytes, found)
      held = bytes.subarray(end)
      if (end > 0) yield cover(bytes.subarray(0, end), found)
    }
    if (held.length === 0) return
    if (count >= bytesToEnd) yield cover(held, this.#find(held))
    else left.held = held
  }

  #find(bytes: Buffer): Stretch[] {
    const { bytes: pattern, clues } = this.#secrets
    if (pattern === undefined || !clues.some((clue) => bytes.includes(clue))) return []
    return Array.from(bytes.toString('latin1').matchAll(pattern), ({ index, groups, 0: { length } }) => ({
      start: index,
      end: index + length,
      isIdToken: groups?.idToken !== undefined
    }))
  }

  /** The start of a secret that may continue in the next bytes, and is held back until they arrive; else the end. */
  #openSecretIn(bytes: Buffer, found: readonly Stretch[]): number {
    const last = found.at(-1)
    // It may have more characters, and they may be cut off within an escape.
    const isOpen = last?.isIdToken === true && last.end > bytes.length - LONGEST_ESCAPE
    const end = isOpen ? last.start : bytes.length
    const { byFirst, longestBytes } = this.#secrets
    const from = Math.max(0, bytes.length - longestBytes)
    const tail = bytes.toString('latin1', from)
    for (let at = 0; from + at < end; at++) {
      // A complete secret may contain its own beginning again.
      const isWithin = found.some(({ start, end }) => start < from + at && from + at < end)
      const begun = byFirst.get(tail.charAt(at)) ?? []
      if (!isWithin && begun.some((spelling) => isBegun(spelling, tail, at))) return from + at
    }
    return end
  }
}

/** What is looked for. */
interface Patterns {
  readonly text: RegExp | undefined
  readonly bytes: RegExp | undefined
  /** For the bytes, one character per byte: the spellings by the characters that they may begin with. */
  readonly byFirst: ReadonlyMap<string, readonly Spelling[]>
  /** Every form of a secret contains one of these unchanged, so bytes without them need no further check. */
  readonly clues: readonly Buffer[]
  readonly longestBytes: number
}

interface Stretch {
  readonly start: number
  readonly end: number
  /** What ends wherever its characters do. */
  readonly isIdToken: boolean
}

function cover(bytes: Buffer, stretches: readonly Stretch[]): Buffer {
  if (stretches.length === 0) return bytes
  const covered = Buffer.from(bytes)
  for (const { start, end } of stretches)
    covered.fill('*', Math.min(start, bytes.length), Math.min(end, bytes.length))
  return covered
}

/** The token; the value of the Basic header, where a colon follows it; and the token alone in base64. */
function secretsOf(token: string): string[] {
  const base64 = [`${token}:`, token].map((text) => Buffer.from(text).toString('base64').replace(/=+$/, ''))
  return token === '' ? [] : [token, ...base64]
}

/** A secret as it is, and in base64 at any position, such as after a user name. */
function formsOfOther(secret: string): string[] {
  const cores = [0, 1, 2].map((bytesBefore) => {
    const bytes = Buffer.concat([Buffer.alloc(bytesBefore), Buffer.from(secret)])
    const letters = bytes.toString('base64').replace(/=+$/, '')
    // Without the characters that depend on the neighboring bytes.
    return letters.slice(bytesBefore === 0 ? 0 : bytesBefore + 1, bytes.length % 3 === 0 ? undefined : -1)
  })
  return secret.length < LEAST_SECRET ? [] : [secret, ...cores]
}

function codesOf(secrets: readonly string[]): string[] {
  return secrets.flatMap((text) => inBothCases(Buffer.from(text).toString('hex')))
}

function asItIs(code: string): Spelling {
  return Array.from(code, (character) => [character])
}

/** If one secret is the start of another, the longer one must match. */
function longestFirst(secrets: readonly string[]): string[] {
  return [...new Set(secrets)]
    .filter((secret) => secret.length >= LEAST_SECRET)
    .sort((one, other) => other.length - one.length)
}

/** One character per byte of UTF-8. */
function spellForBytes(secret: string): Spelling {
  return Array.from(secret, (character) => formsOf(character, Buffer.from(character).toString('latin1')))
}

/** JSON and URL encoders may escape letters too. For bytes this is left out: it would rule out the quick search for clues. */
function spellForText(secret: string): Spelling {
  return Array.from(secret, (character) => [
    ...new Set([...formsOf(character, character), ...escapesOf(character)])
  ])
}

function byFirst(spellings: readonly Spelling[]): Map<string, Spelling[]> {
  const found = new Map<string, Spelling[]>()
  for (const spelling of spellings)
    for (const first of new Set(spelling[0]?.map((form) => form.charAt(0))))
      found.set(first, [...(found.get(first) ?? []), spelling])
  return found
}

function longestLength(spelling: Spelling): number {
  return spelling.reduce((sum, forms) => sum + Math.max(...forms.map(({ length }) => length)), 0)
}

/** Of whole secrets, and of how ID tokens begin. */
function patternOf([whole = [], heads = []]: readonly (readonly Spelling[])[]): RegExp | undefined {
  if (whole.length + heads.length === 0) return undefined
  const join = (spellings: readonly Spelling[]): string =>
    `(?:${spellings.map((spelling) => spelling.map(alternativesOf).join('')).join('|')})`
  const idToken = `(?<idToken>${join(heads)}${MORE}{0,${MOST_MORE}})`
  const either = [...(whole.length > 0 ? [join(whole)] : []), ...(heads.length > 0 ? [idToken] : [])]
  // Leftover padding would show where the header's value was.
  return new RegExp(`(?:${either.join('|')})${alternativesOf(formsOf('=', '='))}{0,2}`, 'g')
}

function alternativesOf(forms: readonly string[]): string {
  return `(?:${forms.map((form) => form.replace(/[^A-Za-z0-9]/g, (unit) => `\\u${hex(unit.charCodeAt(0), 4)}`)).join('|')})`
}

/** Whether the text ends within this secret, starting at this position. */
function isBegun(spelling: Spelling, text: string, at: number, index = 0): boolean {
  const forms = spelling[index]
  if (forms === undefined) return false
  if (at === text.length) return true
  return forms.some((form) =>
    text.startsWith(form, at)
      ? isBegun(spelling, text, at + form.length, index + 1)
      : form.startsWith(text.slice(at))
  )
}

function longestWord(secret: string): string {
  return (secret.match(/[A-Za-z0-9]+/g) ?? ['']).reduce((longest, word) =>
    word.length > longest.length ? word : longest
  )
}

const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;'
}
/** URL-safe base64 replaces two characters; forms write a space as a plus. */
const IN_ADDRESSES: Readonly<Record<string, string>> = { '+': '-', '/': '_', ' ': '+' }
const ESCAPED_IN_JSON = ['"', '\\', '/', "'"]
/** Encoded once, twice or three times, as in a URL within a URL. */
const DEPTHS = [0, 1, 2]

/** The ways in which an encoder may escape any character, even letters. */
function escapesOf(character: string): readonly string[] {
  const forms = DEPTHS.flatMap((depth) => [percentForm(character, depth), unicodeForm(character, depth)])
  return [...forms.flatMap(inBothCases), ...entitiesOf(character)]
}

/** The ways in which JSON, URLs, CSV and HTML write one character; letters and digits are usually written as they are. */
function formsOf(character: string, literal: string): readonly string[] {
  if (/^[A-Za-z0-9]$/.test(character)) return [character]
  const forms = [
    literal,
    ...(ESCAPED_IN_JSON.includes(character) ? DEPTHS.map((depth) => backslashes(depth) + literal) : []),
    // In a quoted field of a CSV.
    ...(character === '"' ? ['""', '\\"\\"'] : []),
    ...escapesOf(character),
    IN_ADDRESSES[character] ?? literal
  ]
  return [...new Set(forms)].sort((one, other) => other.length - one.length)
}

function backslashes(depth: number): string {
  return '\\'.repeat(depth + 1)
}

function percentForm(character: string, depth: number): string {
  return [...Buffer.from(character)].map((byte) => `%${'25'.repeat(depth)}${hex(byte, 2)}`).join('')
}

function unicodeForm(character: string, depth: number): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `${backslashes(depth)}u${hex(unit, 4)}`).join('')
}

function entitiesOf(character: string): string[] {
  const code = character.codePointAt(0) ?? 0
  const named = NAMED_ENTITIES[character]
  return [
    ...[0, 3, 4, 5].map((digits) => `&#${String(code).padStart(digits, '0')};`),
    ...inBothCases(`&#x${hex(code, 2)};`),
    ...inBothCases(`&#x${hex(code, 4)};`),
    ...(named === undefined ? [] : [named])
  ]
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

function inBothCases(form: string): string[] {
  return [form, form.replace(/[0-9a-f]+/g, (digits) => digits.toUpperCase())]
}
