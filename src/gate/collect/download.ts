import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { ResultRange } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { readContentRange } from '../../service/http/content-range.js'
import type { ContentRange } from '../../service/http/content-range.js'
import { RefusedError } from '../../service/errors.js'
import type { Reply } from '../../service/http/http.js'
import type { HeldBytes } from '../../service/http/redact.js'
import { RETRY, retry } from '../../service/retry.js'
import type { RetryPolicy } from '../../service/retry.js'
import { CsvStart, NotCsvError } from './csv-start.js'
import { messageOf } from '../errors.js'

export interface DownloadOptions {
  readonly open: (range: ResultRange | undefined) => Promise<Reply>
  readonly path: string
  readonly clock: Clock
  /** Aborted when the time for collecting is over. */
  readonly signal: AbortSignal
  /** The service has everything in place: what is no CSV now never will be one. */
  readonly isFinal?: boolean
  /** Sees the bytes as they arrive; `restart` when they begin anew. */
  readonly tap: { restart(): void; push(chunk: Uint8Array): void }
  readonly onRetry: (reason: string) => void
}

/** The bytes came to an end that cannot be trusted. */
class IncompleteError extends Error {
  override name = 'IncompleteError'
}

/** Something between here and the service encodes what it hands on, and will hardly stop. */
class EncodingError extends Error {
  override name = 'EncodingError'
}

function policyOf({ isFinal = false }: DownloadOptions): RetryPolicy {
  return {
    ...RETRY.collect,
    isTransient: (thrown) =>
      thrown instanceof NotCsvError
        ? !isFinal
        : thrown instanceof IncompleteError || RETRY.collect.isTransient(thrown),
    isRefusal: (thrown) => thrown instanceof EncodingError || RETRY.collect.isRefusal(thrown)
  }
}

/** Brings a CSV to disk, whole: into `.part`, verified, then renamed. Tries until the signal is aborted. Returns its size. */
export async function downloadCsv(options: DownloadOptions): Promise<number> {
  try {
    return await transferCsv(options)
  } catch (thrown) {
    // Half a CSV is no result, and only takes room.
    await rm(partOf(options), { force: true }).catch(() => undefined)
    throw thrown
  }
}

function partOf({ path }: DownloadOptions): string {
  return `${path}.part`
}

async function transferCsv(options: DownloadOptions): Promise<number> {
  const { clock, signal } = options
  const transfer = new Transfer(options)
  let furthest = 0
  const attempt = async (noteProgress: () => void): Promise<number> => {
    for (;;) {
      signal.throwIfAborted()
      if (await transfer.advance()) return transfer.finish()
      // A part brings it further, unless it is the same start again and again.
      if (transfer.bytes > furthest) noteProgress()
      furthest = Math.max(furthest, transfer.bytes)
    }
  }
  const onRetry = (thrown: unknown): void => options.onRetry(messageOf(thrown))
  return retry(attempt, policyOf(options), { clock, signal, onRetry, overWith: lastFailure })
}

function lastFailure(failure: unknown): Error {
  return new Error(`no whole CSV within the time for collecting; the last answer: ${messageOf(failure)}`, {
    cause: failure
  })
}

/** The bytes came and could not be kept. The service is not late, so waiting for it would not help. */
class DiskError extends Error {
  override name = 'DiskError'
}

async function keep<T>(work: Promise<T>): Promise<T> {
  return work.catch((thrown: unknown) => {
    throw new DiskError(
      `the CSV could not be written on this machine: ${messageOf(thrown)}. Make room on its disk`,
      { cause: thrown }
    )
  })
}

/** One CSV on its way: what is there of it, and how large it will be. */
class Transfer {
  readonly #options: DownloadOptions
  readonly #part: string
  #start = new CsvStart()
  #bytes = 0
  /** What came behind them, and is not shown before the next part tells whether it begins a secret. */
  #held: HeldBytes | undefined
  #version: string | undefined
  /** The version has changed since the last reply: so may the size. */
  #isOtherVersion = false
  /** The size that replies so far have told or shown. */
  #total: number | undefined
  /** Of all answers that came to an end: one that is shorter was cut. */
  #largest = 0

  constructor(options: DownloadOptions) {
    this.#options = options
    this.#part = partOf(options)
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Where the next part begins. */
  get #position(): number {
    return this.#bytes + (this.#held?.length ?? 0)
  }

  /** Asks for what is missing. True when nothing is any more; false when a part came, and the next one is to be asked for. */
  async advance(): Promise<boolean> {
    const range =
      this.#position > 0 && this.#version !== undefined
        ? { fromByte: this.#position, version: this.#version, held: this.#held, total: this.#total }
        : undefined
    const reply = await this.#ask(range)
    try {
      // Any other success, such as 202, speaks of a CSV that is still being made.
      if (reply.status !== 200 && reply.status !== 206)
        throw this.#startOver(`the service answered ${reply.status} in place of the CSV`)
      const part = reply.status === 206 ? this.#checkPart(reply, range?.fromByte ?? 0) : undefined
      if (part === undefined || part.fromByte === 0) this.#restart(reply)
      this.#held = undefined
      await this.#receive(reply, part)
      this.#held = reply.body.held
      return part === undefined ? this.#verifyWhole(reply) : this.#verifyPart(part)
    } catch (thrown) {
      // What is no CSV has no rest that could be asked for.
      if (thrown instanceof NotCsvError) this.#version = undefined
      throw thrown
    } finally {
      reply.body.destroy()
    }
  }

  async finish(): Promise<number> {
    await rm(this.#options.path, { force: true })
    await rename(this.#part, this.#options.path)
    return this.#bytes
  }

  async #ask(range: ResultRange | undefined): Promise<Reply> {
    return this.#options.open(range).catch((thrown: unknown) => {
      if (range !== undefined && thrown instanceof RefusedError && thrown.status === 416)
        throw this.#startOver('the service has no rest of the CSV to send')
      throw thrown
    })
  }

