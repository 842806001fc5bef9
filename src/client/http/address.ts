import { decodePart } from '../../contract/text.js'
import type { Vocabulary } from '../../contract/vocabulary.js'

export interface Address {
  /** What the API's paths are relative to, without a trailing slash. */
  readonly api: string
  readonly origin: string
  /** Whether the API is certainly there; otherwise the client looks for it before its first request. */
  readonly isKnown?: boolean
}

const LOOPBACK = /^(localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

export function isLoopback(url: URL): boolean {
  return LOOPBACK.test(url.hostname)
}

/** Credentials go over https only; loopback never leaves the machine. */
export function isConfidential(url: URL): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url))
}

/** Reads a base URL as it is written; throws an Error whose message says what is accepted. */
export function readAddress(text: string): Address {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new Error('is not a URL; use one such as https://service.example, or local', { cause })
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error('must start with https://')
  if (!isConfidential(url))
    throw new Error(
      'must start with https:// (plain http would send the token in the clear; only loopback may use it)'
    )
  if (url.username !== '' || url.password !== '')
    throw new Error('must not contain a user name or password; pass the token as `token`')
  if (url.search !== '' || url.hash !== '') throw new Error('must not have a query or a fragment')
  return { api: url.origin + url.pathname.replace(/\/+$/, ''), origin: url.origin }
}

/** An address that has been looked up, or needs no looking up. */
export function knownAddress(text: string): Address {
  return { ...readAddress(text), isKnown: true }
}

/** Where the API may be: at the address as written, or below `/api`, which the links in replies contain. */
export function candidatesOf(address: Address): Address[] {
  return address.api.endsWith('/api') ? [address] : [address, { ...address, api: `${address.api}/api` }]
}

/** Where the API is, if its account is redirected to another path of the same origin. */
export function redirectedAddress(address: Address, location = ''): Address | undefined {
  const from = `${address.api}/account`
  const to = location !== '' && URL.canParse(location, from) ? new URL(location, from) : undefined
  if (to?.origin !== address.origin || !to.pathname.endsWith('/account')) return undefined
  return { ...address, api: to.origin + to.pathname.slice(0, -'/account'.length) }
}

/**
 * Resolves a link of a reply. Whether it contains `/api` or not, what is the API's own is requested where the API was found: every link
 * without a host, and one on the same origin that names a resource of the API. Any other link stays as it is.
 */
export function resolveLink({ api, origin }: Address, href: string, words: Pick<Vocabulary, 'runs'>): URL {
  const link = new URL(href, origin)
  if (link.origin !== origin) return link
  const root = api.slice(origin.length).replace(/\/api$/, '')
  const below = link.pathname.startsWith(`${root}/`) ? link.pathname.slice(root.length) : link.pathname
  const path = below.replace(/^\/api(?=\/|$)/, '')
  const isAbsolute = /^([a-z][a-z0-9+.-]*:|\/\/)/i.test(href)
  const isResource = new RegExp(`^/(${words.runs}|grids|account)(/|$)`).test(path)
  return isAbsolute && !isResource ? link : new URL(api + path + link.search)
}

/**
 * A loadgate links to itself by its external address, but a gate may know it by another one, such as its name inside a cluster. What is
 * the API's own is requested from the address that the gate was given: only that one gets the token, and the other one may not be
 * reachable. Any other link stays as it is.
 */
export function atOwnAddress(address: Address, link: URL, words: Pick<Vocabulary, 'runs'>): URL {
  const path = link.pathname.replace(/^\/api(?=\/)/, '')
  const keys = [...link.searchParams.keys()]
  const isResult =
    new RegExp(`^/${words.runs}/[\\w-]+/result\\.csv$`).test(path) && keys.every((key) => key === 'grid_id')
  const isList = path === `/${words.runs}`
  return isResult || isList ? new URL(address.api + path + link.search) : link
}

/** As services make them; a folder called `2026-11-16` or `results` is not one. */
const LIKE_AN_ID = /^(?=.*\d)(?=.*[a-z])[\w-]{8,}$/i

/** The run that a link names, as `/runs/<id>/…` or `run_id=<id>`, if this one is nowhere in it. A link naming none may be anybody's. */
export function otherRunIn(
  href: string,
  runId: string,
  words: Pick<Vocabulary, 'run' | 'runs'>
): string | undefined {
  if (!URL.canParse(href, 'http://x')) return undefined
  const { pathname, search, searchParams } = new URL(href, 'http://x')
  const segments = pathname.split('/').map(decodePart)
  if (dashed(decodePart(pathname + search)).includes(dashed(runId))) return undefined
  const inPath = segments.filter(
    (id, at) => segments[at - 1] === words.runs && (segments[at + 1] === 'result.csv' || LIKE_AN_ID.test(id))
  )
  return [...inPath, ...searchParams.getAll(`${words.run}_id`)].find((id) => /^[\w-]+$/.test(id))
}

function dashed(text: string): string {
  return `-${text.replace(/[^a-z\d]+/gi, '-')}-`
}

export type ContentRange = NonNullable<ReturnType<typeof readContentRange>>

const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+|\*)$/

/** Which bytes a part contains, and of how many; both ends are inclusive. */
export function readContentRange(text: string | undefined) {
  const [, from, to, size] = CONTENT_RANGE.exec(text?.trim() ?? '') ?? []
  const [fromByte, toByte] = [Number(from), Number(to)]
  const total = size === '*' ? undefined : Number(size)
  if (from === undefined || toByte < fromByte || (total !== undefined && toByte >= total)) return undefined
  return { fromByte, toByte, total }
}
