import { describe, expect, test } from '@jest/globals'
import { readParameters } from '../../../src/gate/settings/override-parameters.js'
import {
  describeShortSecrets,
  isSecret,
  markedNames,
  markedValues,
  secretParameters,
  withoutSecretValues
} from '../../../src/gate/settings/secret-parameters.js'
import { parseOverrideParameters } from '../../../src/service/engines/engine.js'
import { secretValues } from '../../../src/service/engines/redact-log.js'
import { makeSettings } from '../../support/gate/gate-ports.js'
import { sideBySide } from '../../support/gate/side-by-side.js'

const secretsOf = (overrideParameters: string, changes: Parameters<typeof makeSettings>[0] = {}): string[] =>
  secretParameters(makeSettings({ overrideParameters, ...changes }))

const readSecretParameters = (text: string): string[] =>
  readParameters(text)
    .filter(isSecret)
    .map(({ value }) => value)

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
    ...['bearer', 'api_bearer', 'salt', 'hash.salt', 'private', 'tls.private.pem'],
    ...['db_pw', 'dbpw', 'pw', 'creds', 'db.creds', 'cred', 'accessCode', 'access_code', 'security.code'],
    ...[
      'pwd',
      'passwd',
      'passphrase',
      'auth',
      'apikey',
      'apiKey',
      'API_KEY',
      'keystore',
      'db.connectionString'
    ]
  ])('are known by their names: %s', (name) => {
    const text = `-J${name}=s3cr3t-value`
    expect(readSecretParameters(text)).toEqual(['s3cr3t-value'])
    expect(secretValues(parseOverrideParameters(text).properties)).toEqual(['s3cr3t-value'])
  })

  test.each([
    ...['spinner', 'pinned', 'shopping', 'option', 'adopt', 'basalt', 'salted', 'privateer'],
    ...['passengers', 'author', 'keyword', 'sacred', 'credit', 'country.code', 'promoCode', 'encode']
  ])('are not known by a part of a word: %s', (name) => {
    const text = `-J${name}=s3cr3t-value`
    expect(readSecretParameters(text)).toEqual([])
    expect(secretValues(parseOverrideParameters(text).properties)).toEqual([])
  })

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

describe('a value that is marked as secret', () => {
  const MARKED = '-Jfoo=secret:v4lue, -Jbar=plain -Dbaz=secret:one two\nthree-four'

  test('is one, whatever its name; the mark is no part of it', () => {
    expect(secretsOf(MARKED)).toEqual(['one two', 'three-four'])
    expect(secretsOf('-Jfoo=secret:v4luable')).toEqual(['v4luable'])
    expect(markedNames(MARKED)).toEqual(['foo', 'baz'])
    expect(readParameters(MARKED).map(({ name, value }) => [name, value])).toEqual([
      ['foo', 'v4lue'],
      ['bar', 'plain'],
      ['baz', 'one two\nthree-four']
    ])
  })

  test('is one though it stands in a public setting', () => {
    expect(secretsOf('-Jfoo=secret:checkout-17', { name: 'the checkout-17 test' })).toEqual(['checkout-17'])
  })

  test('may begin with the mark itself', () => {
    expect(readParameters('-Jfoo=secret:secret:x').map(({ value }) => value)).toEqual(['secret:x'])
  })

  test('of the base, side by side, too', () => {
    const baseline = { ...sideBySide(3) }
    const source = { ...baseline.source, parameters: '-Jfoo=secret:of-the-base' }
    const settings = makeSettings({ baseline: { ...baseline, source } })
    expect(secretParameters(settings)).toEqual(['of-the-base'])
    expect(markedValues(settings)).toEqual(['of-the-base'])
  })

  test.each([
    ['is short', '-Jfoo=secret:v4lue', 'foo'],
    ['is a number', '-Jfoo=secret:123456, -Jbar=secret:long-enough', 'foo'],
    ['is a common word', '-Jfoo=secret:finished', 'foo'],
    ['are several', '-Jfoo=secret:1, -Jbar=secret:2', 'foo, bar']
  ])('that %s cannot be redacted, which is said', (_, overrideParameters, names) => {
    expect(describeShortSecrets(makeSettings({ overrideParameters }))).toContain(
      `the value of ${names} is marked`
    )
  })

  test('that can be redacted is nothing to speak of', () => {
    expect(
      describeShortSecrets(makeSettings({ overrideParameters: '-Jfoo=secret:long-enough -Jbar=1' }))
    ).toBe(undefined)
  })

  test('is no part of what is hashed; what has no secret stays as it is', () => {
    expect(withoutSecretValues('-Jfoo=secret:a, -Dpassword=b  -Jport=80')).toBe(
      '-Jfoo, -Dpassword, -Jport=80'
    )
    expect(withoutSecretValues('-Jhost=a,-Jport=80')).toBe('-Jhost=a,-Jport=80')
  })
})
