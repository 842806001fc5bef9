import { addressOf, labelOf, readableName, readTarget, SourceError } from './request.js'
import type { PlanRequest, PlanTarget, RequestSet } from './request.js'
import { describeProperties, keepPath, nothingRemoved, TYPED, type Removed } from './secrets.js'

/** One GET per address, all of the same application. */
export function readUrls(addresses: readonly string[]): RequestSet {
  const pages = addresses.map((address) => ({ url: readUrl(address), target: readAddress(address) }))
  const [first] = pages
  if (first === undefined)
    throw new SourceError('no address was given; give one such as http://localhost:8080/')
  const other = pages.find(({ target }) => addressOf(target) !== addressOf(first.target))
  if (other !== undefined)
    throw new SourceError(
      `${addressOf(first.target)} and ${addressOf(other.target)} are two applications, and a plan has one; give addresses of one of them`
    )
  const removed = nothingRemoved()
  const requests = pages.map(({ url }) => request(url, removed))
  const notes = describeProperties(removed.properties)
  return { target: first.target, requests, notes, correlations: [], credentials: [] }
}

export function readAddress(
  address: string,
  path: 'without a path' | 'with any path' = 'with any path'
): PlanTarget {
  const url = readUrl(address)
  if (url.username + url.password !== '')
    throw new SourceError(
      `the address at ${url.host} contains a user name or a password, which would be committed with the plan; give the address without them`
    )
  if (path === 'without a path' && url.pathname + url.search !== '/')
    throw new SourceError(
      `"${shown(address)}" contains a path, but the paths come from the file; give the address without one: ${url.origin}`
    )
  const target = readTarget(url)
  if (target === undefined)
    throw new SourceError(
      `"${shown(address)}" is not an http or https address with a plain host name; give one such as http://localhost:8080/`
    )
  return target
}

function readUrl(address: string): URL {
  // `localhost:8080` is an address for people, but an unknown protocol for the parser.
  const whole = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? address : `http://${address}`
  if (!URL.canParse(whole))
    throw new SourceError(`"${shown(address)}" is not an address; give one such as http://localhost:8080/`)
  return new URL(whole)
}

/** An address that is refused, without what may be secret in it. */
function shown(address: string): string {
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*@/is, '$1***@').replace(/[?#].*/s, '?…')
}

function request(url: URL, removed: Removed): PlanRequest {
  const path = keepPath(url, removed, TYPED)
  return { name: readableName(`GET ${labelOf(path)}`), method: 'GET', path, headers: [], isEnabled: true }
}
