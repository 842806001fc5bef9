import { open, rename, rm } from 'node:fs/promises'
import type { ResultRange } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import { readContentRange, type ContentRange } from '../../client/http/address.js'
import { EncodingError, IncompleteError, NotCsvError, RefusedError } from '../../client/errors.js'
import type { Reply } from '../../client/http/http.js'
import { RETRY, retry } from '../../client/retry.js'
import { messageOf, shorten } from '../../contract/text.js'
import { cutHeader, readHeader } from '../../analysis/results/csv/header.js'
import { describeErrorBody } from '../../client/http/error-body.js'

interface DownloadOptions {
  readonly open: (range: ResultRange | undefined) => Promise<Reply>
  readonly path: string
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The service has everything in place: what is not a CSV now never will be. */
  readonly isFinal?: boolean
  /** Receives the bytes as they arrive; `restart` when the download starts over. */
  readonly tap: { restart(): void; push(chunk: Uint8Array): void }
  readonly onRetry: (reason: string) => void
}

/** Downloads a complete CSV: into `.part`, verified, then renamed. Retries until the signal is aborted. Returns its size. */
export async function downloadCsv(options: DownloadOptions): Promise<number> {
  try {
    return await transferCsv(options)
  } catch (thrown) {
    // Half a CSV is not a result, and only takes up space.
    await rm(`${options.path}.part`, { force: true }).catch(() => undefined)
    throw thrown
  }
}

async function transferCsv(options: DownloadOptions): Promise<number> {
  const { clock, signal } = options
  const transfer = new Transfer(options)
  let furthest = 0
  const attempt = async (noteProgress: () => void): Promise<number> => {
    for (;;) {
      signal.throwIfAborted()
      if (await transfer.advance()) return transfer.finish()
      // A part is progress, unless it is the same start again and again.
      if (transfer.bytes > furthest) noteProgress()
      furthest = Math.max(furthest, transfer.bytes)
    }
  }
  return retry(attempt, options.isFinal ? RETRY.downloadFinal : RETRY.collect, {
    clock,
    signal,
    onRetry: (thrown) => options.onRetry(messageOf(thrown)),
    overWith: (cause) =>
      new Error(`no complete CSV within the collection time; the last answer: ${messageOf(cause)}`, { cause })
  })
}

/** The bytes arrived but could not be written. The service is not late, so waiting for it would not help. */
class DiskError extends Error {}

async function keep<T>(work: Promise<T>): Promise<T> {
  return work.catch((thrown: unknown) => {
    throw new DiskError(
      `the CSV could not be written on this machine: ${messageOf(thrown)}. Free up disk space`,
      { cause: thrown }
    )
  })
}

class Transfer {
  #start = new CsvStart()
  bytes = 0
  /** The bytes after them, held back until the next part shows whether they begin a secret. */
  #held: Buffer | undefined
  #version: string | undefined
  /** The version has changed since the last reply, so the size may have too. */
  #isOtherVersion = false
  /** The size that the replies so far have stated or shown. */
  #total: number | undefined
  /** The largest of all finished responses: a shorter one was truncated. */
  #largest = 0

  constructor(private readonly options: DownloadOptions) {}

  get #position(): number {
    return this.bytes + (this.#held?.length ?? 0)
  }

  /** Requests what is missing. True when the CSV is complete; false when a part arrived and the next one must be requested. */
  async advance(): Promise<boolean> {
    const range =
      this.#position > 0 && this.#version !== undefined
        ? { fromByte: this.#position, version: this.#version, held: this.#held, total: this.#total }
        : undefined
    const reply = await this.#ask(range)
    try {
      // Any other success, such as 202, means that the CSV is still being generated.
      if (reply.status !== 200 && reply.status !== 206)
        throw this.#startOver(`the service answered ${reply.status} instead of the CSV`)
      const part = reply.status === 206 ? this.#checkPart(reply, range?.fromByte ?? 0) : undefined
      if (part === undefined || part.fromByte === 0) this.#restart(reply)
      this.#held = undefined
      await this.#receive(reply, part)
      this.#held = reply.body.held
      return part === undefined ? this.#verifyWhole(reply) : this.#verifyPart(part)
    } catch (thrown) {
      // What is not a CSV cannot be resumed.
      if (thrown instanceof NotCsvError) this.#version = undefined
      throw thrown
    } finally {
      reply.body.destroy()
    }
  }

  async finish(): Promise<number> {
    const { path } = this.options
    await rm(path, { force: true })
    await rename(`${path}.part`, path)
    return this.bytes
  }

  async #ask(range: ResultRange | undefined): Promise<Reply> {
    return this.options.open(range).catch((thrown: unknown) => {
      if (range !== undefined && thrown instanceof RefusedError && thrown.status === 416)
        throw this.#startOver('the service cannot send the rest of the CSV')
      throw thrown
    })
  }

