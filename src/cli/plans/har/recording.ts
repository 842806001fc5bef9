import { fieldIn, textIn } from '../json-fields.js'
import { FORM_TYPE, SourceError } from '../request.js'

/** One request of a recording, with its reply. */
export type Recorded = NonNullable<ReturnType<typeof readEntry>>

const HOW =
  'save it from the network panel of the browser’s developer tools: "Save all as HAR with content", or "Export HAR (with sensitive data)"'

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

function readEntry(entry: unknown) {
  const request = fieldIn(entry, 'request')
  const response = fieldIn(entry, 'response')
  const content = fieldIn(response, 'content')
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
    /** Where the response sent the browser next. */
    redirect: textIn(response, 'redirectURL'),
    responseType: textIn(content, 'mimeType').toLowerCase(),
    responseHeaders: pairsOf(fieldIn(response, 'headers')),
    /** Undefined if the recording does not contain it. */
    responseText: readContent(content),
    responseBytes: Number(fieldIn(content, 'size')) || 0,
    /** What the browser requested it for; not every browser says. */
    resource: textIn(entry, '_resourceType').toLowerCase()
  }
}

function readBody(data: unknown): { type: string; text: string } | undefined {
  const type = textIn(data, 'mimeType')
  const text = textIn(data, 'text')
  if (type === '' && text === '') return undefined
  // Some browsers record a form as its fields only.
  const fields = pairsOf(fieldIn(data, 'params'))
  const isForm = FORM_TYPE.test(type)
  return {
    type,
    text: text === '' && isForm ? new URLSearchParams(fields.map(([...pair]) => pair)).toString() : text
  }
}

function readContent(content: unknown): string | undefined {
  const text = textIn(content, 'text')
  if (text === '') return undefined
  return textIn(content, 'encoding') === 'base64' ? Buffer.from(text, 'base64').toString() : text
}

function pairsOf(value: unknown): (readonly [string, string])[] {
  return Array.isArray(value)
    ? value.map((pair: unknown) => [textIn(pair, 'name'), textIn(pair, 'value')] as const)
    : []
}
