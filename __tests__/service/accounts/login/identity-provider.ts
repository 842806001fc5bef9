import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider, type Configuration } from 'oidc-provider'
import { type CertificateFiles, makeCertificate } from '../../../support/certificate.js'

export const CLIENT = { id: 'loadgate', secret: 'a secret of the client, which nobody may see' }

export interface IdentityProvider {
  readonly issuer: string
  /** Its certificate, which is its own authority. */
  readonly tls: CertificateFiles
  /** What it says of each person, by their subject. */
  readonly people: Map<string, Record<string, unknown>>
  /** The subject of whoever sits at the browser, and types their password; undefined if they refuse. */
  atBrowser: string | undefined
  /** What its replies with tokens say besides. */
  inTokenReply: Record<string, unknown>
  /** Asked for, in order: method and path. */
  readonly asked: string[]
  start(): Promise<void>
  stop(): Promise<void>
}

/** A real OpenID Connect provider on loopback, over TLS. */
export async function createIdentityProvider(
  folder: string,
  { redirectTo, ...more }: { redirectTo: string } & Partial<Configuration>
): Promise<IdentityProvider> {
  const tls = makeCertificate(folder, 'identity')
  const key = { key: readFileSync(tls.key), cert: readFileSync(tls.certificate) }
  const asked: string[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined
  let server: Server | undefined
  let port = 0
  const start = async (): Promise<void> => {
    const made = createServer(key, (request, response) => {
      asked.push(`${request.method} ${(request.url ?? '').split('?')[0]}`)
      answer(request, response)
    })
    await new Promise<void>((resolve) => made.listen(port, '127.0.0.1', resolve))
    port = (made.address() as AddressInfo).port
    server = made
  }
  await start()
  const issuer = `https://localhost:${port}`
  const people: IdentityProvider['people'] = new Map()
  const pair = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: CLIENT.id, client_secret: CLIENT.secret },
        ...{
          redirect_uris: [`${redirectTo}/login/callback`],
          post_logout_redirect_uris: [`${redirectTo}/login`]
        }
      }
    ],
    pkce: { required: () => true },
    scopes: ['openid', 'groups'],
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email'], groups: ['groups'] },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => ({ sub, ...people.get(sub) }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    jwks: { keys: [{ ...(await exportJWK(pair.privateKey)), kid: 'one', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['of the cookies of the provider'] },
    ...more
  })
  const idp: IdentityProvider = {
    ...{ issuer, tls, people, asked, atBrowser: undefined, inTokenReply: {}, start },
    stop: () =>
      new Promise((resolve) => {
        server?.close(() => resolve())
        server?.closeAllConnections()
      })
  }
  provider.use(async (context, next) => {
    await next()
    if (context.path === '/token') Object.assign(context.body as object, idp.inTokenReply)
  })
  const respond = provider.callback()
  answer = (request, response): void => {
    if (!String(request.url).startsWith('/interaction/')) return void respond(request, response)
    void interact(provider, idp.atBrowser, request, response)
  }
  return idp
}

type Interaction = Parameters<Provider['interactionFinished']>

/** The person types their password, and lets the service know who they are. */
async function interact(
  provider: Provider,
  accountId: string | undefined,
  request: Interaction[0],
  response: Interaction[1]
): Promise<void> {
  const { prompt, params, grantId, session } = await provider.interactionDetails(request, response)
  const finish = (result: Interaction[2]): Promise<void> =>
    provider.interactionFinished(request, response, result, { mergeWithLastSubmission: true })
  if (accountId === undefined)
    return finish({ error: 'access_denied', error_description: 'End-User <b>aborted</b> interaction' })
  if (prompt.name === 'login') return finish({ login: { accountId } })
  const grant =
    (grantId === undefined ? undefined : await provider.Grant.find(grantId)) ??
    new provider.Grant({ accountId: session?.accountId ?? accountId, clientId: String(params.client_id) })
  grant.addOIDCScope(String(params.scope))
  return finish({ consent: { grantId: await grant.save() } })
}
