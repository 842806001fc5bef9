import { createHmac, randomBytes } from 'node:crypto'
import { isSameSecret } from '../secrets.js'
import { escapeHtml, lastOf, renderPage, type Page, type Reply, type Visit } from './page.js'

/** Any name is let in with it, so that a plan can use data of its own; it protects nothing. */
export const DEMO_PASSWORD = 'open-sesame'

const COOKIE = 'shop_session'

/**
 * Two logins as applications have them: a form with a CSRF field and a session cookie, and an API whose token every further request
 * sends. Sessions, tokens and orders are signed instead of stored: a load test opens thousands of them.
 */
export function loginPages(): Page[] {
  const signer = new Signer()
  const page = (name: string, asked: RegExp, answer: Page['answer']): Page => ({
    ...{ name, asked, answer, delayMs: 5, slowDelayMs: 400 }
  })
  const formPage = (name: string, asked: RegExp, answer: Answer<Session>): Page =>
    page(name, asked, (visit) => {
      const session = sessionOf(visit, signer)
      return session?.user ? answer(visit, session, signer) : refusal(401, 'Log in first')
    })
  const apiPage = (name: string, asked: RegExp, answer: Answer<string>): Page =>
    page(name, asked, (visit) => {
      const [, token = ''] = /^Bearer (\S+)$/i.exec(visit.headers.authorization ?? '') ?? []
      const user = signer.read('token', token)
      return user === undefined ? UNAUTHORIZED : answer(visit, user, signer)
    })
  return [
    page('login form', /^GET \/login$/, () => showForm(signer)),
    page('login', /^POST \/login$/, (visit) => logIn(visit, signer)),
    formPage('account', /^GET \/account$/, showAccount),
    formPage('order', /^POST \/account\/orders$/, orderByForm),
    formPage('ordered', /^GET \/account\/orders\/[\w-]+$/, showOrder),
    page('app', /^GET \/app$/, () => ({ text: APP })),
    page('token', /^POST \/api\/login$/, (visit) => giveToken(visit, signer)),
    apiPage('orders', /^GET \/api\/orders$/, (_visit, name) => json(200, { orders: [], user: { name } })),
    apiPage('new order', /^POST \/api\/orders$/, orderByApi),
    apiPage('one order', /^GET \/api\/orders\/[\w-]+$/, readOrder)
  ]
}

type Answer<User> = (visit: Visit, user: User, signer: Signer) => Reply

/** Who is here, by a cookie that the form's login has set; a guest has no name. */
interface Session {
  readonly text: string
  readonly user: string
}

/** Signs what it gives away, so that it knows it again. */
class Signer {
  readonly #key = randomBytes(32)

  /** For this purpose and of this user, never twice the same. */
  issue(purpose: string, user: string): string {
    const text = `${Buffer.from(user).toString('base64url')}-${randomBytes(9).toString('hex')}`
    return `${text}-${this.seal(purpose, text)}`
  }

  /** The user that it was issued to; undefined if it was not. */
  read(purpose: string, issued: string): string | undefined {
    const [, text = '', name = '', seal = ''] = /^(([\w-]*)-[0-9a-f]{18})-([0-9a-f]{32})$/.exec(issued) ?? []
    if (!isSameSecret(seal, this.seal(purpose, text))) return undefined
    return Buffer.from(name, 'base64url').toString()
  }

