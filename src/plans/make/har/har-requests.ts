import { labelOf, readableName } from '../plan-text.js'
import { MOST_REQUESTS, SourceError, addressOf, isMethod, isSafe, readTarget } from '../request.js'
import type { PlanRequest, RequestSet } from '../request.js'
import { readRecording } from './recorded.js'
import type { Recorded } from './recorded.js'
import { describeProperties, keepPath } from '../without-secrets.js'
import type { Removed } from '../without-secrets.js'
import { keepBody, keepHeaders } from './recorded-secrets.js'

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
const NOT_HTTP = 'that are not http (data: addresses, web sockets)'
const LONGEST_THINK_MS = 60_000

/** The requests of a recording that a load test sends: those to the application itself, without pictures, scripts and trackers. */
export function readHar(text: string, options: HarOptions): RequestSet {
  const { requests, others } = readRecording(text)
  const main = requests.find(isPage) ?? requests.find(({ status }) => status > 0) ?? requests[0]
  const target = main && readTarget(main.url)
  if (main === undefined || target === undefined)
    throw new SourceError('it contains no request to an http or https address with a plain host name')
  const counts = new Map<string, number>()
  const redirects = new Set<string>()
  const kept = requests.filter((recorded) => {
    const reason = whyLeftOut(recorded, main.url, redirects)
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
    return reason === undefined
  })
  if (others > 0) counts.set(NOT_HTTP, (counts.get(NOT_HTTP) ?? 0) + others)
  if (kept.length > MOST_REQUESTS)
    counts.set(`beyond the first ${MOST_REQUESTS}`, kept.length - MOST_REQUESTS)
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

/** Undefined if it is kept. `redirects` are the addresses that JMeter requests by itself. */
function whyLeftOut(recorded: Recorded, main: URL, redirects: Set<string>): string | undefined {
  const { method, url, status, resource, responseType } = recorded
  if (url.origin !== main.origin) return 'to other hosts'
  if (resource === 'websocket') return NOT_HTTP
  if (resource === 'preflight' || method === 'OPTIONS') return 'CORS preflights'
  if (!isMethod(method)) return 'with unusual methods'
  if (status === 0) return 'without a response'
  const isStatic =
    STATIC_RESOURCE.test(resource) || STATIC_TYPE.test(responseType) || STATIC_PATH.test(url.pathname)
  if (isSafe(method) && isStatic) return 'for static files'
  const isFollowed = redirects.delete(withoutHash(url))
  if (status >= 300 && status < 400 && recorded.redirect !== '' && URL.canParse(recorded.redirect, url.href))
    redirects.add(withoutHash(new URL(recorded.redirect, url)))
  return isFollowed ? 'after a redirect, which JMeter follows by itself' : undefined
}

function withoutHash({ href }: URL): string {
  return href.split('#')[0] ?? ''
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

function notesOf(
  plan: readonly PlanRequest[],
  counts: ReadonlyMap<string, number>,
  removed: Removed
): string[] {
  const { headers } = removed
  const disabled = plan.filter(({ isEnabled }) => !isEnabled).length
  return [
    ...(counts.size > 0 ? [describeCounts(counts)] : []),
    ...(headers.size > 0
      ? [
          `Not in the plan: ${[...headers].join(', ')}. Cookies that the application sets are kept by each user.`
        ]
      : []),
    ...describeProperties(removed),
    ...(disabled > 0
      ? [
          `${disabled} of ${plan.length} requests are disabled in the plan, each with a comment that says why.`
        ]
      : []),
    'The plan contains recorded paths, queries and bodies: read it before you commit it.'
  ]
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return `Left out of the recording: ${[...counts].map(([reason, count]) => `${count} ${reason}`).join('; ')}.`
}
