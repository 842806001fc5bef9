import type { Vocabulary } from '../protocol/vocabulary.js'
import type { Address } from './http/address.js'

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

/**
 * The run that a link names in its path or its query, if it is not this one. A link that names none, as to storage elsewhere, may be
 * anybody's.
 */
export function otherRunIn(
  href: string,
  runId: string,
  words: Pick<Vocabulary, 'run' | 'runs'>
): string | undefined {
  if (!URL.canParse(href, 'http://x')) return undefined
  const { pathname, searchParams } = new URL(href, 'http://x')
  const segments = pathname.split('/').map(decode)
  const named = [
    ...segments.filter((_, index) => segments[index - 1] === words.runs),
    ...searchParams.getAll(`${words.run}_id`)
  ].filter((id) => /^[\w-]+$/.test(id))
  return named.includes(runId) ? undefined : named[0]
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
