import type { FuzzRequest } from './make-request.js'
import type { RawReply } from './wire.js'

/** What is said to work for everyone. */
const OPEN = /^\/(healthz|readyz|metrics|login|logout|favicon\.ico)\b/
/** Of a service that is draining, or of a disk that is full. */
const DOCUMENTED = [503, 507]
/** Beyond what is in flight, a body that is refused is not read, and the reply to it may be lost. */
const MOST_READ = 1024 ** 2
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY'
}

export interface RuleParts {
  readonly secrets: readonly string[]
  /** Every reply of this service says its version. */
  readonly version: string | undefined
}

/** Everything that is wrong with a reply; nothing if it is as it must be. */
export function breachesOf(request: FuzzRequest, reply: RawReply, parts: RuleParts): string[] {
  if (reply.status === 0)
    return request.isMisleading || request.body.length > MOST_READ
      ? []
      : ['the connection was closed without a reply']
  return [
    ...(reply.status >= 500 && !DOCUMENTED.includes(reply.status) ? [`a ${reply.status}`] : []),
    ...breachesOfAccess(request, reply),
    ...breachesOfForm(request, reply),
    ...parts.secrets.filter((secret) => holds(reply, secret)).map(() => 'a token in the reply'),
    ...(reply.headers.has('x-injected') ? ['a header that came from a value'] : []),
    ...(parts.version !== undefined && !reply.headers.has('x-loadgate-version') && !isUnread(reply)
      ? ['no X-Loadgate-Version']
      : [])
  ]
}

/** What is not HTTP never reaches the application. */
const isUnread = ({ status, headers, text }: RawReply): boolean =>
  [400, 408, 413, 417, 431].includes(status) &&
  (headers.get('connection')?.[0] === 'close' || text.includes(`"statusCode":${status}`))

function holds({ text, headers }: RawReply, secret: string): boolean {
  return text.includes(secret) || [...headers.values()].flat().some((value) => value.includes(secret))
}

function breachesOfAccess({ caller, method, path }: FuzzRequest, { status }: RawReply): string[] {
  const isOpen = OPEN.test(path.replace(/^https?:\/\/[^/]*/, '').replace(/^\/+(api\/+)*/, '/'))
  const isDone = status >= 200 && status < 300
  if (['nobody', 'stranger'].includes(caller) && isDone && !isOpen && !path.includes('token='))
    return [`${caller} got a ${status}`]
  const changes = !['GET', 'HEAD', 'OPTIONS', 'TRACE'].includes(method) || /\/(stop|repeat)\b/.test(path)
  if (caller === 'viewer' && changes && method !== 'HEAD' && isDone && !isOpen)
    return [`a viewer's ${method} got a ${status}`]
  return []
}

function breachesOfForm({ method }: FuzzRequest, { status, headers, text }: RawReply): string[] {
  const type = headers.get('content-type')?.[0] ?? ''
  const cookies = headers.get('set-cookie') ?? []
  const breaches = cookies
    .filter((cookie) => !/HttpOnly/i.test(cookie) || !/SameSite=Strict/i.test(cookie))
    .map((cookie) => `a cookie that pages can read: ${cookie.split('=')[0]}`)
  if (text === '' || method === 'HEAD') return breaches
  if (/^application\/(json|openmetrics)/.test(type)) return [...breaches, ...breachesOfJson(status, text)]
  if (/^text\/(html|event-stream)/.test(type)) {
    const wanted = Object.entries(PAGE_HEADERS)
    const missing = wanted.filter(([name, value]) => !headers.get(name)?.[0]?.includes(value))
    breaches.push(...missing.map(([name]) => `a page without ${name}`))
    if (type.startsWith('text/html') && !headers.has('content-security-policy'))
      breaches.push('a page without a content security policy')
    return breaches
  }
  const isText =
    type.startsWith('text/plain') && (status >= 400 || text.startsWith('# ') || text.length < 100)
  const isContent = /^(text\/csv|application\/(octet-stream|gzip))/.test(type) && status < 300
  return isText || isContent ? breaches : [...breaches, `a ${status} of type ${JSON.stringify(type)}`]
}

function breachesOfJson(status: number, text: string): string[] {
  try {
    const document = JSON.parse(text) as { error?: unknown }
    return status >= 400 && (typeof document.error !== 'string' || document.error === '')
      ? [`a ${status} without an error: ${text.slice(0, 200)}`]
      : []
  } catch {
    return [`JSON that cannot be read: ${text.slice(0, 200)}`]
  }
}
