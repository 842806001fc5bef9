import type { Dispatcher } from 'undici'
import type { Readable } from 'node:stream'
import { reasonOf } from '../../contract/clock.js'
import { messageOf } from '../../contract/text.js'
import { RedirectError, RefusedError, ServiceError, UnreachableError } from '../errors.js'
import { isConfidential, isLoopback, readContentRange } from './address.js'
import { readErrorText, readText, sendBody, withoutGzip, type RawReply } from './bodies.js'
import { describeErrorBody } from './error-body.js'
import { CONNECT_TIMEOUT_MS, failureOf, type Call } from './failures.js'
import { describeIdToken, type TokenSource } from './id-tokens.js'
import { mayBeProxied } from './proxy.js'
import { Redactor, type ReplyBody } from './redact.js'
import { Agent } from './undici.js'

/** The reply, with the token redacted everywhere. */
export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  text(): Promise<string>
  readonly body: ReplyBody
}

/** A reply with its unredacted redirect target and body, which are never shown. */
interface Received extends Reply {
  readonly location: string | undefined
  readonly raw: Readable
  /** It came long before the request was sent to its end. */
  readonly isEarly: boolean
  /** The token of a source that the request had. */
  readonly idToken: string | undefined
}

const MOST_REDIRECTS = 5
/** For a slow reader. At this limit undici 7 pauses its parser; a connection closed then crashes the process (nodejs/undici#5360). */
const MOST_WAITING_BYTES = 64 * 1024 * 1024

export interface HttpOptions {
  /** An API token, which is sent as the user name of Basic; or a source of others. Only the origin gets them. */
  readonly token: string | TokenSource
  /** What else must be redacted from the service's replies. */
  readonly secrets?: readonly string[] | undefined
  readonly mediaType: string
  readonly origin: string
  /** Whether the service was reached before, by an earlier step: a proxy that does not answer is an outage then. */
  readonly isReached?: boolean | undefined
  readonly dispatcher?: Dispatcher | undefined
}

/** The one place that speaks HTTP: credentials, timeouts, redirects, proxies, and readable errors. */
export class Http {
  readonly #redactor: Redactor
  // One connection per request: a kept-alive socket that the other side has closed would look like a lost reply.
  readonly #direct = new Agent({ pipelining: 0, connect: { timeout: CONNECT_TIMEOUT_MS } })
  #proxied: Promise<Dispatcher> | undefined
  #isReached: boolean

  constructor(private readonly options: HttpOptions) {
    this.#isReached = options.isReached ?? false
    const { token, secrets } = options
    this.#redactor = new Redactor(typeof token === 'string' ? token : '', secrets)
  }

  /** Sends one request and returns a successful reply; anything else is thrown. Redirects are never followed. */
  async call(call: Call): Promise<Reply> {
    const reply = await this.#send(call)
    if (reply.status >= 300) throw await this.#refusalOf(call, reply)
    return reply
  }

  /** Opens a download. Follows a few redirects, over https only, without sending the credentials to other hosts. */
  async download(call: Call): Promise<Reply> {
    let { url } = call
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const reply = await this.#send({ ...call, url })
      const { location } = reply
      if (reply.status < 300 || reply.status >= 400 || location === undefined) {
        if (reply.status >= 300) throw await this.#refusalOf({ ...call, url }, reply)
        return reply
      }
      reply.raw.destroy()
      url = this.#redirected(call.operation, url, location)
      call.onRedirect?.(this.#redactor.text(url.href))
    }
    throw new RedirectError(call.operation, `the service redirected more than ${MOST_REDIRECTS} times`)
  }