  /** A part must begin at the requested byte, and belong to the CSV whose start is already here. */
  #checkPart(reply: Reply, fromByte: number): ContentRange & { total: number } {
    const part = readContentRange(reply.header('content-range'))
    if (part?.fromByte !== fromByte)
      throw this.#startOver('the service sent a different part of the CSV than requested')
    const known = fromByte === 0 ? undefined : this.#total
    const total = part.total ?? known
    if (total === undefined) throw this.#startOver('the service does not say how large the CSV is')
    if (known !== undefined && total !== known) {
      this.#total = total
      throw this.#startOver(`the size of the CSV changed from ${known} to ${total} bytes`)
    }
    const version = versionOf(reply)
    if (fromByte > 0 && version !== undefined && version !== this.#version)
      throw this.#startOver('the CSV changed during the download')
    this.#total = total
    return { ...part, total }
  }

  #startOver(reason: string): IncompleteError {
    this.#version = undefined
    return new IncompleteError(reason)
  }

  #restart(reply: Reply): void {
    const version = versionOf(reply)
    this.#isOtherVersion = this.#version !== undefined && version !== undefined && version !== this.#version
    this.#version = version
    this.bytes = 0
    this.#start = new CsvStart()
    this.options.tap.restart()
  }

  async #receive(reply: Reply, part: ContentRange | undefined): Promise<void> {
    const encoding = reply.header('content-encoding') ?? 'identity'
    if (encoding !== 'identity') {
      this.#version = undefined
      throw new EncodingError(
        `the CSV came with the encoding "${encoding}", which was not requested (accept-encoding: identity) and cannot be read. Check for a proxy between this machine and the service`
      )
    }
    const file = await keep(open(`${this.options.path}.part`, this.bytes === 0 ? 'w' : 'a'))
    try {
      for await (const chunk of reply.body) {
        if (part !== undefined && this.bytes + chunk.length > part.toByte + 1)
          throw this.#startOver('the service sent more of the CSV than it announced')
        this.#start.push(chunk)
        // It is read while it is being written.
        await Promise.all([keep(file.writeFile(chunk)), this.#pass(chunk)])
        this.bytes += chunk.length
      }
    } catch (thrown) {
      if (thrown instanceof NotCsvError || thrown instanceof IncompleteError || thrown instanceof DiskError)
        throw thrown
      if (part === undefined) this.#expect(reply)
      throw new IncompleteError(`the download broke off after ${this.bytes} bytes: ${messageOf(thrown)}`, {
        cause: thrown
      })
    } finally {
      await file.close()
    }
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- what it throws must not leave a write without anyone who waits for it
  async #pass(chunk: Uint8Array): Promise<void> {
    this.options.tap.push(chunk)
  }

  /** The reply with a CSV that broke off states its full size; one with an error page does not. */
  #expect(reply: Reply): void {
    const length = reply.header('content-length')
    if (length !== undefined && this.#start.isKnown) this.#total = Number(length)
  }

  #verifyPart({ fromByte, toByte, total }: ContentRange & { total: number }): boolean {
    if (this.#position > toByte + 1)
      throw this.#startOver('the service sent more of the CSV than it announced')
    if (this.#position === fromByte)
      throw this.#startOver('the service sent no bytes of the part it announced')
    if (this.bytes === total) {
      this.#start.end()
      return true
    }
    if (this.#version === undefined)
      throw this.#startOver(`got only ${this.bytes} of ${total} bytes of the CSV`)
    return false
  }

  #verifyWhole(reply: Reply): true {
    const length = reply.header('content-length')
    if (this.bytes === 0) throw new NotCsvError('the CSV is empty')
    if (length !== undefined && Number(length) !== this.bytes) {
      this.#expect(reply)
      throw new IncompleteError(`the download broke off: got ${this.bytes} of ${length} bytes`)
    }
    this.#start.end()
    const before = this.#total
    const isFramed = length !== undefined || reply.header('transfer-encoding') !== undefined
    this.#total = this.bytes
    this.#largest = Math.max(this.#largest, this.bytes)
    const isSame = before === this.bytes
    const isNew = before === undefined || this.#isOtherVersion
    if (isFramed ? isSame || isNew : isSame && this.bytes === this.#largest) return true
    // Only the closed connection marks such an end, and a connection can close early: trust it only if two downloads have the same size.
    throw this.#startOver(
      isFramed
        ? `the CSV had ${before ?? 0} bytes before and has ${this.bytes} now; downloading it again to compare`
        : 'the CSV came without a length; downloading it again to compare'
    )
  }
}

/** A weak ETag does not guarantee the same bytes. */
function versionOf(reply: Reply): string | undefined {
  const version = reply.header('etag')
  return version?.startsWith('"') ? version : undefined
}

/** Longer than any header, and enough of an error page to quote. */
const LONGEST_HEADER = 64 * 1024
const QUOTED_BYTES = 2048
const QUOTED_LENGTH = 200

/** Checks the first line of the response, however it is split into chunks: only a header that the scanner knows makes it a CSV. */
class CsvStart {
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
    // A header begins with the name of a column; sentences have spaces between their words.
    const isCut = /^"?(time|elapsed|label)/i.test(text) && !/[a-z] [a-z]+ [a-z]/i.test(text)
    const said = this.#state === 'pending' && isCut ? 'the CSV header is incomplete:' : 'expected CSV, got'
    return new NotCsvError(`${said} "${shorten(text, QUOTED_LENGTH)}"`)
  }
}
