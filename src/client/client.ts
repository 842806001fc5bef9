import { Readable } from 'node:stream'
import type { Account, Grid, Report, Run, RunPage } from '../contract/api.js'
import { messageOf, shorten } from '../contract/text.js'
import type { Vocabulary } from '../contract/vocabulary.js'
import { findApi } from './find-api.js'
import { type Address, atOwnAddress, otherRunIn, resolveLink } from './http/address.js'
import { orAborted, type Clock } from '../contract/clock.js'
import { MalformedReplyError, ServiceError, UnsentError } from './errors.js'
import { Http, isOfLoadgate, type HttpOptions, type Reply } from './http/http.js'
import type { Call } from './http/failures.js'
import { multipartOf } from './http/multipart.js'
import { REDACTED, type PartsBefore } from './http/redact.js'
import {
  type GridSpecification,
  type RunRequest,
  gridFields,
  placeOf,
  runFields
} from './documents/requests.js'
import { OPERATIONS, retry, type Sending } from './retry.js'
import { parseReply } from './documents/parse-reply.js'
import type { DecodeReply, ReplyName, ReplyOf } from './documents/replies.js'

export interface ClientOptions extends Omit<HttpOptions, 'mediaType' | 'origin'> {
  readonly address: Address
  readonly words: Vocabulary
  readonly clock: Clock
  /**
   * Told where the API was found, before the operation that needed to know is sent; what it throws ends the operation. With a `doubt`, it
   * was not found, which is reported once, and the address is used as written.
   */
  readonly onAddress?: ((api: string, doubt?: string) => void) | undefined
  /** Told once what the service warns of, such as that the token ends soon. */
  readonly onWarning?: ((words: string) => void) | undefined
}

/** They need the library of schemas, which takes longer to load than what a step does until its first request. */
const loadReplies = () => import('./documents/replies.js')

interface Op extends Pick<Call, 'operation' | 'upload' | 'signal'> {
  readonly as: keyof typeof OPERATIONS
  readonly method?: Call['method']
  /** Asked for when it is sent: by then it is known where the API is. */
  readonly url: () => URL
}

/** The part of a CSV to request: what follows the bytes already downloaded. */
export interface ResultRange extends PartsBefore {
  readonly fromByte: number
  /** The ETag of the bytes already downloaded: another version is sent from the start. */
  readonly version: string | undefined
}

const LONGEST_WARNING = 300
const CSV = { accept: 'text/csv, */*;q=0.1' }

interface HandedThresholds {
  readonly thresholds: readonly string[]
  readonly warmUpSeconds: number
  /** Left out where it is the default: an older service does not know it. */
  readonly onStall?: string
}

export class ServiceClient {
  #address: Address
  #looking: Promise<void> | undefined
  readonly #closing = new AbortController()
  readonly #onAddress: ClientOptions['onAddress']
  readonly #onWarning: ClientOptions['onWarning']
  #latestWarning = ''
  readonly #words: Vocabulary
  #decode: DecodeReply | undefined
  readonly #clock: Clock
  readonly #http: Http
  /** The error of the latest request, also of one that is being retried; undefined once there was a good reply. */
  lastFailure: ServiceError | undefined
  /** Whether nothing has answered as the API does: a 404 or an empty reply says nothing then. */
  isDoubtful = false
  /** Whether a reply said that the service is a loadgate: others know nothing of thresholds. */
  isLoadgate = false
  /** When the service sent its latest reply, by its own clock; undefined if it does not say. */
  latestReplyMs: number | undefined
  /** The latest document as the service sent it, without the token. */
  latestBody = ''

  constructor({ address, words, clock, onAddress, onWarning, ...options }: ClientOptions) {
    this.#address = address
    this.#onAddress = onAddress
    this.#onWarning = onWarning
    this.#clock = clock
    this.#words = words
    this.#http = new Http({ ...options, mediaType: words.mediaType, origin: address.origin })
  }

  async createGrid(grid: GridSpecification, signal?: AbortSignal): Promise<Grid> {
    const operation = `creating a grid in ${placeOf(grid)}`
    const upload = await multipartOf(operation, gridFields(grid), [])
    const url = (): URL => this.#url('grids')
    return this.#read({ as: 'createGrid', operation, method: 'POST', url, upload, signal }, 'madeGrid')
  }

