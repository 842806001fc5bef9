import { cutHeader, readHeader } from '../../results/csv/header.js'
import { describeErrorBody } from '../../service/http/error-body.js'
import { shorten } from '../../thresholds/quoting.js'

/** The response is not a CSV: it is not ready, or the service sent an error page. */
export class NotCsvError extends Error {
  override name = 'NotCsvError'
}

/** Longer than any header, and enough of an error page to quote. */
const LONGEST_HEADER = 64 * 1024
const QUOTED_BYTES = 2048
const QUOTED_LENGTH = 200

/** Checks the first line of the response, however it is split into chunks: only a header that the scanner knows makes it a CSV. */
export class CsvStart {
  #held = Buffer.alloc(0)
  #state: 'pending' | 'known' | 'unknown' = 'pending'

  get isKnown(): boolean {
    return this.#state === 'known'
  }

  push(chunk: Uint8Array): void {
    if (this.#state === 'known') return
    this.#held = Buffer.concat([this.#held, chunk])
    if (this.#state === 'pending') this.#state = this.#read()
    // Quote the first lines of an error page, not its first chunk.
    if (this.#state === 'unknown' && this.#held.length >= QUOTED_BYTES) throw this.#refusal()
  }

  /** Nothing follows: a first line without a line break is a truncated header. */
  end(): void {
    if (this.#state !== 'known') throw this.#refusal()
  }

  #read(): 'pending' | 'known' | 'unknown' {
    const header = cutHeader(this.#held, this.#held.length > LONGEST_HEADER)
    if (header === undefined) return 'pending'
    return readHeader(header.line).shape === 'unknown' ? 'unknown' : 'known'
  }

  #refusal(): NotCsvError {
    const text = this.#held
      .subarray(0, QUOTED_BYTES)
      .toString('utf8')
      .replace(/^\uFEFF/, '')
      .trim()
    if (/^[{[]/.test(text)) return new NotCsvError(`expected CSV, got JSON: ${describeErrorBody(text, '')}`)
    if (text.startsWith('<'))
      return new NotCsvError(`expected CSV, got a page: ${describeErrorBody(text, 'text/html')}`)
    if (text === '') return new NotCsvError('expected CSV, got a blank line')
    const quoted = `"${shorten(text, QUOTED_LENGTH)}"`
    return new NotCsvError(
      this.#state === 'pending' && isStartOfHeader(text)
        ? `the CSV header is incomplete: ${quoted}`
        : `expected CSV, got ${quoted}`
    )
  }
}

/** A header begins with the name of a column; sentences have spaces between their words. */
function isStartOfHeader(text: string): boolean {
  return /^"?(time|elapsed|label)/i.test(text) && !/[a-z] [a-z]+ [a-z]/i.test(text)
}
