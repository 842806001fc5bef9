import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { ResultRange } from '../service/client.js'
import type { Clock } from '../service/clock.js'
import { describeErrorBody } from '../service/error-body.js'
import { RefusedError, isNotReady } from '../service/errors.js'
import type { Reply } from '../service/http.js'
import { pauseBefore } from '../service/retries.js'
import { messageOf } from './trouble.js'

export interface DownloadOptions {
  readonly open: (range: ResultRange | undefined) => Promise<Reply>
  readonly path: string
  readonly clock: Clock
  /** Aborted when the time for collecting is over. */
  readonly signal: AbortSignal
  /** Sees the bytes as they arrive; `restart` when they begin anew. */
  readonly tap: { restart(): void; push(chunk: Uint8Array): void }
  readonly onRetry: (reason: string) => void
}

/** The bytes came to an end that cannot be trusted. */
class IncompleteError extends Error {
  override name = 'IncompleteError'
}

/** What came is no CSV: the service has it not ready, or answers with an error page. */
class NotCsvError extends Error {
  override name = 'NotCsvError'
}

const LONGEST_PAUSE_ATTEMPT = 6

/** Brings a CSV to disk, whole: into `.part`, verified, then renamed. Tries until the signal is aborted. Returns its size. */
export async function downloadCsv(options: DownloadOptions): Promise<number> {
  const transfer = new Transfer(options)
  let failure: unknown
  for (let attempt = 1; ; attempt++) {
    try {
      options.signal.throwIfAborted()
      return await transfer.attempt()
    } catch (thrown) {
      if (options.signal.aborted) throw lastFailure(failure ?? thrown)
      if (!isWorthWaiting(thrown)) throw thrown
      failure = thrown
      options.onRetry(messageOf(thrown))
    }
    const pauseMs = pauseBefore(Math.min(attempt, LONGEST_PAUSE_ATTEMPT), failure)
    await options.clock.sleep(pauseMs, options.signal).catch(() => undefined)
  }
}

function lastFailure(failure: unknown): Error {
  return new Error(`no whole CSV within the time for collecting; the last answer: ${messageOf(failure)}`, {
    cause: failure
  })
}

function isWorthWaiting(thrown: unknown): boolean {
  return thrown instanceof IncompleteError || thrown instanceof NotCsvError || isNotReady(thrown)
}

class Transfer {
  readonly #options: DownloadOptions
  readonly #part: string
  #bytes = 0
  #version: string | undefined
  /** The size of an earlier body that only the closed connection ended. */
  #unconfirmedBytes: number | undefined

  constructor(options: DownloadOptions) {
    this.#options = options
    this.#part = `${options.path}.part`
  }

  async attempt(): Promise<number> {
    const range =
      this.#bytes > 0 && this.#version !== undefined
        ? { fromByte: this.#bytes, version: this.#version }
        : undefined
    const reply = await this.#ask(range)
    const isResumed = reply.status === 206
    const file = await open(this.#part, isResumed ? 'a' : 'w')
    try {
      if (!isResumed) this.#restart(reply)
      await this.#receive(reply, file)
    } finally {
      reply.body.destroy()
      await file.close()
    }
    this.#verify(reply, isResumed ? (range?.fromByte ?? 0) : 0)
    await rm(this.#options.path, { force: true })
    await rename(this.#part, this.#options.path)
    return this.#bytes
  }

  /** A reply that starts where it was asked to: at the beginning, or behind the bytes already had. */
  async #ask(range: ResultRange | undefined): Promise<Reply> {
    const reply = await this.#options.open(range).catch((thrown: unknown) => {
      if (range !== undefined && thrown instanceof RefusedError && thrown.status === 416)
        throw this.#startOver('the service has no rest of the CSV to send')
      throw thrown
    })
    if (reply.status !== 206 || startOf(reply) === range?.fromByte) return reply
    reply.body.destroy()
    throw this.#startOver('the service sent another part of the CSV than was asked for')
  }

  #startOver(reason: string): IncompleteError {
    this.#version = undefined
    return new IncompleteError(reason)
  }

  #restart(reply: Reply): void {
    this.#bytes = 0
    this.#version = reply.header('etag')?.startsWith('"') ? reply.header('etag') : undefined
    this.#options.tap.restart()
  }

  async #receive(reply: Reply, file: FileHandle): Promise<void> {
    const encoding = reply.header('content-encoding') ?? 'identity'
    if (encoding !== 'identity')
      throw new NotCsvError(`the CSV came in the encoding ${encoding}, which was not asked for`)
    try {
      for await (const chunk of reply.body as AsyncIterable<Buffer>) {
        if (this.#bytes === 0) assertCsv(chunk, reply.header('content-type') ?? '')
        await file.writeFile(chunk)
        this.#options.tap.push(chunk)
        this.#bytes += chunk.length
      }
    } catch (thrown) {
      if (thrown instanceof NotCsvError) throw thrown
      throw new IncompleteError(`the CSV broke off after ${this.#bytes} bytes: ${messageOf(thrown)}`, {
        cause: thrown
      })
    }
  }

  #verify(reply: Reply, fromByte: number): void {
    const length = reply.header('content-length')
    const received = this.#bytes - fromByte
    if (this.#bytes === 0) throw new NotCsvError('the CSV is empty')
    if (length !== undefined && Number(length) !== received)
      throw new IncompleteError(`the CSV broke off: ${received} of ${length} bytes came`)
    if (length !== undefined || reply.header('transfer-encoding') !== undefined) return
    // Nothing but the closed connection marks this end, and a connection can close early: it takes two of one size to believe it.
    const isConfirmed = this.#unconfirmedBytes === this.#bytes
    this.#unconfirmedBytes = this.#bytes
    if (!isConfirmed) throw this.#startOver('the CSV came without its length; it is fetched again to compare')
  }
}

function startOf(reply: Reply): number {
  const range = /^bytes (\d+)-/.exec(reply.header('content-range') ?? '')
  return range ? Number(range[1]) : -1
}

/** A missing result is answered with JSON or a page at the very address of the CSV. */
function assertCsv(chunk: Buffer, contentType: string): void {
  const start = chunk
    .subarray(0, 2048)
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .trimStart()
  const isMarkup = start.startsWith('<') || contentType.includes('html')
  const isJson = start.startsWith('{') || start.startsWith('[') || contentType.includes('json')
  if (isMarkup || isJson)
    throw new NotCsvError(
      `${isJson ? 'JSON' : 'a page'} came where a CSV was due: ${describeErrorBody(start, contentType)}`
    )
}
