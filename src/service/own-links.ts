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
