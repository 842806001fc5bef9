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
      const begun = await orProblem(signOn.begin(next))
      if (begun instanceof SignOnError) return refuse(reply, { problem: begun, next }, ports)
      setCookies(reply, signOnCookie(ports, 'login', begun.kept, LONGEST_ATTEMPT_SEC))
      return reply.headers(PAGE_HEADERS).redirect(begun.url, 303)
    }),
    route('GET', signOnPath.callback, { ...config, effect: 'login' }, async (request, reply) => {
      const kept = readSignOnCookie(request, ports, 'login')
      const used = signOnCookie(ports, 'login', '', 0)
      const done = await orProblem(signOn.finish(queryOf(request), kept))
      if (done instanceof SignOnError) {
        setCookies(reply, used, signOnCookie(ports, 'sso', '', 0))
        request.audited.login = 'wrong'
        request.audited.reason = done.reason
        return refuse(reply, { problem: done, next: '/' }, ports)
      }
      request.user = done.user
      request.audited.login = 'right'
      const { name, attributes } = front.cookie()
      const known = signOnCookie(ports, 'sso', '1', KNOWN_SEC)
      setCookies(reply, `${name}=${done.cookie}; ${attributes}`, known, used)
      // By way of a page of ours: with what another site leads to, browsers leave the cookie of the session out.
      return sendPage(reply, (await ports.loadPages()).renderDetourPage(done.next, 'You are signed in.'))
    })
  ]
}

async function orProblem<T>(work: Promise<T>): Promise<T | SignOnError> {
  return work.catch((thrown: unknown) => {
    if (thrown instanceof SignOnError) return thrown
    throw thrown
  })
}

/** How long a browser remembers that its person signs in there, and goes there by itself. */
const KNOWN_SEC = 30 * 24 * 3600

function queryOf({ originalUrl }: FastifyRequest): string {
  return originalUrl.split('?').slice(1).join('?')
}

/** The login page with what went wrong; a token still works. */
async function refuse(
  reply: FastifyReply,
  { problem, next }: { problem: SignOnError; next: string },
  ports: PagePorts
): Promise<FastifyReply> {
  if (problem.statusCode >= 500) ports.log(`single sign-on: ${problem.reason}`)
  return sendLoginForm(reply.code(problem.statusCode), { next, signOnProblem: problem.message }, ports)
}