  async showGrid(id: string, signal?: AbortSignal): Promise<Grid> {
    const url = (): URL => this.#url('grids', id)
    const op = { as: 'showGrid', operation: `reading grid ${id}`, url, signal } as const
    return this.#read(op, 'grid', about('grid', id))
  }

  /** Undefined if the service answers 204 without a body, its general rule for DELETE. */
  async terminateGrid(id: string, signal?: AbortSignal): Promise<Grid | undefined> {
    const operation = `terminating grid ${id}`
    const url = (): URL => this.#url('grids', id)
    return this.#ask(
      { as: 'terminateGrid', operation, method: 'DELETE', url, signal },
      async (reply, decode) => {
        this.latestBody = await reply.text()
        if (this.latestBody.trim() === '') {
          if (!this.isDoubtful) return undefined
          throw new MalformedReplyError(
            operation,
            'the reply is empty, and the API was not found at this address'
          )
        }
        return about('grid', id)(decode('grid', this.latestBody, operation), operation)
      }
    )
  }

  async createRun(run: RunRequest, signal?: AbortSignal): Promise<Run> {
    const operation = 'creating the run'
    const files = run.files.map((path) => ({ name: `${this.#words.files}[]`, path }))
    const upload = await multipartOf(operation, runFields(run, this.#words), files)
    const url = (): URL => this.#runUrl()
    const op = { as: 'createRun', operation, method: 'POST', url, upload, signal } as const
    return this.#read(op, 'madeRun')
  }

  async showRun(id: string, signal?: AbortSignal): Promise<Run> {
    const url = (): URL => this.#runUrl(id)
    const op = { as: 'showRun', operation: `reading run ${id}`, url, signal } as const
    return this.#read(op, 'run', about('run', id))
  }

  async stopRun(id: string, signal?: AbortSignal): Promise<Run> {
    const url = (): URL => this.#runUrl(id, 'stop')
    const op = { as: 'stopRun', operation: `stopping run ${id}`, url, signal } as const
    return this.#read(op, 'run', about('run', id))
  }

  /** An addition to the API: only for a loadgate. */
  async pinRun(id: string, signal?: AbortSignal): Promise<Run> {
    return this.#setPinned(id, 'pin', signal)
  }

  async unpinRun(id: string, signal?: AbortSignal): Promise<Run> {
    return this.#setPinned(id, 'unpin', signal)
  }

  #setPinned(id: string, verb: 'pin' | 'unpin', signal: AbortSignal | undefined): Promise<Run> {
    const url = (): URL => this.#runUrl(id, verb)
    const op = { as: 'pinRun', operation: `${verb}ning run ${id}`, method: 'POST', url, signal } as const
    return this.#read(op, 'run', about('run', id))
  }

  async repeatRun(id: string, signal?: AbortSignal): Promise<Run> {
    const url = (): URL => this.#runUrl(id, 'repeat')
    const op = { as: 'repeatRun', operation: `repeating run ${id}`, url, signal } as const
    return this.#read(op, 'madeRun', (run, operation) => {
      if (run.id !== id) return run
      throw new MalformedReplyError(operation, 'the reply is about the repeated run, not about a new one')
    })
  }

  /** Hands a run's thresholds over, for its page. An addition to the API: only for a loadgate. */
  async setThresholds(
    id: string,
    { thresholds, warmUpSeconds, onStall }: HandedThresholds,
    signal?: AbortSignal
  ): Promise<void> {
    const body = Buffer.from(JSON.stringify({ thresholds, warm_up: warmUpSeconds, on_stall: onStall }))
    const upload = { contentType: 'application/json', length: body.length, open: () => Readable.from([body]) }
    const url = (): URL => this.#runUrl(id, 'thresholds')
    const operation = `sending the thresholds of run ${id}`
    // Whether it worked says nothing about the service that the run's own requests would not say.
    const call = callOf({ as: 'setThresholds', operation, method: 'PUT', url, upload, signal })
    await (await this.#http.call(call)).text()
  }

  /** One page of the list: the first one, or the one that a page's `next` link points to. */
  async listRuns(page?: string, signal?: AbortSignal): Promise<RunPage> {
    const operation = 'listing the runs'
    const next = page === undefined ? undefined : this.#link(operation, page)
    const url = (): URL => next ?? this.#runUrl()
    return this.#read({ as: 'listRuns', operation, url, signal }, 'runPage')
  }

  async report(id: string, signal?: AbortSignal): Promise<Report> {
    const operation = `reading the report of run ${id}`
    const url = (): URL => this.#runUrl(id, 'report')
    return this.#read({ as: 'report', operation, url, signal }, 'report')
  }

  /** The link to a grid's CSV if the run's reply has none. */
  resultHref(runId: string, gridId: string): string {
    return `/api/${this.#words.runs}/${runId}/result.csv?grid_id=${gridId}`
  }

  /** Opens a grid's CSV, unless its link or a redirect names another run than the given one; the caller reads and verifies the bytes. */
  async openResult(
    href: string,
    options: { range?: ResultRange | undefined; signal?: AbortSignal; runId?: string } = {}
  ): Promise<Reply> {
    const { range, runId } = options
    const operation = 'downloading a result CSV'
    const refuseOther = (verb: string, link: string): void => {
      const other = runId === undefined ? undefined : otherRunIn(link, runId, this.#words)
      if (other !== undefined) throw new Error(`its link ${verb} another run, ${other}, and was not followed`)
    }
    refuseOther('names', href)
    const url = (): URL => this.#link(operation, href)
    return this.#http.download({
      ...callOf({ as: 'result', operation, url, signal: options.signal }),
      headers: {
        ...CSV,
        ...(range && {
          range: `bytes=${range.fromByte}-`,
          ...(range.version !== undefined && { 'if-range': range.version })
        })
      },
      onRedirect: (target) => refuseOther('redirects to', target),
      before: range
    })
  }

  /** The current size of a grid's CSV, from its headers alone; undefined if they do not say. */
  async resultSize(href: string, signal?: AbortSignal): Promise<number | undefined> {
    const operation = 'checking the size of a result CSV'
    const url = (): URL => this.#link(operation, href)
    const call = callOf({ as: 'result', operation, method: 'HEAD', url, signal })
    const reply = await this.#http.download({ ...call, headers: CSV })
    reply.body.destroy()
    const isPlain = (reply.header('content-encoding') ?? 'identity') === 'identity'
    const isPage = /html|json/i.test(reply.header('content-type') ?? '')
    const length = reply.header('content-length')
    return reply.status === 200 && isPlain && !isPage && length !== undefined ? Number(length) : undefined
  }

  async account(signal?: AbortSignal): Promise<Account> {
    const url = (): URL => this.#url('account')
    return this.#read({ as: 'account', operation: 'reading the account', url, signal }, 'account')
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#http.close()
  }

  async #read<Name extends ReplyName>(
    op: Op,
    name: Name,
    check?: (document: ReplyOf<Name>, operation: string) => ReplyOf<Name>
  ): Promise<ReplyOf<Name>> {
    return this.#ask(op, async (reply, decode) => {
      this.latestBody = await reply.text()
      const document = decode(name, this.latestBody, op.operation)
      this.isDoubtful = false
      return check === undefined ? document : check(document, op.operation)
    })
  }

  /** A reply counts once it is read completely: one that breaks off or makes no sense is retried, if that is allowed. */
  async #ask<T>(op: Op, take: (reply: Reply, decode: DecodeReply) => Promise<T>): Promise<T> {
    const attempt = async (): Promise<T> => {
      try {
        await this.#findApi(op)
        // Before it is sent: what cannot be loaded has had no effect.
        this.#decode ??= (await loadReplies()).replyDecoder(this.#words)
        const decode = this.#decode
        const call = callOf(op)
        const reply = await this.#http.call(call)
        if (call.url.origin === this.#address.origin) {
          this.#noteService(reply)
          this.latestReplyMs = Date.parse(reply.header('date') ?? '') || this.latestReplyMs
        }
        const taken = await take(reply, decode)
        this.lastFailure = undefined
        this.#stayHere()
        return taken
      } catch (thrown) {
        if (thrown instanceof ServiceError) this.lastFailure = thrown
        throw thrown
      }
    }
    const { retry: policy }: Sending = OPERATIONS[op.as]
    return policy === undefined
      ? attempt()
      : retry(attempt, policy, { clock: this.#clock, signal: op.signal })
  }

  /** Finds the API before anything is noted as requested; what it throws has had no effect. */
  async findApi(operation: string, signal?: AbortSignal): Promise<void> {
    await this.#findApi({ as: 'createRun', operation, signal }).catch((thrown: unknown) => {
      if (thrown instanceof ServiceError) this.lastFailure = thrown
      throw thrown
    })
  }

  /**
   * Part of each attempt until the API is found: a service that is down is retried as the operation itself is, and reported in the same
   * words. If it stays unclear, the request goes to the address as written; what creates something, and whatever succeeds, fixes that
   * address, so that nothing is ever created at two.
   */
  async #findApi({ as, operation, signal }: Pick<Op, 'as' | 'operation' | 'signal'>): Promise<void> {
    if (this.#address.isKnown) return
    const { creates = false }: Sending = OPERATIONS[as]
    this.#looking ??= this.#lookForApi(operation, creates).finally(() => (this.#looking = undefined))
    await orAborted(this.#looking, signal)
    if (creates) this.#stayHere()
  }

  #stayHere(): void {
    this.#address = { ...this.#address, isKnown: true }
  }

  #moveTo(address: Address, operation: string): void {
    // Something may have been created meanwhile.
    if (this.#address.isKnown) return
    try {
      this.#onAddress?.(address.api)
    } catch (cause) {
      throw new UnsentError(operation, messageOf(cause), { cause })
    }
    this.isDoubtful = false
    this.#address = { ...address, isKnown: true }
  }

  async #lookForApi(operation: string, isPatient: boolean): Promise<void> {
    const read = async (url: URL, signal: AbortSignal): Promise<unknown> => {
      const reply = await this.#http.call(callOf({ as: 'findApi', operation, url: () => url, signal }))
      if (url.origin === this.#address.origin) this.#noteService(reply)
      return parseReply(operation, await reply.text())
    }
    const look = { operation, isPatient, clock: this.#clock, signal: this.#closing.signal, read }
    const result = await findApi(this.#address, look)
    if ('found' in result) {
      this.#moveTo(result.found, operation)
      return
    }
    if (!this.isDoubtful) this.#onAddress?.(this.#address.api, result.doubt)
    this.isDoubtful = true
  }

  #noteService(reply: Reply): void {
    this.isLoadgate ||= isOfLoadgate(reply)
    const warning = shorten(reply.header('x-loadgate-warning') ?? '', LONGEST_WARNING)
    if (warning === '' || warning === this.#latestWarning) return
    this.#latestWarning = warning
    this.#onWarning?.(warning)
  }

  #link(operation: string, href: string): URL {
    try {
      const link = withoutRedacted(resolveLink(this.#address, href, this.#words))
      return this.isLoadgate ? atOwnAddress(this.#address, link, this.#words) : link
    } catch (cause) {
      throw new MalformedReplyError(operation, 'the link is not a valid URL', { cause })
    }
  }

  #runUrl(...segments: string[]): URL {
    return this.#url(this.#words.runs, ...segments)
  }

  #url(...segments: string[]): URL {
    return new URL([this.#address.api, ...segments.map(encodeURIComponent)].join('/'))
  }
}

/** The status of another run or grid says nothing about this one: replies get mixed up in transit, and in caches. */
function about(kind: 'run' | 'grid', id: string) {
  return <T extends { readonly id: string }>(document: T, operation: string): T => {
    if (document.id === id) return document
    throw new MalformedReplyError(operation, `the reply is about another ${kind}, ${document.id}`)
  }
}

/** A link that contained the token is followed without it: the request has it in its header. */
function withoutRedacted(url: URL): URL {
  for (const [name, value] of [...url.searchParams])
    if (value.includes(REDACTED)) url.searchParams.delete(name, value)
  return url
}

function callOf({ as, method = 'GET', url, ...call }: Op): Call {
  return { ...call, method, url: url(), responseTimeoutMs: OPERATIONS[as].responseTimeoutMs }
}
