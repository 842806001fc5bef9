import { FOREIGN_PASSWORD, isConfidentialName } from '../../contract/secret-names.js'
import { isObject } from '../../contract/setting-values.js'
import { encodePath, propertyName, type PlanPart, type PlanProperty, type PlanText } from './request.js'

/** A JSON Web Token or a credential of a well-known shape. Bounded, because a recording may contain megabytes of anything. */
const SECRET_VALUE =
  /eyJ[\w-]{8,400}|\b(?:Bearer|Basic)\s+\S{6,}|\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk[-_]live|sk-|AKIA|AIza)[\w-]{10,}/i
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/
/** Milliseconds since 1970 have 13; card numbers have more, in whatever groups. */
export const MOST_DIGITS = 13
const MOST_MIXED_WORDS = 2
/** Words in links that are secret as a whole: only their recipient has them. */
const LINK_WORD = /reset|verif|confirm|activat|invit|unsubscribe|share|magic/i

/** Whether a value looks like a secret, in text that someone typed for a plan. Recordings are judged more strictly. */
function isSecretValue(value: string): boolean {
  return SECRET_VALUE.test(value) || (value.match(/[A-Za-z0-9_+/=-]{32,}/g) ?? []).some(looksRandom)
}

/** Words and slugs have no digits among capitals; uuids are ids, not secrets. */
function looksRandom(word: string): boolean {
  if (UUID.test(word) || !/\d/.test(word)) return false
  return (/[a-z]/.test(word) && /[A-Z]/.test(word)) || /(?=\d{0,31}[A-Za-z])[A-Za-z0-9]{32}/.test(word)
}

/** Secrets have no common shape: of a recording only a few words, a number or a date may be committed with a plan. */
export function mayBeSecret(value: string, name = ''): boolean {
  if (isConfidentialName(name)) return true
  const isId = /(?:id|uuid|guid)$/i.test(name) && UUID.test(value)
  return !(isId || isPlain(value, { longest: 48, words: 7 }) || isPlainQuery(value))
}

/** Names in a path are longer and contain numbers, and ids are common. */
function isSecretSegment(segment: string, before: string): boolean {
  const text = segment.replace(/^[@~]/, '')
  if (isConfidentialName(before) || LINK_WORD.test(before))
    return !/^[a-z]{0,20}(?:[-_.][a-z]{1,20}){0,3}$/.test(text)
  if (UUID.test(text)) return false
  return !isPlain(text.replace(/\b([a-z]{1,12})\d{1,4}\b/g, '$1'), { longest: 100, words: 16 })
}

/** Whether a name may be committed, and printed as the name of a property: keys of maps may be secrets too. */
export function isPlainName(name: string): boolean {
  if (name.length > 80 || SECRET_VALUE.test(name)) return false
  if (!/^[\p{L}\p{M}\d[\]_.:$@ -]*$/u.test(name)) return false
  return name.split(/[^\p{L}\p{M}\d]+/u).every((word) => {
    if (/^(?:[\p{L}\p{M}]{0,24}\d{0,3}|\d{1,13})$/u.test(word)) return true
    // `oauth2Client`
    return /^\p{L}+\d{1,3}\p{L}+\d{0,3}$/u.test(word) && isPlainWord(word.replace(/\d/g, ''))
  })
}

const PASSWORD_NAME = new RegExp(
  `^(?:.*[-_.[])?(?:pass(?:word|wd|phrase|code)?|pwd|passwort|mot[-_]?de[-_]?passe|${FOREIGN_PASSWORD})\\]?$|[a-z](?:Password|Passwd|Pwd)$`,
  'i'
)

export function isPasswordName(name: string): boolean {
  return isPlainName(name) && PASSWORD_NAME.test(name)
}

