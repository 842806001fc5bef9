import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { Server as SecureServer } from 'node:https'
import { type AddressInfo, isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { stat, readFile } from 'node:fs/promises'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { createRangeCheck, isLoopback, plainAddress } from '../config/addresses.js'
import { ConfigProblem, type ServiceConfig } from '../config/config.js'
import type { Clock } from '../../contract/clock.js'
import { RequestError, clauseOf } from '../errors.js'
import { checkOrigin, type Front, plainCookie, explainListen } from './front.js'
import { limitedOptions, limitServer, DEFAULT_LIMITS, type Limits } from './limits.js'
import { createSecureServer, redirectTo } from './secure-server.js'

interface FrontParts {
  readonly clock: Clock
  readonly log: (line: string) => void
  /** In replies that no route gives. */
  readonly headers?: Readonly<Record<string, string>>
  readonly limits?: Limits
}

interface PublicFront extends Front {
  /** The address and port on this machine; known once it listens. */
  listening(): string
}

type Reach = Pick<ServiceConfig, 'listen' | 'externalUrl' | 'tls' | 'trustedProxies'>

/** As the config file says: https, plain HTTP behind a proxy that serves https, or plain HTTP on loopback. */
export async function createPublicFront(config: Reach, parts: FrontParts): Promise<PublicFront> {
  const { listen, externalUrl, tls, trustedProxies } = config
  const { clock, log, headers = {}, limits = DEFAULT_LIMITS } = parts
  const isTrusted = createRangeCheck(trustedProxies ?? [])
  const isSecure = tls !== undefined || trustedProxies !== undefined
  const pair = tls && (await readCertificate(tls))
  let port = listen.port
  const baseUrl = (): string => externalUrl ?? addressOf(listen.host, port, isSecure)
  return {
    settings: {
      ...(trustedProxies && { trustProxy: [...trustedProxies] }),
      serverFactory: (handler) => {
        const server = pair
          ? createSecureServer(handler, { pair, limits, baseUrl, headers })
          : createServer(limitedOptions(limits), handler)
        limitServer(server, { limits, isExempt: (address) => isLoopback(address) || isTrusted(address) })
        if (trustedProxies) tidyForwardedFor(server)
        return server
      }
    },
    prepare: (app) => {
      if (trustedProxies) requireProxy(app, { isTrusted, baseUrl, log })
    },
    listen: async (app) => {
      await listenAt(app, listen, (host) => `listening at ${host}; callers reach the service at ${baseUrl()}`)
      port = (app.server.address() as AddressInfo).port
      if (tls && pair) await followCertificate(app, { ...tls, pair, clock, log })
    },
    baseUrl,
    listening: () => `${bracket(listen.host)}:${port}`,
    check: (request) => checkOrigin(request, [baseUrl(), `${request.protocol}://${request.host}`]),
    // Bound to the host, so that no other one can set it.
    cookie: () =>
      isSecure
        ? { name: '__Host-loadgate', attributes: 'Path=/; Secure; HttpOnly; SameSite=Strict' }
        : plainCookie(port)
  }
}

async function followCertificate(
  app: FastifyInstance,
  watch: Omit<Parameters<typeof watchCertificate>[0], 'onChange'>
): Promise<void> {
  const server = app.server as SecureServer
  const stop = await watchCertificate({ ...watch, onChange: (pair) => server.setSecureContext(pair) })
  server.once('close', stop)
}

async function listenAt(
  app: FastifyInstance,
  { host, port }: Reach['listen'],
  text: (host: string) => string
): Promise<void> {
  try {
    await app.listen({
      // The web framework would open a second server for the other address of this name.
      ...{ port, host: host === 'localhost' ? '127.0.0.1' : host },
      // The framework would say http; once for each address of this machine.
      listenTextResolver: (address) => text(new URL(address).host)
    })
  } catch (thrown) {
    const why = explainListen(thrown)
    throw why === undefined
      ? thrown
      : new ConfigProblem(`listen: ${bracket(host)}:${port} ${why}`, { cause: thrown })
  }
}

/** Where no address is configured: this machine's name, if the service listens on all of its addresses. */
function addressOf(host: string, port: number, isSecure: boolean): string {
  const name = ['::', '0.0.0.0'].includes(host) ? hostname() : bracket(host)
  const isUsual = port === (isSecure ? 443 : 80)
  return `${isSecure ? 'https' : 'http'}://${name}${isUsual ? '' : `:${port}`}`
}

function bracket(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/**
 * Some proxies write a port beside the address; what is counted and allowed by address must not see it. What is no address at all
 * says nothing, nor does anything before it: the caller is then known by the proxy that wrote it.
 */
function tidyForwardedFor(server: Server): void {
  server.prependListener('request', ({ headers }: IncomingMessage) => {
    const given = headers['x-forwarded-for']
    if (given === undefined) return
    const addresses = addressesOf(String(given))
    if (addresses.length === 0) delete headers['x-forwarded-for']
    else headers['x-forwarded-for'] = addresses.join(', ')
  })
}

/** The unbroken chain of addresses at the end: the last one was written by the proxy that is nearest to us. */
function addressesOf(header: string): string[] {
  const addresses = header.split(',').map((entry) => withoutPort(entry.trim()))
  const broken = addresses.findLastIndex((address) => isIP(address) === 0)
  return addresses.slice(broken + 1)
}

function withoutPort(text: string): string {
  const [, literal, plain] = /^(?:\[([^\]]+)\]|([\d.]+))(?::\d+)?$/.exec(text) ?? []
  return literal ?? plain ?? text
}

interface Proxy {
  readonly isTrusted: (address: string) => boolean
  readonly baseUrl: () => string
  readonly log: (line: string) => void
}

/**
 * Serves what the proxy got by https. Whoever does not come through it would send tokens in plain text, and could claim any
 * address. A proxy that says nothing of the protocol is taken for one that serves https alone, as the config file says.
 */
function requireProxy(app: FastifyInstance, { isTrusted, baseUrl, log }: Proxy): void {
  let hasSaid = false
  app.addHook('onRequest', async (request, reply) => {
    // Probes come from the machine that the service runs on.
    if (request.routeOptions.config.open === 'probe') return undefined
    const peer = plainAddress(request.raw.socket.remoteAddress ?? '')
    if (!isTrusted(peer))
      throw new RequestError(403, `this service is only reached through its proxy: use ${baseUrl()}`)
    const protocol = forwardedProtocol(request)
    if (protocol === 'https') return undefined
    if (protocol === 'http') {
      const { status, location } = redirectTo(baseUrl(), request.originalUrl)
      return reply.header('connection', 'close').redirect(location, status)
    }
    if (protocol !== undefined)
      throw new RequestError(
        403,
        `this service is only reached by https, and the proxy does not say that it was used: it must set X-Forwarded-Proto to https or http; use ${baseUrl()}`
      )
    // Once: whoever sets up a proxy looks here.
    if (!hasSaid)
      log(
        `requests from ${peer} have no X-Forwarded-Proto and are taken for https: if the proxy serves plain HTTP too, tokens may cross the network unseen; let it set the header to the protocol of its caller (nginx: proxy_set_header X-Forwarded-Proto $scheme)`
      )
    hasSaid = true
    return undefined
  })
}

/** The last one is by the proxy that is nearest to us; those before it may be by anybody. */
function forwardedProtocol({ headers }: FastifyRequest): string | undefined {
  return headers['x-forwarded-proto']?.toString().split(',').at(-1)?.trim().toLowerCase()
}

interface Files {
  readonly certificate: string
  readonly key: string
}

/** A certificate and its private key. */
export interface Pair extends SecureContextOptions {
  readonly cert: Buffer
  readonly key: Buffer
}

interface Watch extends Files {
  /** In use now. */
  readonly pair: Pair
  readonly clock: Clock
  readonly log: (line: string) => void
  readonly onChange: (pair: Pair) => void
}

const LOOK_EVERY_MS = 5000

/** The pair for a TLS server; throws unless both can be read and belong together. */
async function readCertificate({ certificate, key }: Files): Promise<Pair> {
  const pair: Pair = {
    cert: await read(certificate, 'tls.certificate'),
    key: await read(key, 'tls.key'),
    minVersion: 'TLSv1.2'
  }
  try {
    createSecureContext(pair)
  } catch (thrown) {
    throw new ConfigProblem(
      `tls: ${certificate} and ${key} are not a certificate and its private key in PEM format: ${clauseOf(thrown)}`,
      { cause: thrown }
    )
  }
  return pair
}

async function read(file: string, name: string): Promise<Buffer> {
  return readRegular(file).catch((thrown: unknown) => {
    throw new ConfigProblem(`${name} cannot be read: ${clauseOf(thrown)}`, { cause: thrown })
  })
}

/** Opening anything else may never come back, and then the process could not even end. */
async function readRegular(file: string): Promise<Buffer> {
  if (!(await stat(file)).isFile()) throw new Error(`${file} is not a regular file`)
  return readFile(file)
}

/**
 * Hands over every new pair that is in order, however the files were replaced: written anew, renamed, or behind links as in a
 * Kubernetes secret; and says when the one in use has expired, or will soon. Returns what ends the watch.
 */
async function watchCertificate(watch: Watch): Promise<() => void> {
  const { clock, log } = watch
  let seen = await fingerprintOf(watch)
  let isEnded = false
  let said = ''
  let cancel = (): void => undefined
  const checkDates = followDates(watch)
  const look = async (): Promise<void> => {
    // Looked at before it is read: what changes meanwhile is read again.
    const found = await fingerprintOf(watch)
    if (found !== seen && !isEnded) {
      const taken = await take(watch)
      // What cannot be used now may become usable without another sign of change, as by a right to read it.
      if (taken.pair) seen = found
      if (taken.pair || taken.words !== said) log(taken.words)
      said = taken.words
      checkDates(taken.pair)
    } else checkDates()
    if (!isEnded) plan()
  }
  const plan = (): void => {
    cancel = clock.after(LOOK_EVERY_MS, () => void look())
  }
  checkDates()
  plan()
  return () => {
    isEnded = true
    cancel()
  }
}

/** Says once what there is to say of the dates of the pair in use, which is the last one given. */
function followDates({ pair, certificate, clock, log }: Watch): (changed?: Pair) => void {
  let validity = readValidity(pair.cert)
  let said: string | undefined
  return (changed) => {
    if (changed) {
      validity = readValidity(changed.cert)
      said = undefined
    }
    const words = validity && warnOfDates(validity, certificate, clock.now())
    if (words !== undefined && words !== said) log(words)
    said = words
  }
}

async function take({ onChange, certificate, key }: Watch): Promise<{ pair?: Pair; words: string }> {
  try {
    const pair = await readCertificate({ certificate, key })
    onChange(pair)
    return { pair, words: `the certificate in ${certificate} has changed; new connections get the new one` }
  } catch (thrown) {
    return { words: `the changed certificate is not used, the one before stays: ${clauseOf(thrown)}` }
  }
}

async function fingerprintOf({ certificate, key }: Files): Promise<string> {
  const parts = [certificate, key].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found && [found.mtimeMs, found.ino, found.size, found.dev].join(' ')
  })
  return (await Promise.all(parts)).join(', ')
}

