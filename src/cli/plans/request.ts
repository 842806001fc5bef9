/** Text in a plan: as it is, or the value of a property that is given at run time (`-Jname=value`). */
export type PlanText = readonly (string | { readonly property: string })[]

export interface PlanHeader {
  readonly name: string
  readonly value: PlanText
}

export interface PlanRequest {
  /** The label in all results. */
  readonly name: string
  readonly method: string
  /** Percent-encoded, with its query. */
  readonly path: PlanText
  readonly headers: readonly PlanHeader[]
  readonly body?: PlanText
  readonly isEnabled: boolean
  /** The first digit of the status that it was answered with: another one counts as failed. Without it redirects are followed. */
  readonly expects?: 2 | 3
  /** What to know before it is changed or enabled. */
  readonly note?: string
  /** How long a user waits before it; otherwise what holds for all requests. */
  readonly thinkMs?: number
}

/** Where the requests go unless properties say otherwise. */
export interface PlanTarget {
  readonly protocol: 'http' | 'https'
  readonly host: string
  readonly port: number
}

/** What a source says about an application. */
export interface RequestSet {
  /** Undefined if the source does not say. */
  readonly target: PlanTarget | undefined
  readonly requests: readonly PlanRequest[]
  /** What was left out or replaced, one sentence each. */
  readonly notes: readonly string[]
}

/** A source that no plan can be made from; the message says why and what to do. */
export class SourceError extends Error {
  override name = 'SourceError'
}

/** A plan with more is not read by anyone. */
export const MOST_REQUESTS = 500
export const DEFAULT_TARGET: PlanTarget = { protocol: 'http', host: 'localhost', port: 8080 }

const SAFE_METHODS: readonly string[] = ['GET', 'HEAD']
const METHODS: readonly string[] = [...SAFE_METHODS, 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/** Whether a request only reads: the others are not sent thousands of times unless someone says so. */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.includes(method)
}

export function isMethod(method: string): boolean {
  return METHODS.includes(method)
}

export function addressOf({ protocol, host, port }: PlanTarget): string {
  return new URL(`${protocol}://${host}:${port}`).origin
}

/** The target of an address; undefined if it is not an address that a plan can use. */
export function readTarget(url: URL): PlanTarget | undefined {
  const protocol = url.protocol === 'http:' ? 'http' : url.protocol === 'https:' ? 'https' : undefined
  // URLs allow more, but in a plan the name is an argument of a function.
  const isPlain = /^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i.test(url.hostname)
  if (protocol === undefined || !isPlain) return undefined
  return { protocol, host: url.hostname, port: Number(url.port) || (protocol === 'http' ? 80 : 443) }
}

/** What the requests that are sent need at run time. */
export function propertiesOf(requests: readonly PlanRequest[]): Set<string> {
  const texts = requests
    .filter(({ isEnabled }) => isEnabled)
    .flatMap(({ path, headers, body = [] }) => [...path, ...headers.flatMap(({ value }) => value), ...body])
  return new Set(texts.flatMap((part) => (typeof part === 'string' ? [] : [part.property])))
}

export function describeDisabled(requests: readonly PlanRequest[]): string[] {
  const disabled = requests.filter(({ isEnabled }) => !isEnabled).length
  return disabled === 0
    ? []
    : [
        `${disabled} of ${requests.length} requests are disabled in the plan, each with a comment that says why.`
      ]
}
