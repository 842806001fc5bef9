import { isObject } from '../../../contract/setting-values.js'
import { propertyName, type PlanHeader } from '../request.js'
import type { ApiDocument } from './api-document.js'
import { fieldIn, textIn, type JsonObject } from '../json-fields.js'
import type { ApiLogin } from './api-login.js'

/** The credentials of a request, by the names of parameters and cookies: a plan is committed and must not contain secrets. */
export function readCredentials(
  api: ApiDocument,
  operation: JsonObject,
  login: ApiLogin | undefined
): Credentials {
  const required = fieldIn(operation, 'security') ?? fieldIn(api.root, 'security')
  const known = api.securitySchemes
  // It has a login, and does not say what for.
  if (required === undefined && known === undefined && login?.token !== undefined)
    return { ...NO_CREDENTIALS, headers: [bearer(login)] }
  const ways = (Array.isArray(required) ? (required as unknown[]) : []).map((way) =>
    Object.keys(isObject(way) ? way : {})
      .map((name) => api.resolve(fieldIn(known, name)))
      .filter((scheme) => scheme !== undefined)
  )
  const schemes = (login?.token && ways.find((way) => way.some(takesToken))) ?? ways[0] ?? []
  const keysIn = (place: string): string[] =>
    schemes
      .filter((scheme) => isKey(scheme) && textIn(scheme, 'in') === place)
      .map((scheme) => textIn(scheme, 'name'))
  return {
    headers: schemes.flatMap((scheme) => headerOf(scheme, login)),
    query: keysIn('query'),
    // The cookie of a login is kept by each user.
    cookies: login === undefined ? keysIn('cookie') : []
  }
}

interface Credentials {
  readonly headers: readonly PlanHeader[]
  readonly query: readonly string[]
  readonly cookies: readonly string[]
}

export const NO_CREDENTIALS: Credentials = { headers: [], query: [], cookies: [] }
export const BASIC_PROPERTY = 'basic_credentials'

function headerOf(scheme: JsonObject, login: ApiLogin | undefined): PlanHeader[] {
  if (isBearer(scheme)) return [bearer(login)]
  if (isBasic(scheme)) return [{ name: 'Authorization', value: ['Basic ', { property: BASIC_PROPERTY }] }]
  if (!isKey(scheme)) return [{ name: 'Authorization', value: [{ property: 'authorization' }] }]
  const name = textIn(scheme, 'name')
  if (textIn(scheme, 'in') !== 'header' || !isHeaderName(name)) return []
  if (login?.token !== undefined && takesToken(scheme))
    return [{ name, value: [prefixOf(scheme), { variable: login.token.variable }] }]
  return [{ name, value: [{ property: propertyName(name) }] }]
}

/** With the token of the login, or one that is given. */
function bearer(login: ApiLogin | undefined): PlanHeader {
  const token = login?.token === undefined ? { property: 'token' } : { variable: login.token.variable }
  return { name: 'Authorization', value: ['Bearer ', token] }
}

/** Whether the token of a login is for it. */
function takesToken(scheme: JsonObject): boolean {
  const isTokenHeader =
    textIn(scheme, 'in') === 'header' && /token|^authorization$/i.test(textIn(scheme, 'name'))
  return isBearer(scheme) || (isKey(scheme) && isTokenHeader)
}

/** `Authorization` has `Bearer` before its value, or what the description says: `prefix "Token"`, or a line `Token xxxx`. */
function prefixOf(scheme: JsonObject): string {
  if (!/^authorization$/i.test(textIn(scheme, 'name'))) return ''
  const [, named, shown] =
    /prefix\W{1,3}(Token|JWT)\b|^\s*(Token|JWT) [x<{[.…]/im.exec(textIn(scheme, 'description')) ?? []
  return `${named ?? shown ?? 'Bearer'} `
}

function isBearer(scheme: JsonObject): boolean {
  const type = textIn(scheme, 'type')
  return (
    (type === 'http' && /^bearer$/i.test(textIn(scheme, 'scheme'))) || /^(?:oauth2|openIdConnect)$/.test(type)
  )
}

function isBasic(scheme: JsonObject): boolean {
  const type = textIn(scheme, 'type')
  return type === 'basic' || (type === 'http' && /^basic$/i.test(textIn(scheme, 'scheme')))
}

function isKey(scheme: JsonObject): boolean {
  return textIn(scheme, 'type') === 'apiKey'
}

export function isHeaderName(name: string): boolean {
  return /^[\w.-]+$/.test(name)
}
