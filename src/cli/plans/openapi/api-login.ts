import { isObject } from '../../../contract/setting-values.js'
import { propertyName, type PlanExtract } from '../request.js'
import { isPasswordName, markProperty } from '../secrets.js'
import type { ApiDocument } from './api-document.js'
import { fieldIn, textIn, type JsonObject } from '../json-fields.js'
import { listFields, replyOf } from './reply-fields.js'
import { GRANT_TYPE, sampleBody } from './sample-value.js'
import { NOWHERE } from './servers.js'

interface Operation {
  readonly path: string
  readonly method: string
  readonly facts: JsonObject
  readonly parameters: readonly JsonObject[]
}

/** The operation that logs in, and where its reply has the token; without a token it sets a cookie. */
export interface ApiLogin {
  readonly operation: Operation
  readonly token?: PlanExtract
}

const TOKEN_NAME = /^(?:(?:access|auth|bearer|session|id|api|jwt)?[-_]?(?:token|jwt)|key)$/i
/** What identifies who logs in; other fields keep their examples. */
const IDENTITY_NAME = /user|login|mail|account|tenant|client|name|phone|pin$|otp|secret|code$/i
const OTHER_PURPOSE = /regist|sign[-_]?up|reset|forgot|recover|change|invite/i
const LOGIN_NAME = /log[-_]?[io]n|sign[-_]?in|session|auth(?!or(?!i))|token|jwt/i
const LOGOUT_NAME = /(?:log|sign)[-_]?(?:out|off)|revoke/i

/**
 * The operation that takes one password, is called a login, and replies with a token; if the API uses a cookie, one without a token. The
 * address for tokens of OAuth 2 is the login by definition. Without a login: the one that lacks the description of its token.
 */
export function findLogin<T extends Operation>(
  api: ApiDocument,
  operations: readonly T[]
): { readonly login?: ApiLogin & { readonly operation: T }; readonly unclear?: T } {
  const takers = operations.filter((operation) => {
    if (operation.method !== 'POST' || OTHER_PURPOSE.test(namesOf(operation))) return false
    const body = sampleBody(api, operation, 'login')
    return 'value' in body && countPasswords(body.value) === 1
  })
  const addresses = tokenAddresses(api)
  const oauth = takers.find(({ path }) => addresses.some((address) => address.endsWith(path)))
  const named = takers.filter((operation) => LOGIN_NAME.test(namesOf(operation)))
  for (const operation of oauth === undefined ? named : [oauth]) {
    // By RFC 6749, if the document does not say.
    const keys = findToken(replyOf(api, operation.facts)) ?? (oauth && ['access_token'])
    if (keys !== undefined)
      return { login: { operation, token: { variable: 'token', from: { kind: 'json', keys } } } }
  }
  const [first] = named
  if (first === undefined) return {}
  return schemesOf(api).some(isCookie) ? { login: { operation: first } } : { unclear: first }
}

/** After it, nobody is logged in. */
export function isLogout(operation: Operation): boolean {
  return LOGOUT_NAME.test(namesOf(operation))
}

function namesOf({ path, facts }: Operation): string {
  return `${path} ${textIn(facts, 'operationId')}`
}

function countPasswords(value: unknown): number {
  if (!isObject(value)) return 0
  const counts = Object.entries(value).map(([name, field]) =>
    isPasswordName(name) ? 1 : countPasswords(field)
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** The one nearest to the top. */
function findToken(reply: unknown): readonly (string | number)[] | undefined {
  const tokens = listFields(reply).filter((keys) => TOKEN_NAME.test(String(keys.at(-1))))
  return tokens.find((keys) => !/^id/i.test(String(keys.at(-1)))) ?? tokens[0]
}

function schemesOf(api: ApiDocument): JsonObject[] {
  return Object.values(api.securitySchemes ?? {})
    .map((scheme) => api.resolve(scheme))
    .filter((scheme) => scheme !== undefined)
}

function tokenAddresses(api: ApiDocument): string[] {
  return schemesOf(api)
    .map((scheme) => (api.isSwagger ? scheme : fieldIn(fieldIn(scheme, 'flows'), 'password')))
    .map((flow) => textIn(flow, 'tokenUrl'))
    .filter((address) => address !== '' && URL.canParse(address, NOWHERE))
    .map((address) => new URL(address, NOWHERE).pathname)
}

function isCookie(scheme: JsonObject): boolean {
  return textIn(scheme, 'type') === 'apiKey' && textIn(scheme, 'in') === 'cookie'
}

/** The body of a login, with properties in place of examples, which are nobody's. */
export function hideIdentity(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (typeof field !== 'string') return [name, hideIdentity(field)]
      if (GRANT_TYPE.test(name)) return [name, 'password']
      return [
        name,
        isPasswordName(name) || IDENTITY_NAME.test(name) ? markProperty(propertyName(name)) : field
      ]
    })
  )
}
