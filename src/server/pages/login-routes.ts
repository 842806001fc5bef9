import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'
import { PAGE_HEADERS, type PagePorts, readCookie, refuseGuess, signIn } from './page-access.js'
import { readNextPath } from './next-path.js'
import { sendPage } from './page-routes.js'
import type { Pages } from './pages.js'

/** A token and a path, percent-encoded. */
const MOST_FORM_BYTES = 8192
const WRONG_TOKEN = 'This token is not right. Check that you copied all of it.'

interface LoginPorts extends PagePorts {
  readonly loadPages: () => Promise<Pages>
}

/** The form in which a person types in a token, and the way out. It works without JavaScript. */
export function addLoginRoutes(app: FastifyInstance, ports: LoginPorts): void {
  const { accounts, front, loadPages, failedLogins } = ports
  const form = async (reply: FastifyReply, next: string, problem?: string): Promise<FastifyReply> =>
    sendPage(reply, (await loadPages()).renderLoginPage({ next, problem }))
  app.get('/login', { config: { page: 'always', open: 'page' } }, async (request, reply) => {
    const next = readNextPath((request.query as { next?: unknown }).next)
    if (accounts.findBySession(readCookie(request, front.cookie().name))) return goTo(reply, next)
    return form(reply, next)
  })
  const config = (effect: 'login' | 'logout') => ({ page: 'always', open: 'page', effect }) as const
  app.post('/login', { config: config('login'), bodyLimit: MOST_FORM_BYTES }, async (request, reply) => {
    requireOwnPage(request)
    const fields = readForm(request)
    const next = readNextPath(fields.get('next'))
    const token = (fields.get('token') ?? '').trim()
    const user = accounts.findByToken(token)
    if (!user) {
      await refuseGuess(request, reply, failedLogins)
      return form(reply.code(401), next, WRONG_TOKEN)
    }
    signIn(request, reply, { user, accounts, front })
    return goTo(reply, next)
  })
  app.post('/logout', { config: config('logout'), bodyLimit: MOST_FORM_BYTES }, (request, reply) => {
    requireOwnPage(request)
    const { name, attributes } = front.cookie()
    const cookie = readCookie(request, name)
    const user = accounts.findBySession(cookie)
    if (user) request.user = user
    accounts.closeSession(cookie)
    return goTo(reply.header('set-cookie', `${name}=; ${attributes}; Max-Age=0`), '/login')
  })
}

/** The guard has rejected foreign pages; a form of one of ours always has its origin. */
function requireOwnPage({ headers }: FastifyRequest): void {
  if (headers.origin === undefined)
    throw new RequestError(403, 'Sign in and out with the forms of this service.')
}

/** Of a field that is there twice, the first counts. */
function readForm({ body }: FastifyRequest): Map<string, string> {
  const fields = (body as { fields?: unknown } | null | undefined)?.fields
  return new Map(Array.isArray(fields) ? (fields as [string, string][]).toReversed() : [])
}

function goTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).redirect(path, 303)
}
