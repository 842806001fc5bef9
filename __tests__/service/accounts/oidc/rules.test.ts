import { describe, expect, test } from '@jest/globals'
import { describeClaims, findRole, plainClaims, quote } from '../../../../src/service/accounts/oidc/rules.js'
import { matchesPattern } from '../../../../src/service/accounts/name-patterns.js'
import type { AllowRule } from '../../../../src/service/config/config.js'

const rule = (role: AllowRule['role'], claims: Record<string, string>): AllowRule => ({
  role,
  claims: Object.entries(claims)
})

describe('a pattern', () => {
  test.each([
    ['acme/shop', 'acme/shop', true],
    ['acme/shop', 'acme/shop2', false],
    ['acme/shop', 'xacme/shop', false],
    ['acme/shop', 'Acme/shop', false],
    ['acme/shop', 'acme/shop\n', false],
    ['acme/*', 'acme/shop', true],
    ['acme/*', 'acme/shop/x', false],
    ['acme/*', 'acme', false],
    ['acme/*', 'evil/acme/shop', false],
    ['acme/*', 'acme-evil/shop', false],
    ['acme*/shop', 'acme-evil/shop', true],
    ['*/shop', 'evil/shop', true],
    ['*', 'acme/shop', false],
    ['*', 'acme', true],
    ['*/*', 'a/b', true],
    ['refs/heads/release-*', 'refs/heads/release-1', true],
    ['refs/heads/release-*', 'refs/heads/release-1/x', false],
    ['refs/heads/release-*', 'refs/heads/xrelease-1', false],
    ['a*b*c', 'aXbXc', true],
    ['a*b*c', 'acb', false],
    // Neither a regular expression nor a question mark.
    ['acme/sh.p', 'acme/shop', false],
    ['acme/sho?', 'acme/shop', false],
    ['a+', 'aa', false]
  ])('%s, held against %j: %s', (pattern, value, isMatch) => {
    expect(matchesPattern(value, pattern)).toBe(isMatch)
  })

  test('takes no time, however many stars it has', () => {
    expect(matchesPattern('a'.repeat(16_000) + 'b', '*a'.repeat(2000))).toBe(false)
  })
})

describe('the role', () => {
  const rules = [
    rule('viewer', { repository_owner: 'acme' }),
    rule('admin', { repository: 'acme/shop', environment: 'production' }),
    rule('member', { repository: 'acme/*' })
  ]

  test('is the highest of those whose rules match, whatever their order', () => {
    const shop = { repository: 'acme/shop', repository_owner: 'acme' }
    expect(findRole(rules, { ...shop, environment: 'production' })).toBe('admin')
    expect(findRole(rules.toReversed(), { ...shop, environment: 'production' })).toBe('admin')
    expect(findRole(rules, shop)).toBe('member')
    expect(findRole(rules, { repository_owner: 'acme' })).toBe('viewer')
    expect(findRole(rules, { repository: 'fork/shop', environment: 'production' })).toBeUndefined()
    expect(findRole([], shop)).toBeUndefined()
  })

  test('needs every claim of a rule, by its own name', () => {
    expect(findRole([rule('admin', { constructor: '*' })], {})).toBeUndefined()
    expect(findRole([rule('admin', { environment: '*' })], { repository: 'acme/shop' })).toBeUndefined()
  })

  test('comes from plain values alone: a list matches nothing, not even by one of its elements', () => {
    const claims = plainClaims({
      ...{ groups: ['ops'], nested: { a: 'ops' }, nothing: null, number: 42, yes: true, text: 'ops' }
    })
    expect(claims).toEqual({ number: '42', yes: 'true', text: 'ops' })
    expect(findRole([rule('admin', { groups: 'ops' })], claims)).toBeUndefined()
    expect(findRole([rule('admin', { number: '42', yes: 'true' })], claims)).toBe('admin')
  })
})

test('what did not match is told by the claims of the rules, on one short line', () => {
  const rules = [rule('member', { repository: 'acme/*', ref: 'x' }), rule('admin', { environment: 'e' })]
  const claims = { repository: `evil\n"\u202e${'x'.repeat(200)}`, ref: 'refs/heads/main', other: 'secret' }
  const told = describeClaims(rules, claims)
  expect(told).toMatch(/^repository "evil[^\n\u202e]*…", ref "refs\/heads\/main", no environment$/)
  expect(told).not.toContain('secret')
  expect(quote('a\u0000b')).toBe('"a?b"')
  const many = rule('member', Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`claim${at}`, 'x'])))
  expect(describeClaims([many], {}).split(', ')).toHaveLength(9)
})
