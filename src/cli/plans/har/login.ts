import { FORM_TYPE, JSON_TYPE } from '../request.js'
import { isPasswordName } from '../secrets.js'
import type { Recorded } from './recording.js'

/** Forms with a password that change something. */
const OTHER_PURPOSE = /regist|sign-?up|reset|forgot|recover|change|create|delete|invite/i
const DEEPEST = 5

/** Whether a request opens a session: it sends one password, and was not refused. It changes no data, so that a plan may send it. */
export function isLogin({ method, url, status, body }: Recorded): boolean {
  if (method !== 'POST' || body === undefined || status >= 400 || OTHER_PURPOSE.test(url.pathname))
    return false
  return namesIn(body).filter(isPasswordName).length === 1
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
