import { beforeEach, describe, expect, test } from '@jest/globals'
import { RenewedTokens, describeIdToken } from '../../../src/client/http/id-tokens.js'
import { ManualClock } from '../../support/manual-clock.js'
import { makeIdToken } from '../../support/step/id-token-endpoint.js'

let clock: ManualClock
let given: string[]
/** What becomes of the requests, in their order; the last one stays. */
let outcomes: (() => Promise<string>)[]
let lifetimeSeconds: number
let tokens: RenewedTokens

beforeEach(() => {
  clock = new ManualClock()
  given = []
  lifetimeSeconds = 300
  outcomes = [give]
  tokens = new RenewedTokens({
    request: () => (outcomes.length > 1 ? outcomes.shift()! : outcomes[0]!)(),
    onToken: (token) => void given.push(token),
    clock
  })
})

const give = (): Promise<string> => {
  const iat = Math.floor(clock.now() / 1000)
  return Promise.resolve(makeIdToken({ iat, exp: iat + lifetimeSeconds }))
}
const fail = (): Promise<never> => Promise.reject(new Error('GitHub is down'))

test('one token serves until a minute before its end', async () => {
  const first = await tokens.take()
  await clock.advance(239_000)
  expect(await tokens.take()).toBe(first)
  await clock.advance(1_000)
  expect(await tokens.take()).not.toBe(first)
  expect(given).toHaveLength(2)
})

test('one that lives for seconds serves for half of them', async () => {
  lifetimeSeconds = 4
  const first = await tokens.take()
  await clock.advance(1_999)
  expect(await tokens.take()).toBe(first)
  await clock.advance(1)
  expect(await tokens.take()).not.toBe(first)
})

test('its time is that of the issuer, whatever the clock of this machine says', async () => {
  outcomes = [() => Promise.resolve(makeIdToken({ iat: 1_000_000, exp: 1_000_300 }))]
  const first = await tokens.take()
  await clock.advance(239_000)
  expect(await tokens.take()).toBe(first)
  await clock.advance(1_000)
  await tokens.take()
  expect(given).toHaveLength(2)
})

test.each(['opaque', 'a.b.c', makeIdToken({ sub: 'x' }), makeIdToken([] as never)])(
  'one without an end (%#) serves until it is refused',
  async (token) => {
    outcomes = [() => Promise.resolve(token), give]
    await tokens.take()
    await clock.advance(10 * 24 * 3_600_000)
    expect(await tokens.take()).toBe(token)
    expect(await tokens.take({ refused: token })).not.toBe(token)
  }
)

test('requests at the same time share one renewal', async () => {
  const all = await Promise.all([tokens.take(), tokens.take(), tokens.take()])
  expect(new Set(all).size).toBe(1)
  expect(given).toHaveLength(1)
})

test('requests that were refused at the same time share one renewal, also the later ones', async () => {
  const refused = await tokens.take()
  const [one, other] = await Promise.all([tokens.take({ refused }), tokens.take({ refused })])
  expect(one).toBe(other)
  expect(await tokens.take({ refused })).toBe(one)
  expect(given).toHaveLength(2)
})

describe('a renewal that fails', () => {
  test('leaves the token in use while that is valid, and is repeated', async () => {
    outcomes = [give, fail, fail, give]
    const first = await tokens.take()
    await clock.advance(299_000)
    expect(await tokens.take()).toBe(first)
    expect(await tokens.take()).toBe(first)
    expect(await tokens.take()).not.toBe(first)
  })

  test('is not waited for long while the token is valid, and for as long as it takes after its end', async () => {
    let answer: ((token: string) => void) | undefined
    outcomes = [give, () => new Promise<string>((resolve) => (answer = resolve))]
    const first = await tokens.take()
    await clock.advance(295_000)
    const early = tokens.take()
    await clock.advance(2_000)
    expect(await early).toBe(first)
    await clock.advance(2_000)
    const late = tokens.take()
    await clock.advance(60_000)
    answer!('opaque')
    expect(await late).toBe('opaque')
  })

  test('is an error once the token has ended, until one succeeds', async () => {
    outcomes = [give, fail, give]
    await tokens.take()
    await clock.advance(300_000)
    await expect(tokens.take()).rejects.toThrow('GitHub is down')
    expect(await tokens.take()).toBe(given[1])
  })

  test('is an error if the token was refused', async () => {
    outcomes = [give, fail]
    const refused = await tokens.take()
    await expect(tokens.take({ refused })).rejects.toThrow('GitHub is down')
  })
})

test('a request that is given up does not end the renewal of the others', async () => {
  let answer: ((token: string) => void) | undefined
  outcomes = [() => new Promise<string>((resolve) => (answer = resolve))]
  const abort = new AbortController()
  const [patient, other] = [tokens.take(), tokens.take({ signal: abort.signal })]
  abort.abort(new Error('no time left'))
  await expect(other).rejects.toThrow('no time left')
  answer!('opaque')
  expect(await patient).toBe('opaque')
})

test('a description names what a service decides by', () => {
  const token = makeIdToken({ iss: 'https://issuer.example', aud: ['one', 'two'], sub: 'repo:octo/shop' })
  expect(describeIdToken(token)).toBe(
    'the ID token (issuer https://issuer.example, audience one, two, subject repo:octo/shop)'
  )
  expect(describeIdToken('opaque')).toBe('the ID token')
})
