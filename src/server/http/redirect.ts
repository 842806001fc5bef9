/**
 * To the same path at the address of the service, never at a host that the request names. 308 keeps method and body. A token in
 * the query has crossed the network in plain text; it is not repeated where histories and logs would keep it.
 */
export function redirectTo(baseUrl: string, url: string): { status: 308; location: string } {
  // A request to a proxy has the whole address.
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return { status: 308, location: `${baseUrl}${path.startsWith('/') ? '' : '/'}${withoutToken(path)}` }
}

/** Everything else stays as it was written. */
function withoutToken(path: string): string {
  const start = path.indexOf('?')
  if (start === -1) return path
  const pairs = path.slice(start + 1).split('&')
  const kept = pairs.filter((pair) => ![...new URLSearchParams(pair).keys()].some(isToken))
  return kept.length === pairs.length
    ? path
    : `${path.slice(0, start)}${kept.length === 0 ? '' : `?${kept.join('&')}`}`
}

const isToken = (key: string): boolean => /^token\b/i.test(key)
