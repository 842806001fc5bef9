/** To the same path at the address of the service, never at a host that the request names. 308 keeps method and body. */
export function redirectTo(baseUrl: string, url: string): { status: 308; location: string } {
  // A request to a proxy has the whole address.
  const path = url.startsWith('/') ? url : url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '')
  return { status: 308, location: `${baseUrl}${path.startsWith('/') ? '' : '/'}${path}` }
}
