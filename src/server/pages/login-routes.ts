import type { FastifyInstance, FastifyReply } from 'fastify'
import { findVisitor, type PagePorts, readCookie, refuseGuess, sendLoginForm, signIn } from './page-access.js'
import { readNextPath } from './next-path.js'
import { readForm } from './read-form.js'
import { PAGE_HEADERS } from './send-page.js'

/** A token and a path, percent-encoded. */
const MOST_FORM_BYTES = 8192
const WRONG_TOKEN = 'This token is not right. Check that you copied all of it.'

/** The form in which a person types in a token, and the way out. It works without JavaScript. */
export function addLoginRoutes(app: FastifyInstance, ports: PagePorts): void {
  const { accounts, front, failedLogins } = ports
  app.get('/login', { config: { page: 'always', open: 'page' } }, async (request, reply) => {
    const next = readNextPath((request.query as { next?: unknown }).next)
    if (findVisitor(request, ports)) return goTo(reply, next)
    return sendLoginForm(reply, { next }, ports)
  })
  const config = (effect: 'login' | 'logout') => ({ page: 'always', open: 'page', effect }) as const
  app.post('/login', { config: config('login'), bodyLimit: MOST_FORM_BYTES }, async (request, reply) => {
    const fields = readForm(request, 'Log in')
    const next = readNextPath(fields.get('next'))
    const token = (fields.get('token') ?? '').trim()
    const user = accounts.findByToken(token)
    if (!user) {
      await refuseGuess(request, reply, failedLogins)
      return sendLoginForm(reply.code(401), { next, problem: WRONG_TOKEN }, ports)
    }
    signIn(request, reply, { user, token, accounts, front })
    return goTo(reply, next)
  })
  app.post('/logout', { config: config('logout'), bodyLimit: MOST_FORM_BYTES }, (request, reply) => {
    readForm(request, 'Log out')
    const { name, attributes } = front.cookie()
    const cookie = readCookie(request, name)
    // Whatever happens to the session, as on a full disk: this browser forgets it.
    void reply.header('set-cookie', `${name}=; ${attributes}; Max-Age=0`)
    const user = accounts.findBySession(cookie)
    if (user) request.user = user
    accounts.closeSession(cookie)
    return goTo(reply, '/login')
  })
}

function goTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).redirect(path, 303)
}
