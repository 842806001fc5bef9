import type { FastifyRequest } from 'fastify'
import type { ServiceFacts } from '../service-facts.js'

type Ports = Pick<ServiceFacts, 'front' | 'signOn'>

export function readCookie(request: FastifyRequest, name: string): string {
  const pairs = (request.headers.cookie ?? '').split(/;\s*/)
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1) ?? ''
}

/** Of single sign-on: sign-ins that are under way, and that the person in this browser signs in there. */
type Kind = `login-${string}` | 'sso'

/** They come along when the provider leads back here; the cookie of a session does not. */
export function signOnCookie(ports: Ports, kind: Kind, value: string, forSec: number): string {
  const attributes = ports.front.cookie().attributes.replace('SameSite=Strict', 'SameSite=Lax')
  return `${nameOf(ports, kind)}=${value}; ${attributes}; Max-Age=${forSec}`
}

export function readSignOnCookie(request: FastifyRequest, ports: Ports, kind: Kind): string {
  return readCookie(request, nameOf(ports, kind))
}

/** Whether the person in this browser has signed in there before, and has not logged out: the browser goes there by itself. */
export function signsOn(request: FastifyRequest, ports: Ports): boolean {
  return ports.signOn !== undefined && readSignOnCookie(request, ports, 'sso') === '1'
}

/** The sign-ins that are under way in this browser. */
export function openAttempts(request: FastifyRequest, ports: Ports): `login-${string}`[] {
  const start = nameOf(ports, 'login-')
  const names = (request.headers.cookie ?? '').split(/;\s*/).filter((pair) => pair.startsWith(start))
  return names.map((pair) => `login-${pair.slice(start.length).split('=')[0] ?? ''}` as const)
}

function nameOf({ front }: Ports, kind: Kind): string {
  return `${front.cookie().name}-${kind}`
}
