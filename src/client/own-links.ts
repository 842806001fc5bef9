import type { Vocabulary } from '../contract/vocabulary.js'
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

/** As services make them; a folder called `2026-11-16` or `results` is none. */
const LIKE_AN_ID = /^(?=.*\d)(?=.*[a-z])[\w-]{8,}$/i

/**
 * The run that a link names as the API does, `/runs/<id>/…` or `run_id=<id>`, if this one is nowhere in it. A link that names none, as to
 * storage elsewhere, may be anybody's.
 */
export function otherRunIn(
  href: string,
  runId: string,
  words: Pick<Vocabulary, 'run' | 'runs'>
): string | undefined {
  if (!URL.canParse(href, 'http://x')) return undefined
  const { pathname, search, searchParams } = new URL(href, 'http://x')
  const segments = pathname.split('/').map(decode)
  if (dashed(decode(pathname + search)).includes(dashed(runId))) return undefined
  const inPath = segments.filter(
    (id, at) => segments[at - 1] === words.runs && (segments[at + 1] === 'result.csv' || LIKE_AN_ID.test(id))
  )
  return [...inPath, ...searchParams.getAll(`${words.run}_id`)].find((id) => /^[\w-]+$/.test(id))
}

/** For a search of whole words. */
function dashed(text: string): string {
  return `-${text.replace(/[^a-z\d]+/gi, '-')}-`
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
