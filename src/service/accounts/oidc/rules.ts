import { shorten } from '../../../contract/text.js'
import { type AllowRule, type Role, ROLES } from '../../config/config.js'
import { matchesPattern } from '../name-patterns.js'
import { claimOf, type Claims } from '../claims.js'

/** Lists and maps are left out: a rule that meant one value must not match one of many. */
export function plainClaims(payload: Readonly<Record<string, unknown>>): Claims {
  const plain = Object.entries(payload).filter(([, value]) =>
    ['string', 'number', 'boolean'].includes(typeof value)
  )
  return Object.fromEntries(plain.map(([name, value]) => [name, String(value)]))
}

/** The highest role of the rules that match; undefined if none does. */
export function findRole(rules: readonly AllowRule[], claims: Claims): Role | undefined {
  const roles = rules.filter((rule) => matches(rule, claims)).map(({ role }) => role)
  return ROLES.find((role) => roles.includes(role))
}

function matches(rule: AllowRule, claims: Claims): boolean {
  return rule.claims.every(([name, pattern]) => {
    const value = claimOf(claims, name)
    return value !== undefined && matchesPattern(value, pattern)
  })
}

const MOST_SHOWN = 8

/** What a token has of the claims that the rules name. */
export function describeClaims(rules: readonly AllowRule[], claims: Claims): string {
  const names = [...new Set(rules.flatMap((rule) => rule.claims.map(([name]) => name)))]
  const shown = names.slice(0, MOST_SHOWN).map((name) => {
    const value = claimOf(claims, name)
    return value === undefined ? `no ${name}` : `${name} ${quote(value)}`
  })
  return [...shown, ...(names.length > MOST_SHOWN ? ['…'] : [])].join(', ')
}

/** For messages: what somebody else wrote, on one line, without what would be invisible in it. */
export function quote(text: string): string {
  return JSON.stringify(shorten(text.replace(/\p{C}/gu, '?')))
}
