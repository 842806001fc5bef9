import { Agent, EnvHttpProxyAgent, errors, request as send } from 'undici'
import type { Dispatcher } from 'undici'
import { Readable } from 'node:stream'
import { isConfidential, isLoopback } from './address.js'
import { reasonOf } from './clock.js'
import { describeErrorBody } from './error-body.js'
import {
  CertificateError,
  MalformedReplyError,
  RefusedError,
  ServiceError,
  UnreachableError
} from './errors.js'

/** A body that can be made anew for each attempt, with its length known before the first byte. */
export interface Upload {
  readonly contentType: string
  readonly length: number
  open(): AsyncIterable<Uint8Array>
}

export interface Call {
  /** What is being attempted, in words: "creating the run". */
  readonly operation: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'DELETE'
  readonly url: URL
  readonly upload?: Upload
  /** How long the service may take to begin its answer, and between two pieces of it. */
  readonly patienceMs: number
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface Reply {
  readonly status: number
  header(name: string): string | undefined
  /** The whole body, for replies of modest size. */
  text(): Promise<string>
  readonly body: Readable
}

const CONNECT_TIMEOUT_MS = 30_000
const LARGEST_JSON_BYTES = 32 * 1024 * 1024
const MOST_ERROR_BYTES = 256 * 1024
const MOST_REDIRECTS = 5

/** Codes of failures that come before the request's first byte has left. */
const NEVER_SENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_\w+)$/
const NOT_TRUSTED = /^(CERT_\w+|UNABLE_TO_\w+|DEPTH_ZERO_\w+|SELF_SIGNED_\w+|ERR_TLS_\w+)$/

/** The one place that speaks HTTP: credentials, time-outs, redirects, proxies, and errors with words. */
export class Http {
  readonly #token: string
  readonly #authorization: string
  readonly #accept: string
  readonly #origin: string
  // A connection each: a kept-alive socket that the other side has closed would look like a lost reply.
  readonly #direct = new Agent({ pipelining: 0, connect: { timeout: CONNECT_TIMEOUT_MS } })
  #proxied: Dispatcher | undefined

  constructor(options: { token: string; mediaType: string; origin: string }) {
    this.#token = options.token
    this.#authorization = basicAuthorization(options.token)
    this.#accept = options.mediaType
    this.#origin = options.origin
  }

  /** Sends one request and returns a successful reply; anything else is thrown. Redirects are never followed. */
  async call(call: Call): Promise<Reply> {
    const reply = await this.#send(call)
    if (reply.status >= 300) throw await this.#refusalOf(call, reply)
    return reply
  }

  /** Opens a download. Redirects are followed, a few of them, over https only, with credentials kept at home. */
  async download(call: Call): Promise<Reply> {
    let { url } = call
    for (let hops = 0; hops <= MOST_REDIRECTS; hops++) {
      const reply = await this.#send({ ...call, url })
      const location = reply.header('location')
      if (reply.status < 300 || reply.status >= 400 || location === undefined) {
        if (reply.status >= 300) throw await this.#refusalOf(call, reply)
        return reply
      }
      reply.body.destroy()
      url = redirected(call.operation, url, location)
    }
    throw new ServiceError(call.operation, `the service redirected more than ${MOST_REDIRECTS} times`)
  }

  async close(): Promise<void> {
    await Promise.all([this.#direct.destroy(), this.#proxied?.destroy()])
  }

  async #send(call: Call): Promise<Reply> {
    if (!this.#mayReach(call.url))
      throw new ServiceError(
        call.operation,
        `refused to send to ${call.url.origin}: only https (or loopback) is used`
      )
    try {
      const { statusCode, headers, body } = await send(call.url, {
        dispatcher: this.#dispatcherFor(call.url),
        method: call.method,
        headers: this.#headersFor(call),
        body: call.upload ? Readable.from(call.upload.open(), { objectMode: false }) : null,
        headersTimeout: call.patienceMs,
        bodyTimeout: call.patienceMs,
        // Some GETs of this API have effects; none is ever sent twice behind our back.
        idempotent: false,
        ...(call.signal && { signal: call.signal })
      })
      return replyOf(call, { status: statusCode, headers, body })
    } catch (thrown) {
      throw failureOf(call, thrown)
    }
  }

  async #refusalOf(call: Call, reply: Reply): Promise<ServiceError> {
    const location = reply.header('location')
    const detail =
      reply.status < 400 && location !== undefined
        ? `a redirect to ${this.#redact(location)}, which is not followed here; set base-url to the service's own address`
        : describeErrorBody(this.#redact(await readStart(reply.body)), reply.header('content-type') ?? '')
    return new RefusedError(call.operation, {
      status: reply.status,
      detail,
      requestId: reply.header('x-request-id') ?? reply.header('request-id'),
      retryAfterMs: readRetryAfter(reply.header('retry-after'))
    })
  }

  /** Masks cover logs only, and what a service says of a wrong token goes into files too. */
  #redact(text: string): string {
    const secrets = [this.#authorization.slice('Basic '.length), this.#token].filter(
      (secret) => secret !== ''
    )
    return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text)
  }