  seal(purpose: string, text: string): string {
    return createHmac('sha256', this.#key).update(`${purpose}:${text}`).digest('hex').slice(0, 32)
  }
}

function sessionOf({ headers }: Visit, signer: Signer): Session | undefined {
  const [, text = ''] = new RegExp(`(?:^|; *)${COOKIE}=([^;]*)`).exec(headers.cookie ?? '') ?? []
  const user = signer.read('session', text)
  return user === undefined ? undefined : { text, user }
}

function openSession(signer: Signer, user: string): { session: string; headers: Record<string, string> } {
  const session = signer.issue('session', user)
  return { session, headers: { 'set-cookie': `${COOKIE}=${session}; Path=/; HttpOnly; SameSite=Lax` } }
}

/** Of this session alone: a form of another site does not know it. */
function csrfField(signer: Signer, session: string): string {
  return `<input type="hidden" name="csrf" value="${signer.seal('csrf', session)}">`
}

function hasCsrf(form: URLSearchParams, session: Session, signer: Signer): boolean {
  return isSameSecret(form.get('csrf') ?? '', signer.seal('csrf', session.text))
}

const CREDENTIALS = `<input id="user" name="user" aria-label="Your name" placeholder="Your name" required>
<input id="password" name="password" type="password" aria-label="Password" placeholder="Password" required> <button id="enter">Log in</button></form>`

function showForm(signer: Signer): Reply {
  const { session, headers } = openSession(signer, '')
  const form = `<form action="/login" method="post">${csrfField(signer, session)}
${CREDENTIALS}`
  const hint = `<p>Any name will do; the password is <code>${DEMO_PASSWORD}</code>. The same <a href="/app">with a token</a>.</p>`
  return { headers, text: renderPage('Log in: the demo shop', `<h1>Log in</h1>\n${form}\n${hint}`) }
}

function logIn(visit: Visit, signer: Signer): Reply {
  const form = new URLSearchParams(visit.body)
  const guest = sessionOf(visit, signer)
  if (guest === undefined || !hasCsrf(form, guest, signer))
    return refusal(403, 'The form does not belong to this session')
  const user = form.get('user') ?? ''
  if (user === '' || form.get('password') !== DEMO_PASSWORD) return refusal(401, 'Wrong name or password')
  // A new session, so that one which somebody else may know is worth nothing.
  return { status: 303, headers: { location: '/account', ...openSession(signer, user).headers }, text: '' }
}

function showAccount(_visit: Visit, session: Session, signer: Signer): Reply {
  const form = `<form action="/account/orders" method="post">${csrfField(signer, session.text)}
<input type="hidden" name="product" value="teapot"> <button id="order">Order a teapot</button></form>`
  const title = `Welcome back, ${escapeHtml(session.user)}`
  return { text: renderPage('Your account: the demo shop', `<h1>${title}</h1>\n${form}`) }
}

function orderByForm(visit: Visit, session: Session, signer: Signer): Reply {
  if (!hasCsrf(new URLSearchParams(visit.body), session, signer))
    return refusal(403, 'The form does not belong to this session')
  const location = `/account/orders/${signer.issue('order', session.user)}`
  return { status: 303, headers: { location }, text: '' }
}

function showOrder(visit: Visit, session: Session, signer: Signer): Reply {
  if (signer.read('order', lastOf(visit)) !== session.user) return refusal(404, 'No such order')
  return { text: renderPage('Your order: the demo shop', '<h1>Your order is on its way</h1>') }
}

function refusal(status: number, why: string): Reply {
  const text = renderPage(`${why}: the demo shop`, `<h1>${why}</h1>\n<p><a href="/login">Log in</a></p>`)
  return { status, text }
}

function giveToken({ body }: Visit, signer: Signer): Reply {
  const { user, password } = readJson(body)
  if (typeof user !== 'string' || user === '' || password !== DEMO_PASSWORD)
    return json(401, { error: 'wrong user or password' })
  return json(200, { token: signer.issue('token', user), user: { name: user } })
}

function orderByApi(visit: Visit, user: string, signer: Signer): Reply {
  const { product } = readJson(visit.body)
  if (typeof product !== 'string') return json(400, { error: 'product is missing' })
  return json(201, { id: signer.issue('order', user), product })
}

function readOrder(visit: Visit, user: string, signer: Signer): Reply {
  const id = lastOf(visit)
  return signer.read('order', id) === user
    ? json(200, { id, status: 'on its way' })
    : json(404, { error: 'no such order' })
}

function json(status: number, value: object, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'content-type': 'application/json', ...headers }, text: JSON.stringify(value) }
}

const UNAUTHORIZED = json(
  401,
  { error: 'send the token of POST /api/login as Authorization: Bearer' },
  { 'www-authenticate': 'Bearer' }
)

function readJson(body: string): Record<string, unknown> {
  try {
    return { ...(JSON.parse(body) as object) }
  } catch {
    return {}
  }
}

/** The same shop as a page that calls the API, as most new applications are. */
const APP = renderPage(
  'With a token: the demo shop',
  `<h1>Log in</h1>
<form id="login">${CREDENTIALS}
<p id="state" role="status"></p> <button id="order" hidden>Order a teapot</button>
<script>
const at = (id) => document.getElementById(id)
let token = ''
async function call(method, path, body) {
  const headers = { accept: 'application/json' }
  if (token !== '') headers.authorization = 'Bearer ' + token
  if (body !== undefined) headers['content-type'] = 'application/json'
  const reply = await fetch(path, { method, headers, body: JSON.stringify(body) })
  const value = await reply.json()
  if (!reply.ok) throw new Error(value.error)
  return value
}
const show = (work) => work().catch((thrown) => (at('state').textContent = thrown.message))
at('login').onsubmit = (event) => {
  event.preventDefault()
  show(async () => {
    token = (await call('POST', '/api/login', { user: at('user').value, password: at('password').value })).token
    const { orders } = await call('GET', '/api/orders')
    at('state').textContent = orders.length + ' orders'
    at('order').hidden = false
  })
}
at('order').onclick = () =>
  show(async () => {
    const { id } = await call('POST', '/api/orders', { product: 'teapot' })
    at('state').textContent = 'The order is ' + (await call('GET', '/api/orders/' + id)).status
  })
</script>`
)
