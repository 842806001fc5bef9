import { isObject } from '../../../contract/decode.js'
import { propertyName, type PlanExtract } from '../request.js'
import { isPasswordName, markProperty } from '../secrets.js'
import type { ApiDocument } from './api-document.js'
import { entriesIn, fieldIn, type JsonObject } from '../json-fields.js'
import { sampleBody, sampleOf } from './sample-value.js'

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

const TOKEN_NAME = /^(?:access|auth|bearer|session|id|api)?[-_]?(?:token|jwt)$/i
const REFRESH_NAME = /refresh/i
/** What identifies who logs in; other fields keep their examples. */
const IDENTITY_NAME = /user|login|mail|account|tenant|client|name|phone|pin$|otp|secret|code$/i
const OTHER_PURPOSE = /regist|sign-?up|reset|forgot|recover|change|invite/i
const LOGIN_PATH = /log-?in|sign-?in|session|auth|token/i
const DEEPEST = 4

/** The first operation that takes one password and replies with a token; if the API uses a cookie, one that takes a password. */
export function findLogin<T extends Operation>(
  api: ApiDocument,
  operations: readonly T[]
): (ApiLogin & { readonly operation: T }) | undefined {
  const takers = operations.filter(({ method, path, facts, parameters }) => {
    if (method !== 'POST' || OTHER_PURPOSE.test(path)) return false
    const body = sampleBody(api, facts, parameters)
    return (
      'value' in body && isObject(body.value) && Object.keys(body.value).filter(isPasswordName).length === 1
    )
  })
  for (const operation of takers) {
    const keys = findToken(replyOf(api, operation.facts))
    if (keys !== undefined) return { operation, token: { variable: 'token', from: { kind: 'json', keys } } }
  }
  const first = takers.find(({ path }) => LOGIN_PATH.test(path))
  return first !== undefined && wantsCookie(api) ? { operation: first } : undefined
}

/** A value that fits the first 2xx reply. */
function replyOf(api: ApiDocument, facts: JsonObject): unknown {
  const [, good] = entriesIn(facts, 'responses').find(([status]) => status.startsWith('2')) ?? []
  const reply = api.resolve(good)
  if (reply === undefined) return undefined
  if (api.isSwagger) return sampleOf(api, reply)
  const [, media] = entriesIn(reply, 'content').find(([type]) => /\bjson\b/i.test(type)) ?? []
  const resolved = api.resolve(media)
  return resolved && sampleOf(api, resolved)
}

/** The one nearest to the top. */
function findToken(value: unknown, keys: readonly string[] = []): string[] | undefined {
  if (!isObject(value) || keys.length > DEEPEST) return undefined
  const names = Object.keys(value).filter((name) => TOKEN_NAME.test(name) && !REFRESH_NAME.test(name))
  const name = names.find((one) => !/^id/i.test(one)) ?? names[0]
  if (name !== undefined && !isObject(value[name])) return [...keys, name]
  for (const [key, field] of Object.entries(value)) {
    const found = findToken(field, [...keys, key])
    if (found !== undefined) return found
  }
  return undefined
}

function wantsCookie(api: ApiDocument): boolean {
  return entriesIn(fieldIn(api.root, 'components'), 'securitySchemes').some(([, scheme]) => {
    const resolved = api.resolve(scheme)
    return fieldIn(resolved, 'type') === 'apiKey' && fieldIn(resolved, 'in') === 'cookie'
  })
}

/** The body of a login, with properties in place of examples, which are nobody's. */
export function hideIdentity(value: unknown): unknown {
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const isIdentity = typeof field === 'string' && (isPasswordName(name) || IDENTITY_NAME.test(name))
      return [name, isIdentity ? markProperty(propertyName(name)) : field]
    })
  )
}
