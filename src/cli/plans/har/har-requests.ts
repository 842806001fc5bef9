import {
  labelOf,
  readableName,
  MOST_REQUESTS,
  SourceError,
  addressOf,
  describeDisabled,
  isMethod,
  isSafe,
  propertiesOf,
  readTarget
} from '../request.js'
import type { PlanRequest, RequestSet } from '../request.js'
import { when } from '../../../contract/text.js'
import { Correlation } from './correlate.js'
import { isLogin } from './login.js'
import { proofsOf } from './proofs.js'
import { readRecording, type Recorded } from './recording.js'
import { keepBody, keepHeaders, mediaType } from './kept-parts.js'
import { describeProperties, keepPath, nothingRemoved, type Removed } from '../secrets.js'

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
  const kept = requests.filter((recorded) => {
    const reason = whyLeftOut(recorded, main.url)
    if (reason !== undefined) leaveOut(reason)
    return reason === undefined
  })
  const first = kept.slice(0, MOST_REQUESTS)
  if (kept.length > MOST_REQUESTS) leaveOut(`beyond the first ${MOST_REQUESTS}`, kept.length - MOST_REQUESTS)
  const correlation = new Correlation()
  const plan = correlate(first, correlation, (recorded, at, find) =>
    toRequest(recorded, { before: first[at - 1], later: first.slice(at + 1) }, options, { ...removed, find })
  )
  if (others > 0) leaveOut(NOT_HTTP, others)
  if (plan.length === 0)
    throw new SourceError(
      `it contains no request to ${addressOf(target)} that a plan could send; ${describeCounts(counts)}`
    )
  return {
    target,
    requests: plan,
    notes: [
      ...when(counts.size > 0, describeCounts(counts)),
      ...notesOf(plan, first.filter(leadsElsewhere).length, removed),
      ...describeLosses(plan, first)
    ],
    correlations: correlation.describe(plan),
    credentials: [...propertiesOf(plan.filter(({ isLogin: opens }) => opens))]
  }
}

type Find = NonNullable<Removed['find']>

/** The requests with what is taken from their replies; one that needs the reply of a disabled one is disabled too. */
function correlate(
  recordings: readonly Recorded[],
  correlation: Correlation,
  make: (recorded: Recorded, at: number, find: Find) => PlanRequest
): PlanRequest[] {
  const made: PlanRequest[] = []
  for (const [at, recorded] of recordings.entries()) {
    const asked = make(recorded, at, correlation.finderFor(at, recorded))
    const lacking = correlation.needsOf(at).find((need) => !made[need.at]?.isEnabled)
    const request = asked.isEnabled && lacking ? disable(asked, lacking.variable, made[lacking.at]) : asked
    made.push(request)
    correlation.add(at, recorded, request.isEnabled)
  }
  return made.map((request, at) => {
    const extracts = correlation.extractsOf(at)
    return extracts.length === 0 ? request : { ...request, extracts }
  })
}

function disable(request: PlanRequest, variable: string, source: PlanRequest | undefined): PlanRequest {
  const note = `Disabled, because it sends the ${variable} of ${source?.name ?? ''}, which is disabled.`
  return { ...request, isEnabled: false, note }
}

/** What the recording lacks for a login to be found in it. */
function describeLosses(plan: readonly PlanRequest[], recorded: readonly Recorded[]): string[] {
  const empty = recorded.filter(
    ({ responseText, responseBytes, status }) =>
      responseText === undefined && responseBytes > 0 && status < 300
  ).length
  const logins = plan.filter(({ isLogin: opens }) => opens)
  const isSanitized =
    logins.length > 0 &&
    logins.every(({ extracts = [] }) => extracts.length === 0) &&
    !recorded.some(({ headers }) => headers.some(([name]) => /^(?:cookie|authorization)$/i.test(name)))
  return [
    ...when(
      empty > 0,
      `The recording lacks the content of ${empty} of ${recorded.length} replies, so tokens and CSRF fields in them were not found. Save it with content.`
    ),
    ...when(
      isSanitized,
      `No request after ${logins[0]?.name ?? ''} sends a cookie or a token, as in a sanitized recording. A login by cookie works all the same. For one by token, record again with sensitive data (Chrome: Settings, Preferences, Network, "Allow to generate HAR with sensitive data").`
    )
  ]
}

/** The page that the user opened: it may come from the cache, lead to a login elsewhere and back, or to where the application really is. */
function findMain(requests: readonly Recorded[]): Recorded | undefined {
  const pages = requests.filter(isPage)
  const answered = pages.filter(
    ({ status }) => status > 0 && (status < 300 || status >= 400 || status === 304)
  )
  const home = pages.find((page) => answered.some(({ url }) => url.origin === page.url.origin))
  return home ?? requests.find(({ status }) => status > 0) ?? requests[0]
}