  async close(): Promise<void> {
    const proxied = await this.#proxied?.catch(() => undefined)
    await Promise.all([this.#direct.destroy(), proxied?.destroy()])
  }

  async #send(call: Call): Promise<Received> {
    if (!this.#mayReach(call.url))
      throw new ServiceError(
        call.operation,
        `refused to send to ${call.url.origin}: only https (or loopback) is allowed`
      )
    const idToken = await this.#takeIdToken(call)
    const reply = await this.#sendOnce(call, idToken)
    if (reply.status !== 401 || idToken === undefined) return reply
    // It may have ended early, or on the way. A 401 has had no effect, so that anything may be sent again.
    const other = await this.#takeIdToken(call, idToken)
    if (other === idToken) return reply
    reply.raw.destroy()
    return this.#sendOnce(call, other)
  }

  /** Undefined where an API token is sent, or none. */
  async #takeIdToken(call: Call, refused?: string): Promise<string | undefined> {
    const { token: source, origin } = this.options
    if (typeof source === 'string' || call.url.origin !== origin) return undefined
    const { operation, signal } = call
    try {
      const token = await source.take({ refused, signal })
      this.#redactor.learn(token)
      return token
    } catch (cause) {
      if (signal?.aborted) throw reasonOf(signal)
      throw new UnreachableError(operation, this.#redactor.text(messageOf(cause)), { cause, neverSent: true })
    }
  }

  async #sendOnce(call: Call, idToken: string | undefined): Promise<Received> {
    const { stream, isUnsent } = sendBody(call.upload)
    try {
      const dispatcher = await this.#dispatcherFor(call.url)
      const { statusCode, headers, body } = await dispatcher.request({
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: call.method,
        headers: this.#headersFor(call, idToken),
        body: stream,
        headersTimeout: call.responseTimeoutMs,
        bodyTimeout: call.responseTimeoutMs,
        highWaterMark: MOST_WAITING_BYTES,
        // Some GETs of this API have effects; none may be resent automatically.
        idempotent: false,
        ...(call.signal && { signal: call.signal })
      })
      const reply = { status: statusCode, headers, body }
      const decoded = call.method === 'HEAD' ? reply : await withoutGzip(reply)
      return this.#receive(call, decoded, { isEarly: isUnsent(), idToken })
    } catch (thrown) {
      throw this.#failureOf(call, thrown, isUnsent())
    }
  }

  /** The one place where replies come in, and where the token is redacted. */
  #receive(
    call: Call,
    { status, headers, body: raw }: RawReply,
    request: Pick<Received, 'isEarly' | 'idToken'>
  ): Received {
    this.#isReached = true
    // A body that fails after its last reader is gone must not crash the process.
    raw.on('error', () => undefined)
    const redactor = this.#redactor
    let body: ReplyBody | undefined
    const header = (name: string): string | undefined => [headers[name]].flat()[0]
    return {
      status,
      header: (name) => {
        const value = header(name)
        return value === undefined ? undefined : redactor.text(value)
      },
      text: async () =>
        readText(call, raw).then(
          (text) => redactor.text(text),
          (thrown: unknown) => {
            throw this.#failureOf(call, thrown)
          }
        ),
      get body() {
        if (status !== 206) return (body ??= redactor.stream(raw))
        const { held, total } = call.before ?? {}
        return (body ??= redactor.stream(raw, bytesToEnd(header('content-range'), total), held))
      },
      location: header('location'),
      raw,
      ...request
    }
  }

  async #refusalOf(call: Call, reply: Received): Promise<ServiceError> {
    const location = reply.header('location')
    const detail =
      reply.status < 400 && location !== undefined
        ? `a redirect to ${location}, which is not followed; set base-url to the service's own address`
        : describeErrorBody(
            this.#redactor.text(await readErrorText(reply.raw)),
            reply.header('content-type') ?? ''
          )
    return new RefusedError(call.operation, {
      status: reply.status,
      detail,
      location,
      otherHost: call.url.origin === this.options.origin ? undefined : this.#redactor.text(call.url.host),
      requestId: reply.header('x-request-id') ?? reply.header('request-id'),
      retryAfterMs: readRetryAfter(reply.header('retry-after')),
      isLoadgate: isOfLoadgate(reply),
      isEarly: reply.isEarly,
      idToken: reply.idToken === undefined ? undefined : describeIdToken(reply.idToken)
    })
  }

  /** Errors quote the other side's messages and redirect targets. */
  #failureOf(call: Call, thrown: unknown, isEarly = false): Error {
    const redact = (text: string): string => this.#redactor.text(text)
    return failureOf(call, thrown, { redact, isEarly, isReached: this.#isReached })
  }

  #redirected(operation: string, from: URL, location: string): URL {
    if (!URL.canParse(location, from.href))
      throw new RedirectError(operation, 'refused a redirect to an invalid URL')
    const to = new URL(location, from)
    if (!isConfidential(to))
      throw new RedirectError(
        operation,
        `refused a redirect to ${this.#redactor.text(to.origin)}: only https is followed. If it is a sign-in page, check base-url and the token`
      )
    return to
  }

  /** Loopback is allowed only if the service is there too: a reply must not redirect into the runner itself. */
  #mayReach(url: URL): boolean {
    return isConfidential(url) && (!isLoopback(url) || isLoopback(new URL(this.options.origin)))
  }

  #headersFor(call: Call, idToken: string | undefined): Record<string, string> {
    const { mediaType, origin, token } = this.options
    const authorization = typeof token === 'string' ? basicAuthorization(token) : `Bearer ${idToken}`
    return {
      accept: mediaType,
      // Without it a service may choose any encoding.
      'accept-encoding': 'identity',
      'user-agent': 'loadgate',
      ...(call.url.origin === origin && { authorization }),
      ...(call.upload && {
        'content-type': call.upload.contentType,
        'content-length': String(call.upload.length)
      }),
      ...call.headers
    }
  }

  async #dispatcherFor(url: URL): Promise<Dispatcher> {
    if (this.options.dispatcher !== undefined) return this.options.dispatcher
    if (!mayBeProxied(url)) return this.#direct
    return (this.#proxied ??= import('./proxy-agent.js').then(({ openProxyAgent }) =>
      openProxyAgent({ connect: { timeout: CONNECT_TIMEOUT_MS } })
    ))
  }
}

export function isOfLoadgate(reply: Pick<Reply, 'header'>): boolean {
  return reply.header('x-loadgate-version') !== undefined
}

/** The value of the Basic header for a token as user name and an empty password; it is a secret like the token. */
export function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`${token}:`).toString('base64')}`
}

/** A part may end anywhere, even within a secret; only the last part has nothing after it. */
function bytesToEnd(contentRange: string | undefined, total = Infinity): number {
  const range = readContentRange(contentRange)
  return (range?.total ?? total) - (range?.fromByte ?? 0)
}

/** `Retry-After` comes as seconds or as a date. */
export function readRetryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