function isPlain(value: string, most: { longest: number; words: number }): boolean {
  if (value.length > most.longest || SECRET_VALUE.test(value)) return false
  if (DATE.test(value)) return true
  if (!/^[\p{L}\p{M}\d\s,.:|/()'’!_-]*$/u.test(value)) return false
  // `user:ada,password:…` in one value.
  if (/(?:pass(?:word|wd)?|pwd|secret|token)\s*[:=|,]\s*\S/i.test(value)) return false
  const words = value.split(/[^\p{L}\p{M}\d]+/u)
  return (
    words.length <= most.words &&
    // `x7f-k2p-9qz` is a code in groups.
    words.filter((word) => /\d[a-z]|[a-z]\d/i.test(word)).length <= MOST_MIXED_WORDS &&
    words.every((word) => /^\d+$/.test(word) || isPlainWord(word)) &&
    value.replace(/\D/g, '').length <= MOST_DIGITS
  )
}

/** `tea`, `Tea`, `TEA`, `teaPot`, `XMLHttpRequest`, `v1`; random letters change their case more often. */
function isPlainWord(word: string): boolean {
  if (word.length <= 3) return true
  if (word.length > 24) return false
  return /^(?:\p{Lu}{1,16}|[\p{L}\p{M}]?[\p{Ll}\p{Lo}\p{M}]{1,20}|\p{Ll}?(?:\p{Lu}{0,4}[\p{Ll}\p{M}]{2,20}){1,5}(?:\p{Lu}{0,3}|\p{Lu}\p{Ll}))$/u.test(
    word
  )
}

/** A query of GraphQL that has its values as variables: nothing in it but names. */
function isPlainQuery(value: string): boolean {
  if (value.length > 20_000 || !/^\s*(?:query|mutation|subscription|fragment|\{)/.test(value)) return false
  if (!/^[\w\s{}()$:!,[\]@.=|&-]*$/.test(value) || SECRET_VALUE.test(value)) return false
  return (value.match(/\w+/g) ?? []).every((word) =>
    /^\d/.test(word) ? /^\d{1,3}$/.test(word) : isPlainName(word)
  )
}

/** Marks around a property's name within a value: characters for private use, which no text contains. */
const MARKED = /\ue000([a-z0-9_.-]{1,80}|=\w{1,80})\ue001/
const DEEPEST = 60

/** An example, as far as it may be committed: what may be secret, by its name or its shape, comes from a property instead. */
export function hideSecrets(value: unknown, name: string, depth = 0): unknown {
  if (depth > DEEPEST) return undefined
  if (Array.isArray(value)) return value.map((element) => hideSecrets(element, name, depth + 1))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, hideSecrets(field, key, depth + 1)])
    )
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const isSecret = value !== '' && (isConfidentialName(name) || isSecretValue(String(value)))
  return isSecret ? markProperty(propertyName(name)) : value
}

export function markProperty(name: string): string {
  return `\ue000${name}\ue001`
}

export function markVariable(name: string): string {
  return `\ue000=${name}\ue001`
}

/** The text with properties and variables where something was hidden, and the rest of it encoded. */
export function showProperties(text: string, encode?: (literal: string) => string): PlanText {
  const encoding = encode === undefined ? {} : { isEncoded: true }
  return text
    .split(MARKED)
    .map((part, at): PlanPart => {
      if (at % 2 === 0) return encode === undefined ? part : encode(part)
      return { ...(part.startsWith('=') ? { variable: part.slice(1) } : { property: part }), ...encoding }
    })
    .filter((part) => part !== '')
}

/** Collects what was replaced or dropped. */
export interface Removed {
  readonly properties: Set<string>
  /** By the name of a value: the property of each. */
  readonly values: Map<string, Map<string, string>>
  readonly headers: Set<string>
  /** The variable of a value that an earlier reply contains. */
  readonly find?: (value: string, to: Destination) => string | undefined
}

/** Where a value is sent: under which name, or after what in a path. */
export interface Destination {
  readonly kind: 'path' | 'header' | 'field'
  readonly name: string
}

const MOST_LISTED = 20
/** Fields whose value names the field beside it: `name=password&value=…`. */
const KIND = /^(?:type|kind|method)$/i
const SELECTOR = /^(?:name|key|field|id|label|param|parameter|property|attribute|header)$/i

export function nothingRemoved(): Removed {
  return { properties: new Set(), values: new Map(), headers: new Set() }
}

/** What counts as secret in an address. */
interface Rules {
  readonly mayBeSecret: (value: string, name?: string) => boolean
  readonly isSecretSegment: (segment: string, before: string) => boolean
  readonly isSecretName: (name: string) => boolean
}

