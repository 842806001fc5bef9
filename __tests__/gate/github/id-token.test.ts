import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { ServerResponse } from 'node:http'
import { createIdTokens, offersIdTokens } from '../../../src/gate/github/id-token.js'
import { systemClock } from '../../../src/contract/clock.js'
import { IdTokenEndpoint } from '../../support/step/id-token-endpoint.js'

const AUDIENCE = 'https://load.example?a=b&c'
let endpoint: IdTokenEndpoint

beforeEach(async () => {
  endpoint = await new IdTokenEndpoint().start()
})
afterEach(() => endpoint.stop())

function open(env = endpoint.env, onToken: (token: string) => void = () => undefined) {
  return createIdTokens(env, AUDIENCE, { onToken, clock: systemClock })
}

test('asks for the audience, and says so before the token is used', async () => {
  const told: string[] = []
  const tokens = open(endpoint.env, (token) => void told.push(token))
  expect(await tokens.take()).toBe(endpoint.tokens[0])
  expect(await tokens.take()).toBe(endpoint.tokens[0])
  expect(told).toEqual(endpoint.tokens)
  expect(endpoint.audiences).toEqual([AUDIENCE])
})

const answer = (status: number, text: string) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  return true
}

test.each([
  [answer(403, '{"message":"not you"}'), 'it answered 403: not you'],
  [answer(503, ''), 'it answered 503: no explanation was given'],
  [answer(200, '<html>'), 'the reply is not JSON'],
  [answer(200, '{}'), 'the reply has no token'],
  [answer(200, '{"value":"a\\r\\nhost: b"}'), 'the reply has no token'],
  [(response: ServerResponse) => Boolean(response.destroy()), 'the request failed (UND_ERR_SOCKET)']
])('a failure is told in its own words (%#), and the next request asks again', async (fault, words) => {
  endpoint.fault = fault
  const tokens = open()
  await expect(tokens.take()).rejects.toThrow(`GitHub gave no ID token: ${endpoint.host}: ${words}`)
  endpoint.fault = () => false
  expect(await tokens.take()).toBe(endpoint.tokens[0])
})

test('the token of the request is not in the words of a failure', async () => {
  const { ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret = '' } = endpoint.env
  endpoint.fault = answer(403, JSON.stringify({ message: `not with ${secret}` }))
  await expect(open().take()).rejects.toThrow('403: not with ***')
})

test('an endpoint that is gone is said to be', async () => {
  const { env, host } = endpoint
  await endpoint.stop()
  await expect(open(env).take()).rejects.toThrow(`${host}: the request failed (ECONNREFUSED)`)
  await endpoint.start()
})

test('GitHub offers them where it says where, and with what', () => {
  const { env } = endpoint
  expect(offersIdTokens(env)).toBe(true)
  for (const name of Object.keys(env)) expect(offersIdTokens({ ...env, [name]: '' })).toBe(false)
  expect(offersIdTokens({})).toBe(false)
})
