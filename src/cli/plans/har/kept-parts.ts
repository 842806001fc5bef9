import { isConfidentialName } from '../../../contract/secret-names.js'
import { FORM_TYPE, JSON_TYPE, type PlanHeader, type PlanText } from '../request.js'
import {
  keepPairs,
  namesSecret,
  replaceBy,
  isPlainName,
  markProperty,
  markVariable,
  mayBeSecret,
  MOST_DIGITS,
  showProperties,
  type Removed
} from '../secrets.js'
import type { Recorded } from './recording.js'

/** What a browser or a tracing library sends by itself; JMeter has its own, or the server does not need it. */
const BROWSERS_OWN =
  /^(?::.*|sec-.*|host|connection|content-length|user-agent|referer|origin|accept-encoding|cache-control|pragma|upgrade-insecure-requests|dnt|te|priority|if-none-match|if-modified-since|keep-alive|proxy-connection|purpose|traceparent|tracestate|baggage|newrelic|(?:x-)?(?:request|correlation)-id|x-b3-.*)$/
const MEDIA_PARAMETER =
  /^(?:q=[01](?:\.\d{1,3})?|v=b3|level=\d|version=\d(?:\.\d)?|charset=[a-z]{2,8}(?:-[a-z0-9]{1,5}){0,3})$/i
const LANGUAGE = /^(?:\*|[a-z]{2,3}(?:-[a-z0-9]{2,4}){0,3})(?:; ?q=[01](?:\.\d{1,3})?)?$/i
const DEEPEST_JSON = 60
const MOST_BODY_BYTES = 256 * 1024
/** Marks around what is not a string: a number stays as it was written, because JavaScript would round it. */
const [RAW_START, RAW_END] = ['\ue002', '\ue003']
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/** Headers that the application may need. Values are kept only where they cannot be secret: the others become properties. */
export function keepHeaders(headers: Recorded['headers'], removed: Removed): PlanHeader[] {
  const seen = new Set<string>()
  return headers.flatMap(([name, value]): PlanHeader[] => {
    const key = name.toLowerCase()
    if (BROWSERS_OWN.test(key) || !/^[a-z0-9_.-]+$/.test(key) || seen.has(key)) return []
    seen.add(key)
    // The boundary is that of a body which is not in the plan.
    if (key === 'content-type' && /^multipart\//i.test(value)) return []
    if (key === 'cookie' || key === 'proxy-authorization' || !isPlainName(name)) {
      removed.headers.add(isPlainName(name) ? name : 'a header with a random name')
      return []
    }
    const line = value.replace(/\s+/g, ' ').trim()
    const found = findInHeader(name, line, removed)
    if (found !== undefined) return [{ name, value: found }]
    return [{ name, value: [isPlainHeader(key, line) ? line : replaceBy(key, value, removed)] }]
  })
}

/** The whole value, or what comes after a word such as Bearer. */
function findInHeader(name: string, line: string, { find }: Removed): PlanText | undefined {
  const [, scheme = '', word = ''] = /^([A-Za-z]{1,20} )?(\S+)$/.exec(line) ?? []
  const variable = find?.(word, { kind: 'header', name })
  return variable === undefined ? undefined : [...(scheme === '' ? [] : [scheme]), { variable }]
}

function isPlainHeader(key: string, value: string): boolean {
  const parts = value.split(',').map((part) => part.trim())
  if (key === 'accept' || key === 'content-type') return parts.every(isMediaRange)
  if (key === 'accept-language') return parts.every((part) => LANGUAGE.test(part))
  return key === 'x-requested-with' && !mayBeSecret(value)
}

function isMediaRange(text: string): boolean {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  return mediaType(type) !== undefined && parameters.every((part) => MEDIA_PARAMETER.test(part))
}

/** Without parameters; undefined if it is none, but any other text. */
export function mediaType(text: string): string | undefined {
  const type = text.split(';')[0]?.trim() ?? ''
  const [, sub] =
    /^(?:\*|text|application|image|audio|video|font|multipart|message|model)\/(\S+)$/i.exec(type) ?? []
  return sub !== undefined && !mayBeSecret(sub.replace(/[+*]/g, '-')) ? type : undefined
}

/** A form or JSON; undefined for bodies in which secrets cannot be found. */
export function keepBody(body: NonNullable<Recorded['body']>, removed: Removed): PlanText | undefined {
  if (body.text.length > MOST_BODY_BYTES) return undefined
  if (FORM_TYPE.test(body.type)) return keepPairs(body.text, removed)
  if (!JSON_TYPE.test(body.type)) return undefined
  try {
    JSON.parse(body.text)
    const value: unknown = JSON.parse(
      body.text.replace(STRING_OR_NUMBER, (text) => (text.startsWith('"') ? text : JSON.stringify(raw(text))))
    )
    const kept = JSON.stringify(keepJson(value, { name: '', isSecret: false, depth: 0 }, removed), null, 2)
    return showProperties(kept.replaceAll(`"${RAW_START}`, '').replaceAll(`${RAW_END}"`, ''))
  } catch {
    return undefined
  }
}

/** Where a value of a body is: under which name, and whether everything there is secret. */
interface Place {
  readonly name: string
  readonly isSecret: boolean
  readonly depth: number
}

function keepJson(value: unknown, place: Place, removed: Removed): unknown {
  if (place.depth > DEEPEST_JSON) throw new Error('too deep')
  if (typeof value === 'string') return keepText(value, place, removed)
  if (typeof value !== 'object' || value === null) return value
  const within = { ...place, depth: place.depth + 1 }
  if (Array.isArray(value)) {
    // `["password", "…"]` is a name and its value.
    const isPair = value.length === 2 && namesSecret('name', value[0])
    return value.map((element: unknown, at) =>
      keepJson(element, isPair && at === 1 ? { ...within, isSecret: true } : within, removed)
    )
  }
  const fields = Object.entries(value)
  const isTelling = fields.some(([key, field]) => namesSecret(key, field))
  return Object.fromEntries(
    fields.map(([key, field]) => {
      const isKept = isPlainName(key)
      const isSecret = place.isSecret || isConfidentialName(key) || (isTelling && !namesSecret(key, field))
      return [
        isKept ? key : mark('body-name', key, removed),
        keepJson(field, { ...within, name: isKept ? key : '', isSecret }, removed)
      ]
    })
  )
}

/** A string, or a number between its marks. */
function keepText(value: string, { name, isSecret }: Place, removed: Removed): string {
  const property = name === '' ? 'body-value' : name
  const isNumber = value.startsWith(RAW_START)
  const variable = removed.find?.(isNumber ? value.slice(1, -1) : value, { kind: 'field', name })
  if (variable !== undefined) return isNumber ? raw(markVariable(variable)) : markVariable(variable)
  // A card number is longer than a time, and called anything but an id.
  const isHarmless = value.replace(/\D/g, '').length <= MOST_DIGITS || /id$/i.test(name)
  if (/^\ue002-?\d[\d.eE+-]{0,19}\ue003$/.test(value) && isHarmless && !isSecret) return value
  if (isNumber) return raw(mark(property, value, removed))
  return value !== '' && (isSecret || mayBeSecret(value, name)) ? mark(property, value, removed) : value
}

function raw(text: string): string {
  return `${RAW_START}${text}${RAW_END}`
}

function mark(name: string, value: string, removed: Removed): string {
  return markProperty(replaceBy(name, value, removed).property)
}
