import type { Readable } from 'node:stream'

/** A reply's bytes as they arrive, to be read once. */
export interface ReplyBody extends AsyncIterable<Buffer> {
  /** Discards what has not arrived yet. */
  destroy(): unknown
  /** Reads to the end and discards it. */
  resume(): unknown
  /** After the end of a part: its last bytes, if they may begin a secret that continues in the next part. */
  readonly held?: Buffer | undefined
}

/** What is known of the parts before the one that is asked for. */
export interface PartsBefore {
  /** What was held back of them. */
  readonly held?: Buffer | undefined
  /** The size of the whole, if they have stated it. */
  readonly total?: number | undefined
}

/** Replaces a secret in a text. */
export const REDACTED = '***'

/** Shorter ones occur in any text by chance: redacting them would destroy the text and protect nothing. */
const LEAST_SECRET = 6

/**
 * Redacts the token and other secrets in the service's replies: as they are, as the value of the Basic header, and as written in JSON,
 * URLs, CSV and HTML. GitHub's masks cover logs only, and what a service echoes goes into files, outputs and the artifact too.
 */
export class Redactor {
  readonly #text: RegExp
  readonly #bytes: RegExp
  /** Longest first: if one is the start of another, the longer one must match. */
  readonly #forms: readonly Buffer[]

  /** `others`: secrets that were sent in requests. */
  constructor(token: string, others: readonly string[] = []) {
    const secrets = [...formsOfToken(token), ...others.flatMap(formsOfOther)]
    const forms = [...new Set(secrets.flatMap(writtenFormsOf))]
      .filter((form) => form.length >= LEAST_SECRET)
      .sort((one, other) => other.length - one.length)
    this.#forms = forms.map((form) => Buffer.from(form))
    this.#text = patternOf(forms)
    this.#bytes = patternOf(this.#forms.map((form) => form.toString('latin1')))
  }

  text(text: string): string {
    return this.#forms.length === 0 ? text : text.replace(this.#text, REDACTED)
  }

  /**
   * The same bytes with asterisks over the secrets: lengths stay the same, so ranges and announced lengths remain valid. `bytesToEnd` are
   * those of the whole from here on, without `held`.
   */
  stream(source: Readable, bytesToEnd = 0, held?: Buffer): ReplyBody {
    if (this.#forms.length === 0) return source
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
    if (!this.#forms.some((form) => bytes.includes(form))) return []
    return Array.from(bytes.toString('latin1').matchAll(this.#bytes), ({ index, 0: { length } }) => ({
      start: index,
      end: index + length
    }))
  }

  /** The start of a secret that may continue in the next bytes, and is held back until they arrive; else the end. */
  #openSecretIn(bytes: Buffer, found: readonly Stretch[]): number {
    const longest = this.#forms[0]?.length ?? 0
    for (let at = Math.max(0, bytes.length - longest); at < bytes.length; at++) {
      // A complete secret may contain its own beginning again.
      const isWithin = found.some(({ start, end }) => start < at && at < end)
      if (!isWithin && this.#forms.some((form) => isBegun(form, bytes, at))) return at
    }
    return bytes.length
  }
}

function isBegun(form: Buffer, bytes: Buffer, at: number): boolean {
  const length = bytes.length - at
  return (
    length < form.length && form[0] === bytes[at] && form.compare(bytes, at, bytes.length, 0, length) === 0
  )
}

interface Stretch {
  readonly start: number
  readonly end: number
}

function cover(bytes: Buffer, stretches: readonly Stretch[]): Buffer {
  if (stretches.length === 0) return bytes
  const covered = Buffer.from(bytes)
  for (const { start, end } of stretches)
    covered.fill('*', Math.min(start, bytes.length), Math.min(end, bytes.length))
  return covered
}

/** The token; the value of the Basic header, where a colon follows it; and the token alone in base64. */
function formsOfToken(token: string): string[] {
  if (token === '') return []
  const encoded = [`${token}:`, token].map((text) => Buffer.from(text).toString('base64'))
  return [token, ...encoded.flatMap((text) => [text, text.replace(/=+$/, '')])]
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

/** As libraries write a text into JSON, URLs, CSV and HTML, and into one of these within another of its kind. */
function writtenFormsOf(text: string): string[] {
  const inJson = JSON.stringify(text).slice(1, -1)
  const inUrl = text.replace(/[^A-Za-z0-9]/gu, percent)
  const inHtml = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return [
    text,
    inJson,
    inJson.replaceAll('/', '\\/'),
    inJson.replace(/[<>&'\u0080-\uffff]/g, escapeUnit),
    JSON.stringify(inJson).slice(1, -1),
    ...[encodeURIComponent(text), inUrl]
      .flatMap((url) => [url, lowerHex(url)])
      .flatMap((url) => [url, encodeURIComponent(url)]),
    new URLSearchParams({ t: text }).toString().slice(2),
    // In base64 for URLs.
    text.replaceAll('+', '-').replaceAll('/', '_'),
    text.replaceAll('"', '""'),
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    inHtml.replaceAll('"', '&#34;').replaceAll("'", '&#x27;')
  ]
}

function percent(character: string): string {
  return Buffer.from(character).toString('hex').toUpperCase().replace(/../g, '%$&')
}

function lowerHex(url: string): string {
  return url.replace(/%../g, (code) => code.toLowerCase())
}

function patternOf(forms: readonly string[]): RegExp {
  return new RegExp(forms.map((form) => form.replace(/[^A-Za-z0-9]/g, escapeUnit)).join('|'), 'g')
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
}
