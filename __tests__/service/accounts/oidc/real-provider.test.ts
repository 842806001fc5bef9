import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { openIssuers } from '../../../../src/service/accounts/oidc/issued-tokens.js'
import { TeamAccounts } from '../../../../src/service/accounts/accounts.js'
import { systemClock } from '../../../../src/contract/clock.js'
import { openDatabase } from '../../../../src/service/store/database.js'
import { makeCertificate } from '../../../support/certificate.js'
import { createFolders } from '../../support.js'
import { AUDIENCE } from './issuer.js'

const folders = createFolders()
const SECRET = 'not-a-secret-of-anyone'
let server: Server
let issuer: string
let ca: string

/** oidc-provider over TLS, with a client that gets access tokens for itself. */
beforeAll(async () => {
  // It says that it is made for more than a test.
  for (const level of ['warn', 'info'] as const)
    jest.spyOn(console, level).mockImplementation(() => undefined)
  const { certificate, key } = makeCertificate(folders.create(), 'provider')
  ca = certificate
  server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: 'nightly', client_secret: SECRET, grant_types: ['client_credentials'] },
        ...{ redirect_uris: [], response_types: [] }
      }
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'own', alg: 'ES256', use: 'sig' }] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'] },
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_context, resource) => ({
          ...{ scope: 'runs', audience: resource, accessTokenTTL: 300 },
          ...{ accessTokenFormat: 'jwt', jwt: { sign: { alg: 'ES256' } } }
        })
      }
    }
  })
  const answer = provider.callback()
  server.on('request', (incoming, response) => void answer(incoming, response))
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  folders.remove()
})

function fetchToken(fields: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    const body = new URLSearchParams({ grant_type: 'client_credentials', ...fields }).toString()
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'content-length': body.length }
    const options = { method: 'POST', ca: readFileSync(ca), auth: `nightly:${SECRET}`, headers, agent: false }
    request(`${issuer}/token`, options, (reply) => {
      let text = ''
      reply.on('data', (chunk: Buffer) => (text += chunk.toString()))
      reply.on('end', () => resolve((JSON.parse(text) as { access_token: string }).access_token))
    })
      .on('error', reject)
      .end(body)
  })
}

test('access tokens of a real provider are let in if they are JWTs for this service; opaque ones are not', async () => {
  const database = openDatabase(folders.create())
  try {
    const lines: string[] = []
    const ports = { clock: systemClock, log: (line: string) => void lines.push(line), env: {}, database }
    const allow = [{ role: 'member', claims: [['client_id', 'night*']] }] as const
    const issued = openIssuers(
      [{ issuer, name: 'ci', userClaim: 'sub', audience: AUDIENCE, ca, allow }],
      ports
    )
    const accounts = new TeamAccounts(database, systemClock, issued)
    const user = await accounts.admit(await fetchToken({ resource: AUDIENCE, scope: 'runs' }))
    expect(lines).toEqual([])
    expect(user).toMatchObject({ name: 'ci:nightly', role: 'member', claims: { client_id: 'nightly' } })
    const elsewhere = await fetchToken({ resource: 'https://other.example', scope: 'runs' })
    await expect(accounts.admit(elsewhere)).rejects.toThrow('and not for https://load.example.com')
    const opaque = await fetchToken({})
    expect(opaque).toMatch(/^[\w-]+$/)
    expect(await accounts.admit(opaque)).toBeUndefined()
  } finally {
    database.close()
  }
})
