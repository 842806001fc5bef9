import { labelOf, readableName } from '../plan-text.js'
import { MOST_REQUESTS, SourceError, addressOf, isMethod, isSafe, readTarget } from '../request.js'
import type { PlanRequest, RequestSet } from '../request.js'
import { readRecording } from './recorded.js'
import type { Recorded } from './recorded.js'
import { describeProperties, keepPath, nothingRemoved } from '../without-secrets.js'
import type { Removed } from '../without-secrets.js'
import { keepBody, keepHeaders, mediaType } from './recorded-secrets.js'

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
  const main = findMain(requests)
  const target = main && readTarget(main.url)
  if (main === undefined || target === undefined)
    throw new SourceError('it contains no request to an http or https address with a plain host name')
  const counts = new Map<string, number>()
  const leaveOut = (reason: string, count = 1): unknown =>
    counts.set(reason, (counts.get(reason) ?? 0) + count)
  const removed = nothingRemoved()
  /** The addresses that JMeter requests by itself. */
  const redirects = new Set<string>()
  const plan: PlanRequest[] = []
  let before: Recorded | undefined
  for (const recorded of requests) {
    const reason = whyLeftOut(recorded, main.url)
    const isFollowed = reason === undefined && redirects.delete(withoutHash(recorded.url))
    if (reason !== undefined) leaveOut(reason)
    else if (isFollowed) leaveOut('after a redirect, which JMeter follows by itself')
    else if (plan.length === MOST_REQUESTS) leaveOut(`beyond the first ${MOST_REQUESTS}`)
    else {
      plan.push(toRequest(recorded, before, options, removed))
      before = recorded
    }
    // A disabled request is not sent, so that nothing follows its redirect.
    const isSent = isFollowed || (reason === undefined && plan.at(-1)?.isEnabled === true)
    const next = isSent ? redirectOf(recorded) : undefined
    if (next !== undefined) redirects.add(next)
  }
  if (others > 0) leaveOut(NOT_HTTP, others)
  if (plan.length === 0)
    throw new SourceError(
      `it contains no request to ${addressOf(target)} that a plan could send; ${describeCounts(counts)}`
    )
  return { target, requests: plan, notes: notesOf(plan, counts, removed) }
}

/**
 * The page that the user opened. It comes before the frames within it; it may come from the cache, lead to a login elsewhere and
 * back, or to where the application really is.
 */
function findMain(requests: readonly Recorded[]): Recorded | undefined {
  const pages = requests.filter(isPage)
  const answered = pages.filter(
    ({ status }) => status > 0 && (status < 300 || status >= 400 || status === 304)
  )
  const home = pages.find((page) => answered.some(({ url }) => url.origin === page.url.origin))
  return home ?? requests.find(({ status }) => status > 0) ?? requests[0]
}

/** Without a response a page says only by its request that it is one. */
function isPage({ resource, responseType, headers }: Recorded): boolean {
  if (resource === 'document' || responseType.startsWith('text/html')) return true
  const accepts = headers.find(([name]) => name.toLowerCase() === 'accept')?.[1] ?? ''
  return resource === '' && accepts.startsWith('text/html')
}

/** Undefined if it is kept. */
function whyLeftOut(
  { method, url, status, resource, responseType }: Recorded,
  main: URL
): string | undefined {
  if (url.origin !== main.origin) return 'to other hosts'
  if (resource === 'websocket') return NOT_HTTP
  if (resource === 'preflight' || method === 'OPTIONS') return 'CORS preflights'
  if (!isMethod(method)) return 'with unusual methods'
  if (status === 0) return 'without a response'
  const isStatic =
    STATIC_RESOURCE.test(resource) || STATIC_TYPE.test(responseType) || STATIC_PATH.test(url.pathname)
  return isSafe(method) && isStatic ? 'for static files' : undefined
}

function redirectOf({ status, redirect, url }: Recorded): string | undefined {
  const isRedirect = status >= 300 && status < 400 && redirect !== '' && URL.canParse(redirect, url.href)
  return isRedirect ? withoutHash(new URL(redirect, url)) : undefined
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
    ? `The recorded body (${mediaType(recorded.body.type) ?? 'of unknown type'}) is not in the plan: only forms and JSON of up to 256 KiB are. Add one before you enable this.`
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
