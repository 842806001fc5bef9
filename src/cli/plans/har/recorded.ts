import { fieldIn, textIn } from '../openapi/api-document.js'
import { SourceError } from '../request.js'

/** A request of a recording, with what is needed of its response. */
export interface Recorded {
  readonly method: string
  readonly url: URL
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: { readonly type: string; readonly text: string } | undefined
  readonly startMs: number
  readonly endMs: number
  readonly status: number
  /** Where the response sent the browser next. */
  readonly redirect: string
  readonly responseType: string
  /** What the browser requested it for; not every browser says. */
  readonly resource: string
}

const HOW =
  'save it from the network panel of the browser’s developer tools: "Save all as HAR", or "Export HAR (sanitized)"'

/** The requests of a HAR file over http, in the order in which they were sent; and the number of others. */
export function readRecording(text: string): { requests: Recorded[]; others: number } {
  const entries = fieldIn(fieldIn(parse(text), 'log'), 'entries')
  if (!Array.isArray(entries)) throw new SourceError(`it is not a HAR file: it has no log.entries; ${HOW}`)
  if (entries.length === 0)
    throw new SourceError('it contains no requests; open the network panel, reload the page, and save again')
  const requests = entries.flatMap((entry: unknown) => readEntry(entry) ?? [])
  // Browsers save them in order; tools that merge recordings may not.
  if (requests.every(({ startMs }) => !Number.isNaN(startMs))) requests.sort((a, b) => a.startMs - b.startMs)
  return { requests, others: entries.length - requests.length }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch (thrown) {
    // The parser quotes the text around the place, which may be part of a secret.
    const message = (thrown as Error).message.replace(/,? ?(?:\.{3})?".*$/s, '')
    throw new SourceError(`it is not a HAR file, which is JSON: ${message}; ${HOW}`)
  }
}

function readEntry(entry: unknown): Recorded | undefined {
  const request = fieldIn(entry, 'request')
  const response = fieldIn(entry, 'response')
  const address = textIn(request, 'url')
  const url = URL.canParse(address) ? new URL(address) : undefined
  // Others are data:, blob:, ws: and chrome-extension:.
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  const startMs = Date.parse(textIn(entry, 'startedDateTime'))
  const takenMs = fieldIn(entry, 'time')
  return {
    method: textIn(request, 'method').toUpperCase(),
    url,
    headers: pairsOf(fieldIn(request, 'headers')),
    body: readBody(fieldIn(request, 'postData')),
    startMs,
    endMs: startMs + (typeof takenMs === 'number' && takenMs > 0 ? takenMs : 0),
    status: Number(fieldIn(response, 'status')) || 0,
    redirect: textIn(response, 'redirectURL'),
    responseType: textIn(fieldIn(response, 'content'), 'mimeType').toLowerCase(),
    resource: textIn(entry, '_resourceType').toLowerCase()
  }
}

function readBody(data: unknown): Recorded['body'] {
  const type = textIn(data, 'mimeType')
  const text = textIn(data, 'text')
  if (type === '' && text === '') return undefined
  // Some browsers record a form as its fields only.
  const fields = pairsOf(fieldIn(data, 'params'))
  const isForm = /^application\/x-www-form-urlencoded/i.test(type)
  return {
    type,
    text: text === '' && isForm ? new URLSearchParams(fields.map(([...pair]) => pair)).toString() : text
  }
}

function pairsOf(value: unknown): (readonly [string, string])[] {
  return Array.isArray(value)
    ? value.map((pair: unknown) => [textIn(pair, 'name'), textIn(pair, 'value')] as const)
    : []
}
