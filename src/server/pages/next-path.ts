const LOGIN = '/login'
const LONGEST = 2000
/** Never leaves this service: browsers read a backslash as a slash and skip tabs and line feeds. */
const OWN = 'http://service.invalid'

/** The login that leads back to this address afterwards. */
export function loginPath(address: string): string {
  const next = readNextPath(address)
  return next === '/' ? LOGIN : `${LOGIN}?next=${encodeURIComponent(next)}`
}

/** A path of this service, without a token; the list of runs for anything else. */
export function readNextPath(given: unknown): string {
  if (typeof given !== 'string' || given.length > LONGEST || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given))
    return '/'
  if (!URL.canParse(given, OWN)) return '/'
  const url = new URL(given, OWN)
  if (url.searchParams.has('token')) url.searchParams.delete('token')
  const path = url.pathname + url.search
  const isOwn = url.origin === OWN && !/^\/[/\\]/.test(path) && !/[\\]/.test(path)
  return isOwn && url.pathname !== LOGIN ? path : '/'
}