/** Nobody has read what was recorded. */
const RECORDED: Rules = { mayBeSecret, isSecretSegment, isSecretName: (name) => !isPlainName(name) }
/** Whoever types an address for a plan wants it there as it is. */
export const TYPED: Rules = {
  mayBeSecret: (value, name = '') => isConfidentialName(name) || isSecretValue(value),
  isSecretSegment: isSecretValue,
  isSecretName: isSecretValue
}

export function keepPath({ pathname, search }: URL, removed: Removed, rules = RECORDED): PlanText {
  const segments = pathname.split('/')
  const path = segments.flatMap((segment, at): PlanText => {
    const slash = at === 0 ? '' : '/'
    // A session id of Java servers.
    const [plain = '', ...parameters] = segment.split(';')
    const before = decode(segments[at - 1] ?? '')
    const variable = removed.find?.(decode(plain), { kind: 'path', name: before })
    if (variable !== undefined) return [slash, { variable, isEncoded: true }]
    if (rules.isSecretSegment(decode(plain), before)) return [slash, replaceBy('path-value', plain, removed)]
    const kept = parameters.filter((text) => !isSecretParameter(text, rules))
    return [slash + encodePath([plain, ...kept].join(';'))]
  })
  return search === '' ? path : [...path, '?', ...keepPairs(search.slice(1), removed, rules)]
}

/** `a=1&b=2` of a query or a form. */
export function keepPairs(text: string, removed: Removed, rules = RECORDED): PlanText {
  const pairs = text.split('&').map(splitPair)
  const isTelling = pairs.some(([name, value]) => namesSecret(decode(name), decode(value ?? '')))
  return pairs.flatMap(([name, value], at): PlanText => {
    const ampersand = at === 0 ? '' : '&'
    const plainName = decode(name)
    if (value === undefined)
      return [
        ampersand,
        rules.mayBeSecret(plainName) ? replaceBy('query-value', name, removed) : encodePath(name)
      ]
    const variable = removed.find?.(decode(value), { kind: 'field', name: plainName })
    if (variable !== undefined && !rules.isSecretName(plainName))
      return [ampersand, encodePath(name), '=', { variable, isEncoded: true }]
    const isNeighbour = isTelling && !namesSecret(plainName, decode(value))
    const isSecret = value !== '' && (isNeighbour || rules.mayBeSecret(decode(value), plainName))
    return [
      ampersand,
      rules.isSecretName(plainName) ? replaceBy('query-name', name, removed) : encodePath(name),
      '=',
      isSecret
        ? {
            ...replaceBy(isPlainName(plainName) ? plainName : 'query-value', value, removed),
            isEncoded: true
          }
        : encodePath(value)
    ]
  })
}

export function namesSecret(name: string, value: unknown): boolean {
  if (typeof value !== 'string' || !isPlainName(value)) return false
  return (SELECTOR.test(name) && isConfidentialName(value)) || (KIND.test(name) && isPasswordName(value))
}

function isSecretParameter(text: string, rules: Rules): boolean {
  const [name, value] = splitPair(text)
  return rules.isSecretName(decode(name)) || rules.mayBeSecret(decode(value ?? name), decode(name))
}

/** The value is undefined if there is no `=`. */
function splitPair(text: string): [name: string, value: string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** A plan is committed: what may be secret comes from a property, one for each value. The name is printed: it never comes from a value. */
export function replaceBy(name: string, value: string, removed: Removed): PlanProperty {
  const base = propertyName(name)
  const values = removed.values.get(base) ?? new Map<string, string>()
  removed.values.set(base, values)
  const given = values.get(value)
  if (given !== undefined) return { property: given }
  let count = values.size + 1
  const numbered = (): string => (count === 1 ? base : `${base.slice(0, 52)}-${count}`)
  // Another value may have such a name by itself.
  while (removed.properties.has(numbered())) count++
  const property = numbered()
  values.set(value, property)
  removed.properties.add(property)
  return { property }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

export function describeProperties(properties: ReadonlySet<string>): string[] {
  if (properties.size === 0) return []
  const given = [...properties].slice(0, MOST_LISTED).map((name) => `-J${name}=…`)
  const more = properties.size - given.length
  const rest = more > 0 ? `, and ${more} more, each \${__P(name,)} in the plan` : ''
  return [
    `Values that may be secret are not in the plan; give them as override-parameters: ${given.join(', ')}${rest}`
  ]
}
