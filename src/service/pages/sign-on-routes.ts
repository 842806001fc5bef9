import type { FastifyReply, FastifyRequest } from 'fastify'
import { SignOnError } from '../accounts/login/provider.js'
import { LONGEST_ATTEMPT_SEC, type SignOn } from '../accounts/login/sign-on.js'
import { route, type Route } from '../service-facts.js'
import { hashSecret } from '../secrets.js'
import { openAttempts, readSignOnCookie, signOnCookie } from './cookies.js'
import { type PagePorts, refuseMany, sendLoginForm } from './page-access.js'
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
      const begun = await orProblem(() => signOn.begin(next))
      if (begun instanceof SignOnError) return refuse(reply, { problem: begun, next }, ports)
      const kept = signOnCookie(ports, attemptOf(begun.state), begun.kept, LONGEST_ATTEMPT_SEC)
      const open = openAttempts(request, ports)
      // The oldest ones come first.
      const ended = open.slice(0, Math.max(0, open.length - MOST_ATTEMPTS + 1))
      setCookies(reply, kept, ...ended.map((one) => signOnCookie(ports, one, '', 0)))
      return reply.headers(PAGE_HEADERS).redirect(begun.url, 303)
    }),
    route('GET', signOnPath.callback, { ...config, effect: 'login' }, async (request, reply) => {
      const query = queryOf(request)
      const state = new URLSearchParams(query).get('state') ?? ''
      const mine = attemptOf(state)
      const used = signOnCookie(ports, mine, '', 0)
      const refuseIt = (problem: SignOnError, ...cookies: string[]) => {
        setCookies(reply, used, ...cookies)
        request.audited.login = 'wrong'
        request.audited.reason = problem.reason
        return refuse(reply, { problem, next: '/' }, ports)
      }
      const begun = await orProblem(() => signOn.recognize(state, readSignOnCookie(request, ports, mine)))
      if (begun instanceof SignOnError) return refuseIt(begun)
      // Any page can lead browsers here; only what was begun here goes on to the provider.
      await refuseMany(request, reply, { count: 'countSignIn', what: 'sign-ins' })
      const done = await orProblem(() => signOn.finish(query, begun))
      if (done instanceof SignOnError) return refuseIt(done, signOnCookie(ports, 'sso', '', 0))
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

async function orProblem<T>(work: () => T | Promise<T>): Promise<T | SignOnError> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof SignOnError) return thrown
    throw thrown
  }
}

/** A browser opens many tabs at once, and servers accept only so many bytes of cookies. */
const MOST_ATTEMPTS = 10

/** Each tab has a sign-in of its own. The state is as the caller wrote it: its hash can be part of a cookie's name. */
function attemptOf(state: string): `login-${string}` {
  return `login-${Buffer.from(hashSecret(state)).toString('hex').slice(0, 16)}`
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
