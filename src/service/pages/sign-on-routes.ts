import type { FastifyReply, FastifyRequest } from 'fastify'
import { SignOnError } from '../accounts/login/provider.js'
import { LONGEST_ATTEMPT_SEC, type SignOn } from '../accounts/login/sign-on.js'
import { route, type Route } from '../service-facts.js'
import { readSignOnCookie, signOnCookie } from './cookies.js'
import { type PagePorts, sendLoginForm } from './page-access.js'
import { PAGE_HEADERS, readNextPath, sendPage, signOnPath } from './send-page.js'

/** The way to the provider of single sign-on, and back. */
export function signOnRoutes(ports: PagePorts, signOn: SignOn): Route[] {
  const { front } = ports
  const config = { page: 'always', open: 'page' } as const
  const setCookies = (reply: FastifyReply, ...cookies: string[]): void =>
    void reply.header('set-cookie', cookies)
  return [
    route('GET', signOnPath.start, config, async (request, reply) => {
      const next = readNextPath((request.query as { next?: unknown }).next)
      try {
        const { url, kept } = await signOn.begin(next)
        setCookies(reply, signOnCookie(ports, 'login', kept, LONGEST_ATTEMPT_SEC))
        return await reply.headers(PAGE_HEADERS).redirect(url, 303)
      } catch (thrown) {
        return refuse(reply, { thrown, next }, ports)
      }
    }),
    route('GET', signOnPath.callback, { ...config, effect: 'login' }, async (request, reply) => {
      const kept = readSignOnCookie(request, ports, 'login')
      const used = signOnCookie(ports, 'login', '', 0)
      try {
        const { user, cookie, next } = await signOn.finish(queryOf(request), kept)
        request.user = user
        request.audited.login = 'right'
        const { name, attributes } = front.cookie()
        const known = signOnCookie(ports, 'sso', '1', KNOWN_SEC)
        setCookies(reply, `${name}=${cookie}; ${attributes}`, known, used)
        // By way of a page of ours: with what another site leads to, browsers leave the cookie of the session out.
        const words = 'You are signed in.'
        return sendPage(reply, (await ports.loadPages()).renderDetourPage(next, words))
      } catch (thrown) {
        setCookies(reply, used, signOnCookie(ports, 'sso', '', 0))
        request.audited.login = 'wrong'
        if (thrown instanceof SignOnError) request.audited.reason = thrown.reason
        return refuse(reply, { thrown, next: '/' }, ports)
      }
    })
  ]
}

/** How long a browser remembers that its person signs in there, and goes there by itself. */
const KNOWN_SEC = 30 * 24 * 3600

function queryOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split('?').slice(1).join('?')
}

/** The login page with what went wrong; a token still works. */
async function refuse(
  reply: FastifyReply,
  { thrown, next }: { thrown: unknown; next: string },
  ports: PagePorts
): Promise<FastifyReply> {
  if (!(thrown instanceof SignOnError)) throw thrown
  if (thrown.statusCode >= 500) ports.log(`single sign-on: ${thrown.reason}`)
  return sendLoginForm(reply.code(thrown.statusCode), { next, signOnProblem: thrown.message }, ports)
}
