import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const REQUEST_TOKEN = 'the-request-token-of-the-job'

/** A token as GitHub makes them, signed by nobody. */
export function makeIdToken(claims: Readonly<Record<string, unknown>>): string {
  const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  const head = { typ: 'JWT', alg: 'RS256', kid: 'key-of-the-tests' }
  return [encode(head), encode(claims), randomBytes(64).toString('base64url')].join('.')
}

/** GitHub's endpoint for ID tokens, on loopback. A service of a test asks it whether it has given a token, and whether that has ended. */
export class IdTokenEndpoint {
  lifetimeMs = 300_000
  /** Every token, with its end. */
  readonly issued = new Map<string, number>()
  readonly audiences: (string | null)[] = []
  /** Answers in its place, or lets it answer (false). */
  fault: (response: ServerResponse) => boolean = () => false
  /** All requests, answered or not. */
  asked = 0
  readonly #server = createServer((request, response) => this.#answer(request, response))

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** The variables by which a step with the permission finds it. */
  get env(): Record<string, string> {
    return {
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://${this.host}/token?api-version=2.0`,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: REQUEST_TOKEN
    }
  }

  get tokens(): string[] {
    return [...this.issued.keys()]
  }

  /** Whether a request has a token of this endpoint that has not ended. */
  accepts(authorization = ''): boolean {
    const [scheme, token = ''] = authorization.split(' ')
    return scheme === 'Bearer' && Date.now() < (this.issued.get(token) ?? 0)
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.asked++
    if (this.fault(response)) return
    if (request.headers.authorization !== `Bearer ${REQUEST_TOKEN}`) {
      response.writeHead(401).end('{"message":"who is asking?"}')
      return
    }
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const audience = searchParams.get('audience')
    this.audiences.push(searchParams.get('api-version') === '2.0' ? audience : 'the address was changed')
    const nowMs = Date.now()
    const value = makeIdToken({
      ...{
        iss: 'https://token.actions.githubusercontent.com',
        aud: audience,
        sub: 'repo:octo/shop:ref:main'
      },
      ...{ iat: nowMs / 1000, exp: (nowMs + this.lifetimeMs) / 1000 }
    })
    this.issued.set(value, nowMs + this.lifetimeMs)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ count: 1, value }))
  }
}