  /** A part must begin where it was asked to, and be one of the CSV whose start is already there. */
  #checkPart(reply: Reply, fromByte: number): ContentRange & { total: number } {
    const part = readContentRange(reply.header('content-range'))
    if (part?.fromByte !== fromByte)
      throw this.#startOver('the service sent another part of the CSV than was asked for')
    const known = fromByte === 0 ? undefined : this.#total
    const total = part.total ?? known
    if (total === undefined) throw this.#startOver('the service does not say how large the CSV is')
    if (known !== undefined && total !== known) {
      this.#total = total
      throw this.#startOver(`the size of the CSV changed from ${known} to ${total} bytes`)
    }
    const version = versionOf(reply)
    if (fromByte > 0 && version !== undefined && version !== this.#version)
      throw this.#startOver('the CSV changed while it was downloaded')
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
    this.#bytes = 0
    this.#start = new CsvStart()
    this.#options.tap.restart()
  }

  async #receive(reply: Reply, part: ContentRange | undefined): Promise<void> {
    const encoding = reply.header('content-encoding') ?? 'identity'
    if (encoding !== 'identity') throw this.#refuseEncoding(encoding)
    const file = await keep(open(this.#part, this.#bytes === 0 ? 'w' : 'a'))
    try {
      await this.#write(reply, { file, toByte: part?.toByte ?? Infinity })
    } catch (thrown) {
      if (thrown instanceof NotCsvError || thrown instanceof IncompleteError || thrown instanceof DiskError)
        throw thrown
      if (part === undefined) this.#expect(reply)
      throw new IncompleteError(`the CSV broke off after ${this.#bytes} bytes: ${messageOf(thrown)}`, {
        cause: thrown
      })
    } finally {
      await file.close()
    }
  }

  #refuseEncoding(encoding: string): EncodingError {
    this.#version = undefined
    return new EncodingError(
      `the CSV came in the encoding "${encoding}", which was not asked for (accept-encoding: identity) and cannot be read. Check what stands between this machine and the service`
    )
  }

  async #write(reply: Reply, { file, toByte }: { file: FileHandle; toByte: number }): Promise<void> {
    for await (const chunk of reply.body) {
      if (this.#bytes + chunk.length > toByte + 1)
        throw this.#startOver('the service sent more of the CSV than it says')
      this.#start.push(chunk)
      await keep(file.writeFile(chunk))
      this.#options.tap.push(chunk)
      this.#bytes += chunk.length
    }
  }

  /** A whole CSV that broke off has told how large it will be; an error page has not. */
  #expect(reply: Reply): void {
    const length = reply.header('content-length')
    if (length !== undefined && this.#start.isKnown) this.#total = Number(length)
  }

  #verifyPart({ fromByte, toByte, total }: ContentRange & { total: number }): boolean {
    if (this.#position > toByte + 1) throw this.#startOver('the service sent more of the CSV than it says')
    if (this.#position === fromByte)
      throw this.#startOver('the service sent no bytes of the part it announced')
    if (this.#bytes === total) {
      this.#start.end()
      return true
    }
    if (this.#version === undefined)
      throw this.#startOver(`only ${this.#bytes} of ${total} bytes of the CSV came`)
    return false
  }

  #verifyWhole(reply: Reply): true {
    const length = reply.header('content-length')
    if (this.#bytes === 0) throw new NotCsvError('the CSV is empty')
    if (length !== undefined && Number(length) !== this.#bytes) {
      this.#expect(reply)
      throw new IncompleteError(`the CSV broke off: ${this.#bytes} of ${length} bytes came`)
    }
    this.#start.end()
    const before = this.#total
    const isFramed = length !== undefined || reply.header('transfer-encoding') !== undefined
    this.#total = this.#bytes
    this.#largest = Math.max(this.#largest, this.#bytes)
    const isSame = before === this.#bytes
    if (
      isFramed
        ? isSame || before === undefined || this.#isOtherVersion
        : isSame && this.#bytes === this.#largest
    )
      return true
    // Nothing but the closed connection marks such an end, and a connection can close early: it takes two of one size to believe it.
    throw this.#startOver(
      isFramed
        ? `the CSV had ${before ?? 0} bytes before and has ${this.#bytes} now; it is fetched again to compare`
        : 'the CSV came without its length; it is fetched again to compare'
    )
  }
}

/** A weak version does not promise the same bytes. */
function versionOf(reply: Reply): string | undefined {
  const version = reply.header('etag')
  return version?.startsWith('"') ? version : undefined
}
