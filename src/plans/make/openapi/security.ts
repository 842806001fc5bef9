import { propertyName } from '../plan-text.js'
import type { PlanHeader } from '../request.js'
import { fieldIn, isObject, textIn } from './api-document.js'
import type { ApiDocument, JsonObject } from './api-document.js'

/** What a request needs to be let in: properties, for a plan is committed and must not contain secrets. */
export interface Credentials {
  readonly headers: readonly PlanHeader[]
  /** Names of query parameters. */
  readonly query: readonly string[]
  /** Names of cookies. */
  readonly cookies: readonly string[]
}

export function readCredentials(api: ApiDocument, operation: JsonObject): Credentials {
  const required = fieldIn(operation, 'security') ?? fieldIn(api.root, 'security')
  const [first] = Array.isArray(required) ? (required as unknown[]) : []
  const known = api.isSwagger
    ? fieldIn(api.root, 'securityDefinitions')
    : fieldIn(fieldIn(api.root, 'components'), 'securitySchemes')
  const schemes = Object.keys(isObject(first) ? first : {})
    .map((name) => api.resolve(fieldIn(known, name)))
    .filter((scheme) => scheme !== undefined)
  const keysIn = (place: string): string[] =>
    schemes
      .filter((scheme) => isKey(scheme) && textIn(scheme, 'in') === place)
      .map((scheme) => textIn(scheme, 'name'))
  return { headers: schemes.flatMap(headerOf), query: keysIn('query'), cookies: keysIn('cookie') }
}

function headerOf(scheme: JsonObject): PlanHeader[] {
  if (!isKey(scheme)) return [{ name: 'Authorization', value: [{ property: 'authorization' }] }]
  const name = textIn(scheme, 'name')
  if (textIn(scheme, 'in') !== 'header' || !/^[\w.-]+$/.test(name)) return []
  return [{ name, value: [{ property: propertyName(name) }] }]
}

function isKey(scheme: JsonObject): boolean {
  return textIn(scheme, 'type') === 'apiKey'
}
