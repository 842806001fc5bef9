import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose'
import { makeCertificate } from '../../../support/certificate.js'

export const AUDIENCE = 'https://load.example.com'

export interface Key {
  readonly kid: string
  readonly alg: string
  readonly privateKey: CryptoKey
  readonly publicKey: CryptoKey
}

export async function makeKey(kid: string, alg = 'RS256'): Promise<Key> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** An issuer over TLS on loopback, whose keys and answers a test can change at any time. */
export class TestIssuer {
  /** What was asked for, in order. */
  readonly asked: string[] = []
  /** In place of the issuer's own answers. */
  answers: Record<string, Answer> = {}
  keys: Key[] = []
  /** In place of the discovery document's own values. */
  about: Record<string, unknown> = {}
  #server: Server | undefined
  #port = 0

  private constructor(
    readonly ca: string,
    private readonly key: string,
    private readonly isSecure: boolean
  ) {}

  static async start(folder: string, { isSecure = true } = {}): Promise<TestIssuer> {
    const { certificate, key } = makeCertificate(folder, 'issuer')
    const issuer = new TestIssuer(certificate, key, isSecure)
    issuer.keys = [await makeKey('first')]
    await issuer.resume()
    return issuer
  }

  get url(): string {
    return `${this.isSecure ? 'https' : 'http'}://localhost:${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  /** How often the keys were fetched. */
  get fetches(): number {
    return this.asked.filter((path) => path === '/keys').length
  }

  /** Listens again, on the same port. */
  async resume(): Promise<void> {
    const answer: Answer = (request, response) => void this.#answer(request, response)
    const server = this.isSecure
      ? createServer({ cert: readFileSync(this.ca), key: readFileSync(this.key) }, answer)
      : (createHttpServer(answer) as unknown as Server)
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (server.address() as AddressInfo).port
  }

  /** Refuses connections from now on. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    server?.closeAllConnections()
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  }

  /** A token with the claims of a workflow of acme/shop, unless others are given; `undefined` leaves one out. */
  sign(
    claims: Readonly<Record<string, unknown>> = {},
    { key = this.keys[0]!, header = {} }: { key?: Key; header?: Partial<JWTHeaderParameters> } = {}
  ): Promise<string> {
    const all = {
      exp: Math.floor(Date.now() / 1000) + 300,
      iss: this.url,
      aud: AUDIENCE,
      sub: 'repo:acme/shop:ref:refs/heads/main',
      repository: 'acme/shop',
      repository_owner: 'acme',
      ref: 'refs/heads/main',
      ...claims
    }
    return new SignJWT(all)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: 'JWT', ...header })
      .sign(key.privateKey)
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? ''
    this.asked.push(path)
    const own = this.answers[path]
    if (own) {
      own(request, response)
      return
    }
    const keys = async (): Promise<unknown> => ({
      keys: await Promise.all(
        this.keys.map(async ({ publicKey, kid, alg }) => ({
          ...(await exportJWK(publicKey)),
          ...{ kid, alg, use: 'sig' }
        }))
      )
    })
    const about = { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.about }
    const body = path === '/keys' ? await keys() : path.endsWith('/openid-configuration') ? about : undefined
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? {}))
  }
}
