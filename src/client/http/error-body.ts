import { isObject } from '../../contract/setting-values.js'
import { isSecretName } from '../../contract/secret-names.js'
import { shorten } from '../../contract/text.js'

const LONGEST_DETAIL = 600
/** No real error is nested this deeply; only an attack on the stack is. */
const DEEPEST = 8

/** Turns an error body of any form seen (`error`, `errors`, `message`; text, list or object; HTML; nothing) into one readable line. */
export function describeErrorBody(body: string, contentType: string): string {
  const text = body.trim()
  if (text === '') return 'no explanation was given'
  if (text.startsWith('<') || contentType.includes('html')) return describeHtml(text)
  const parsed = parseJson(text)
  const plain = text.replace(MEMBER, (member, name: string, colon: string) =>
    isSecretName(name) ? `"${name}"${colon}"***"` : member
  )
  const words = parsed === undefined ? plain : describeValue(explanationIn(parsed))
  return shorten(words === '' ? plain : words, LONGEST_DETAIL)
}

/** A member of a JSON object, also of one that was cut off. */
const MEMBER = /"([^"]{1,100})"(\s*:\s*)("(?:[^"\\]|\\.)*"?|[\w.+-]+)/g

/** A user's token may be in an error; "is invalid" or "has expired" is not one. */
function describeMember(name: string, value: unknown, words: string): string {
  const isSecret = typeof value === 'string' && !/\s/.test(value.trim()) && isSecretName(name)
  return `${name} ${isSecret ? '***' : words}`.trim()
}

function explanationIn(parsed: unknown): unknown {
  if (!isObject(parsed)) return parsed
  const told = [parsed.error, parsed.errors, parsed.message].filter(
    (value) => value !== undefined && value !== null
  )
  return told.length > 0 ? told : parsed
}

function describeValue(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return ''
  if (depth > DEEPEST) return '…'
  const describeInner = (inner: unknown): string => describeValue(inner, depth + 1)
  if (Array.isArray(value))
    return [...new Set(value.map(describeInner).filter((words) => words !== ''))].join('; ')
  if (isObject(value))
    return Object.entries(value)
      .map(([key, inner]) => describeMember(key, inner, describeInner(inner)))
      .join('; ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function describeHtml(text: string): string {
  const title = /<(title|h1)[^>]*>([^<]*)</i.exec(text)?.[2]?.trim()
  return title ? `an HTML page titled "${shorten(title, LONGEST_DETAIL)}"` : 'an HTML page instead of JSON'
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