/** Without a response, only the request says that it is a page. */
function isPage({ resource, responseType, headers }: Recorded): boolean {
  if (resource === 'document' || responseType.startsWith('text/html')) return true
  const accepts = headers.find(([name]) => name.toLowerCase() === 'accept')?.[1] ?? ''
  return resource === '' && accepts.startsWith('text/html')
}

/** Undefined if it is kept. */
function whyLeftOut({ method, url, status, resource, responseType }: Recorded, main: URL) {
  if (url.origin !== main.origin) return 'to other hosts'
  if (resource === 'websocket') return NOT_HTTP
  if (resource === 'preflight' || method === 'OPTIONS') return 'CORS preflights'
  if (!isMethod(method)) return 'with unusual methods'
  if (status === 0) return 'without a response'
  const isStatic =
    STATIC_RESOURCE.test(resource) || STATIC_TYPE.test(responseType) || STATIC_PATH.test(url.pathname)
  return isSafe(method) && isStatic ? 'for static files' : undefined
}

/** Whether the browser was sent to another host; what it requested next at this one is in the recording. */
function leadsElsewhere({ status, redirect, url }: Recorded): boolean {
  const isRedirect = status >= 300 && status < 400 && URL.canParse(redirect, url.href)
  return isRedirect && new URL(redirect, url).origin !== url.origin
}

function toRequest(
  recorded: Recorded,
  { before, later }: { before: Recorded | undefined; later: readonly Recorded[] },
  { allMethods, thinkTimes }: HarOptions,
  removed: Removed
): PlanRequest {
  const { method, url } = recorded
  const path = keepPath(url, removed)
  const sent = isSafe(method) ? undefined : recorded.body
  const body = sent && keepBody(sent, removed)
  const opens = isLogin(recorded, later)
  const proofs = proofsOf(recorded, opens)
  const lacksBody = sent !== undefined && body === undefined
  const note = lacksBody
    ? `The recorded body (${mediaType(sent.type) ?? 'of unknown type'}) is not in the plan: only forms and JSON of up to 256 KiB are. Add one before you enable this.`
    : isSafe(method) || allMethods || opens
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
    ...(opens && { isLogin: true }),
    ...expectationOf(recorded),
    ...(proofs.length > 0 && { proofs }),
    ...(note !== undefined && { note }),
    ...(thinkTimes && { thinkMs: Math.min(Math.max(pauseMs, 0) || 0, LONGEST_THINK_MS) })
  }
}

/** A 304 came from the browser's cache, which JMeter does not have. An error fails in JMeter anyway. */
function expectationOf({ status }: Recorded): Pick<PlanRequest, 'expects'> {
  if ((status >= 200 && status < 300) || status === 304) return { expects: 2 }
  return status >= 300 && status < 400 ? { expects: 3 } : {}
}

function notesOf(plan: readonly PlanRequest[], elsewhere: number, { headers, properties }: Removed) {
  const logins = plan.filter(({ isLogin: opens, isEnabled }) => opens && isEnabled)
  const isSignedIn =
    logins.length === 0 &&
    [...headers, ...properties].some((name) => /^(?:cookie|authorization)$/i.test(name))
  return [
    ...when(
      headers.size > 0,
      `Not in the plan: ${[...headers].join(', ')}. Cookies that the application sets are kept by each user.`
    ),
    ...when(
      logins.length > 0,
      `It logs in with ${[...new Set(logins.map(({ name }) => name))].join(', ')}, and starts over as a new user each time.`
    ),
    ...when(
      isSignedIn,
      'Recorded with cookies or credentials, and without a login: if the application needs one, record again, logged out, from the login page on, with "Preserve log". A redirect where the recording has none counts as failed.'
    ),
    ...when(
      elsewhere > 0,
      `Redirects to other hosts are not followed: ${elsewhere} of ${plan.length} requests.`
    ),
    ...describeProperties(propertiesOf(plan.filter(({ isLogin: opens }) => !opens))),
    ...describeDisabled(plan),
    'The plan contains recorded paths, queries and bodies: read it before you commit it. Do not commit the recording: it has passwords and cookies.'
  ]
}

function describeCounts(counts: ReadonlyMap<string, number>): string {
  return `Left out of the recording: ${[...counts].map(([reason, count]) => `${count} ${reason}`).join('; ')}.`
}
