import { FORM_TYPE, JSON_TYPE } from '../request.js'
import { isPasswordName } from '../secrets.js'
import type { Recorded } from './recording.js'
import { listValues } from './reply-values.js'

const LOGIN =
  /log[-_]?in|log[-_]?on(?![a-z])|sign[-_]?in(?!g)|sign[-_]?on(?![a-z])|session|anmeld|connexion|entrar|acceder|j_security_check|(?:^|\/)(?:auth(?:enticate|entication)?|oauth2?|tokens?)(?:\/|$)/i
/** Requests with a password that change something. */
const OTHER_PURPOSE =
  /regist|sign[-_]?up|reset|forgot|recover|change|create(?!session)|delete|invite|transfer|payment|(?:^|\/)(?:users|accounts|customers|members|people)\/?$/i
const CREATED = 201
const DEEPEST = 5

/**
 * Whether a request opens a session: it sends one password, was not refused, and is called a login, or its reply has a token or a cookie
 * that later requests send. It changes no data, so that a plan may send it.
 */
export function isLogin(recorded: Recorded, later: readonly Recorded[]): boolean {
  const { method, url, status, body } = recorded
  if (method !== 'POST' || body === undefined || status >= 400 || OTHER_PURPOSE.test(url.pathname))
    return false
  if (namesIn(body).filter(isPasswordName).length !== 1) return false
  return LOGIN.test(url.pathname) || (status !== CREATED && isUsed(recorded, later))
}

/** Its operation, with GraphQL, says what it is for. */
function isUsed(recorded: Recorded, later: readonly Recorded[]): boolean {
  if (
    /"(?:query|operationName)"/.test(recorded.body?.text ?? '') &&
    OTHER_PURPOSE.test(recorded.body?.text ?? '')
  )
    return false
  const sent = later.flatMap(({ headers }) =>
    headers.filter(([name]) => /cookie|auth|token|session|key/i.test(name)).map(([, value]) => value)
  )
  const values = listValues(recorded).filter(({ isShortId }) => !isShortId)
  return values.some(({ value }) => sent.some((text) => text.includes(value)))
}

function namesIn({ type, text }: NonNullable<Recorded['body']>): string[] {
  if (FORM_TYPE.test(type)) return [...new URLSearchParams(text).keys()]
  if (!JSON_TYPE.test(type)) return []
  try {
    return keysIn(JSON.parse(text))
  } catch {
    return []
  }
}

function keysIn(value: unknown, depth = 0): string[] {
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return []
  return Object.entries(value).flatMap(([key, field]) => [key, ...keysIn(field, depth + 1)])
}
