import { describe, expect, test } from '@jest/globals'
import { readSecretParameters, secretParameters } from '../../../src/gate/settings/secret-parameters.js'
import { parseOverrideParameters } from '../../../src/server/engines/override-parameters.js'
import { secretValues } from '../../../src/server/engines/redact-log.js'
import { makeSettings } from '../../support/gate/gate-ports.js'
import { sideBySide } from '../../support/gate/side-by-side.js'

const secretsOf = (overrideParameters: string, changes: Parameters<typeof makeSettings>[0] = {}): string[] =>
  secretParameters(makeSettings({ overrideParameters, ...changes }))

describe('parameters that are secret by their names', () => {
  test.each([
    '-Japi.token=s3cr3t-key',
    '-Jthreads=5, -Dshop.PASSWORD=a b, c -Jx=y',
    '-Juser=ada,-Jclient_secret=one\ntwo',
    '-Jauth.header=Basic abc==  -Jpwd=',
    '-Jplain=s3cr3t-key',
    'nonsense -Jkey'
  ])('are the ones that the embedded service takes for secret: %j', (text) => {
    expect(readSecretParameters(text)).toEqual(secretValues(parseOverrideParameters(text).properties))
  })

  test.each([
    ...['pin', 'card.pin', 'PIN_2', 'userPin', 'pinCode', 'otp', 'sms-otp', 'jwt', 'admin.jwt', 'myJwt'],
    ...['bearer', 'api_bearer', 'salt', 'hash.salt', 'private', 'tls.private.pem']
  ])('are known by a whole word: %s', (name) => {
    const text = `-J${name}=s3cr3t-value`
    expect(readSecretParameters(text)).toEqual(['s3cr3t-value'])
    expect(secretValues(parseOverrideParameters(text).properties)).toEqual(['s3cr3t-value'])
  })

  test.each(['spinner', 'pinned', 'shopping', 'option', 'adopt', 'basalt', 'salted', 'privateer'])(
    'are not known by a part of a word: %s',
    (name) => {
      const text = `-J${name}=s3cr3t-value`
      expect(readSecretParameters(text)).toEqual([])
      expect(secretValues(parseOverrideParameters(text).properties)).toEqual([])
    }
  )

  test('are taken out, each line of them', () => {
    expect(secretsOf('-Japi.token=s3cr3t-key -Jshop.key=first-line\nsecond-line')).toEqual([
      's3cr3t-key',
      'first-line',
      'second-line'
    ])
  })

  test('of great length are taken out in parts', () => {
    const parts = secretsOf(`-Jtls.key=${'ab3'.repeat(4000)}`)
    expect(parts.join('')).toBe('ab3'.repeat(4000))
    expect(Math.max(...parts.map(({ length }) => length))).toBeLessThanOrEqual(500)
  })

  test.each([
    'true',
    '1',
    'short',
    '123456789',
    '2026-01-31T10:00:00Z',
    '600000',
    'password',
    'finished',
    'embedded',
    'elapsed'
  ])('with a value such as %s are left: it stands in replies for other reasons', (value) => {
    expect(secretsOf(`-Jlogin.password=${value}`)).toEqual([])
  })

  test('that stand in another setting are left: labels, regions and addresses have to be found', () => {
    const text = '-Jauth.flow=checkout -Jauth.host=shop-at-work'
    expect(secretsOf(text)).toEqual(['checkout', 'shop-at-work'])
    expect(
      secretsOf(text, { thresholdLines: 'p95{label="checkout"} < 1s', name: 'gate of shop-at-work' })
    ).toEqual([])
  })
})

test('the parameters of the base, side by side, are secret by the same rule', () => {
  const baseline = sideBySide(3, {
    source: { kind: 'side-by-side', parameters: '-Japi.token=of-the-base, -Jport=9001', rounds: 3 }
  })
  expect(secretsOf('-Japi.token=of-the-head', { baseline })).toEqual(['of-the-head', 'of-the-base'])
})
