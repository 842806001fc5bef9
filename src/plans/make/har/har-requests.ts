import { readableName } from '../plan-text.js'
import { MOST_REQUESTS, SourceError, addressOf, isMethod, isSafe, readTarget } from '../request.js'
import type { PlanRequest, PlanText, RequestSet } from '../request.js'
import { readRecording } from './recorded.js'
import type { Recorded } from './recorded.js'
import { keepBody, keepHeaders, keepPath } from './without-secrets.js'
import type { Removed } from './without-secrets.js'

export interface HarOptions {
  /** Also send what is not GET or HEAD. */
  readonly allMethods: boolean
  /** Wait between the requests as the user did. */
  readonly thinkTimes: boolean
}

const STATIC_RESOURCE = /^(?:script|stylesheet|image|font|media|texttrack|manifest|ping|beacon|csp-report)$/
const STATIC_TYPE =
  /^(?:image|font|audio|video)\/|^text\/css|javascript|ecmascript|^application\/(?:font|wasm)/
const STATIC_PATH =
  /\.(?:css|m?js|map|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|eot|otf|mp[34]|webm|wasm|webmanifest)$/i
const LONGEST_THINK_MS = 60_000

/** The requests of a recording that a load test sends: those to the application itself, without pictures, scripts and trackers. */
export function readHar(text: string, options: HarOptions): RequestSet {
  const { requests, others } = readRecording(text)
  const main = requests.find(isPage) ?? requests.find(({ status }) => status > 0) ?? requests[0]
  const target = main && readTarget(main.url)
  if (main === undefined || target === undefined)
    throw new SourceError('it contains no request to an http or https address with a plain host name')
  const counts = new Map<string, number>()
  const kept = requests.filter((recorded, at) => {
    const reason = whyLeftOut(recorded, main.url, requests[at - 1])
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
    return reason === undefined
  })
  if (others > 0) counts.set('not http (data: addresses, web sockets)', others)
  if (kept.length > MOST_REQUESTS) counts.set(`after the first ${MOST_REQUESTS}`, kept.length - MOST_REQUESTS)
  if (kept.length === 0)
    throw new SourceError(
      `it contains no request to ${addressOf(target)} that a plan could send; ${describeCounts(counts)}`
    )
  const removed: Removed = { properties: new Set(), headers: new Set() }
  const first = kept.slice(0, MOST_REQUESTS)
  const plan = first.map((recorded, at) => toRequest(recorded, first[at - 1], options, removed))
  return { target, requests: plan, notes: notesOf(plan, counts, removed) }
}

function isPage({ status, resource, responseType }: Recorded): boolean {
  return status >= 200 && status < 300 && (resource === 'document' || responseType.startsWith('text/html'))
}

function whyLeftOut(
  { method, url, status, resource, responseType }: Recorded,
  main: URL,
  before: Recorded | undefined
): string | undefined {
  if (url.host !== main.host || url.protocol !== main.protocol) return 'to other hosts'
  if (resource === 'websocket') return 'not http (data: addresses, web sockets)'
  if (resource === 'preflight' || method === 'OPTIONS') return 'CORS preflights'
  if (!isMethod(method)) return 'with unusual methods'
  if (status === 0) return 'without a response'
  const isStatic =
    STATIC_RESOURCE.test(resource) || STATIC_TYPE.test(responseType) || STATIC_PATH.test(url.pathname)
  if (isSafe(method) && isStatic) return 'for static files'
  // JMeter follows redirects by itself, and would request it twice.
  const isTarget =
    before !== undefined &&
    isRedirect(before) &&
    URL.canParse(before.redirect, before.url.href) &&
    new URL(before.redirect, before.url.href).href.split('#')[0] === url.href.split('#')[0]
  return isTarget && before.url.host === main.host && before.url.protocol === main.protocol
    ? 'that follow a redirect, as JMeter does'
    : undefined
}

function isRedirect({ status, redirect }: Recorded): boolean {
  return status >= 300 && status < 400 && redirect !== ''
}

function toRequest(
  recorded: Recorded,
  before: Recorded | undefined,
  { allMethods, thinkTimes }: HarOptions,
  removed: Removed
): PlanRequest {
  const { method, url } = recorded
  const path = keepPath(url, removed)
  const body = recorded.body === undefined || isSafe(method) ? undefined : keepBody(recorded.body, removed)
  const lacksBody = recorded.body !== undefined && !isSafe(method) && body === undefined
  const note = lacksBody
    ? `The recorded body (${recorded.body.type || 'of unknown type'}) is not in the plan: only forms and JSON of up to 256 KiB are. Add one before you enable this.`
    : isSafe(method) || allMethods
      ? undefined
      : 'Disabled, because it changes data. `loadgate init --all-methods` enables it.'
  const pauseMs = before === undefined ? 0 : Math.round(recorded.startMs - before.endMs)
  return {
    name: readableName(`${method} ${labelOf(path)}`),
    method,
    path,
    headers: keepHeaders(recorded.headers, removed),
    ...(body !== undefined && { body }),
    isEnabled: note === undefined,
    ...(note !== undefined && { note }),
    ...(thinkTimes && { thinkMs: Math.min(Math.max(pauseMs, 0) || 0, LONGEST_THINK_MS) })
  }
}

/** The path as people read it, without its query. */
function labelOf(path: PlanText): string {
  const text = path.map((part) => (typeof part === 'string' ? part : `{${part.property}}`)).join('')
  return text.split('?')[0] ?? ''
}

function notesOf(
  plan: readonly PlanRequest[],
  counts: ReadonlyMap<string, number>,
  { properties, headers }: Removed
): string[] {
  const disabled = plan.filter(({ isEnabled }) => !isEnabled).length
  return [
    ...(counts.size > 0 ? [describeCounts(counts)] : []),
    ...(headers.size > 0
      ? [
          `Not in the plan: ${[...headers].join(', ')}. Cookies that the application sets are kept by each user.`
        ]
      : []),
    ...(properties.size > 0
      ? [
          `Recorded values that may be secret are not in the plan; give them as override-parameters: ${[...properties].map((name) => `-J${name}=…`).join(', ')}`
        ]
      : []),
    ...(disabled > 0
      ? [
          `${disabled} of ${plan.length} requests are disabled in the plan, each with a comment that says why.`
        ]
      : []),
    'The plan contains recorded paths, queries and bodies: read it before you commit it.'
  ]
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return `Left out: ${[...counts].map(([reason, count]) => `${count} ${reason}`).join(', ')}.`
}