const DAY_MS = 24 * 3_600_000
/** Time enough to renew it, and too little for those who renew by themselves to be bothered. */
const SOON_MS = 14 * DAY_MS

/** From when until when the service's own certificate is valid, which is the first of its file. Others may have a successor. */
export interface Validity {
  readonly fromMs: number
  readonly untilMs: number
}

/** Undefined if that cannot be read: no reason to refuse what TLS accepts. */
function readValidity(pem: Buffer): Validity | undefined {
  try {
    const { validFrom, validTo } = new X509Certificate(pem)
    return { fromMs: Date.parse(validFrom), untilMs: Date.parse(validTo) }
  } catch {
    return undefined
  }
}

/** What an operator has to know of it now; undefined if there is nothing. The same words as long as nothing changes. */
function warnOfDates({ fromMs, untilMs }: Validity, file: string, nowMs: number): string | undefined {
  const until = dayOf(untilMs)
  if (nowMs >= untilMs)
    return `the certificate in ${file} expired on ${until}: callers refuse the connection; put a new one there, which is then used without a restart`
  if (nowMs < fromMs)
    return `the certificate in ${file} is not valid before ${dayOf(fromMs)}: callers refuse the connection; check the clock of this machine, or put another one there`
  if (untilMs - nowMs <= SOON_MS)
    return `the certificate in ${file} expires on ${until}: put a new one there in time, which is then used without a restart`
  return undefined
}

function dayOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