  /** What lies on this machine is reached only when the service does too: a reply must not lead into the runner itself. */
  #mayReach(url: URL): boolean {
    return isConfidential(url) && (!isLoopback(url) || isLoopback(new URL(this.#origin)))
  }

  #headersFor(call: Call): Record<string, string> {
    return {
      accept: this.#accept,
      'user-agent': 'loadgate',
      ...(call.url.origin === this.#origin && { authorization: this.#authorization }),
      ...(call.upload && {
        'content-type': call.upload.contentType,
        'content-length': String(call.upload.length)
      }),
      ...call.headers
    }
  }

  #dispatcherFor(url: URL): Dispatcher {
    const { http_proxy, HTTP_PROXY, https_proxy, HTTPS_PROXY } = process.env
    if (isLoopback(url) || !(http_proxy || HTTP_PROXY || https_proxy || HTTPS_PROXY)) return this.#direct
    this.#proxied ??= new EnvHttpProxyAgent({ pipelining: 0, connect: { timeout: CONNECT_TIMEOUT_MS } })
    return this.#proxied
  }
}

/** The value of the Basic header for a token as user name and an empty password; it is a secret like the token. */
export function basicAuthorization(token: string): string {
  return `Basic ${Buffer.from(`${token}:`).toString('base64')}`
}

function redirected(operation: string, from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new ServiceError(operation, 'refused a redirect to no address')
  const to = new URL(location, from)
  if (!isConfidential(to))
    throw new ServiceError(operation, `refused a redirect to ${to.origin}: only https is followed`)
  return to
}

interface RawReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: Readable
}

function replyOf(call: Call, raw: RawReply): Reply {
  // A body that fails after its last reader has gone must not bring the process down.
  raw.body.on('error', () => undefined)
  return {
    status: raw.status,
    header: (name) => [raw.headers[name]].flat()[0],
    text: () => readText(call, raw.body),
    body: raw.body
  }
}

async function readText(call: Call, body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > LARGEST_JSON_BYTES)
        throw new MalformedReplyError(call.operation, `the reply is larger than ${LARGEST_JSON_BYTES} bytes`)
      chunks.push(chunk)
    }
  } catch (thrown) {
    throw failureOf(call, thrown)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** As much of an error's body as anybody would read; what breaks off is taken as far as it came. */
async function readStart(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MOST_ERROR_BYTES) break
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).subarray(0, MOST_ERROR_BYTES).toString('utf8')
}

/** `Retry-After` comes as seconds or as a date. */
export function readRetryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined) return undefined
  if (/^\d+$/.test(value.trim())) return Number(value) * 1000
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}

function failureOf(call: Call, thrown: unknown): Error {
  if (call.signal?.aborted) return reasonOf(call.signal)
  if (thrown instanceof ServiceError) return thrown
  const { code = '', message = String(thrown) } = Object(thrown) as Partial<NodeJS.ErrnoException>
  if (NOT_TRUSTED.test(code))
    return new CertificateError(
      call.operation,
      `the certificate of ${call.url.host} is not trusted: ${message} (${code}). If an authority of your own has signed it, name its certificate in NODE_EXTRA_CA_CERTS`,
      { cause: thrown }
    )
  return new UnreachableError(call.operation, describeFailure(call, code, message), {
    cause: thrown,
    // A proxy that makes no tunnel keeps the request as well.
    neverSent: NEVER_SENT.test(code) || message.startsWith('Proxy response')
  })
}

function describeFailure(call: Call, code: string, message: string): string {
  const seconds = Math.round(call.patienceMs / 1000)
  switch (code) {
    case new errors.HeadersTimeoutError().code:
      return `${call.url.host} gave no answer within ${seconds} s`
    case new errors.BodyTimeoutError().code:
      return `the answer of ${call.url.host} stalled for ${seconds} s`
    case new errors.ConnectTimeoutError().code:
      return `no connection to ${call.url.host} within ${CONNECT_TIMEOUT_MS / 1000} s`
    case 'ECONNREFUSED':
      return `${call.url.host} refused the connection. Check base-url`
    case 'ENOTFOUND':
      return `the host ${call.url.hostname} is not known. Check base-url`
    default:
      return `the connection to ${call.url.host} failed: ${message}${code && !message.includes(code) ? ` (${code})` : ''}`
  }
}
