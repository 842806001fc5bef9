import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { startShop, type Shop } from '../../src/service/demo-shop.js'
import { DEMO_PASSWORD } from '../../src/service/demo-shop/login.js'

let shop: Shop
beforeEach(async () => {
  shop = await startShop({ slow: false })
})
afterEach(() => shop.close())

const send = (path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(shop.url + path, { redirect: 'manual', ...init })
const cookieOf = (reply: Response): string => reply.headers.get('set-cookie')?.split(';')[0] ?? ''
const fieldOf = (html: string): string => /name="csrf" value="(\w+)"/.exec(html)?.[1] ?? ''

describe('the login by form', () => {
  const openForm = async (): Promise<{ cookie: string; csrf: string }> => {
    const reply = await send('/login')
    return { cookie: cookieOf(reply), csrf: fieldOf(await reply.text()) }
  }
  const post = (path: string, cookie: string, fields: Record<string, string>): Promise<Response> =>
    send(path, { method: 'POST', headers: { cookie }, body: new URLSearchParams(fields) })

  test('a session with the CSRF field and the password is let in, and orders', async () => {
    const { cookie: guest, csrf } = await openForm()
    const entered = await post('/login', guest, { csrf, user: 'Ada <1>', password: DEMO_PASSWORD })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, '/account'])
    const cookie = cookieOf(entered)
    const account = await (await send('/account', { headers: { cookie } })).text()
    expect(account).toContain('Welcome back, Ada &#60;1&#62;')
    const ordered = await post('/account/orders', cookie, { csrf: fieldOf(account), product: 'teapot' })
    expect(ordered.status).toBe(303)
    const order = ordered.headers.get('location') ?? ''
    expect((await send(order, { headers: { cookie } })).status).toBe(200)
    expect((await send(order)).status).toBe(401)
    expect((await send(`${order}0`, { headers: { cookie } })).status).toBe(404)
    expect(shop.served('account')).toBe(1)
  })

  test('without the field, the cookie or the password nobody is', async () => {
    const { cookie, csrf } = await openForm()
    const other = await openForm()
    const right = { csrf, user: 'ada', password: DEMO_PASSWORD }
    const statusOf = async (reply: Promise<Response>): Promise<number> => (await reply).status
    expect(await statusOf(post('/login', cookie, { ...right, csrf: '' }))).toBe(403)
    expect(await statusOf(post('/login', cookie, { ...right, csrf: other.csrf }))).toBe(403)
    expect(await statusOf(post('/login', '', right))).toBe(403)
    expect(await statusOf(post('/login', `${cookie}0`, right))).toBe(403)
    expect(await statusOf(post('/login', cookie, { ...right, password: 'guess' }))).toBe(401)
    expect(await statusOf(post('/login', cookie, { ...right, user: '' }))).toBe(401)
    // A guest's session is none of a user.
    expect(await statusOf(send('/account', { headers: { cookie } }))).toBe(401)
    expect(await statusOf(post('/account/orders', cookie, { csrf }))).toBe(401)
  })

  test('an order needs the field of its own session', async () => {
    const { cookie: guest, csrf } = await openForm()
    const cookie = cookieOf(await post('/login', guest, { csrf, user: 'ada', password: DEMO_PASSWORD }))
    expect((await post('/account/orders', cookie, { csrf })).status).toBe(403)
  })
})

describe('the login by API', () => {
  const call = async (
    method: string,
    path: string,
    { token, body }: { token?: string; body?: object } = {}
  ): Promise<{ status: number; json: Record<string, string> }> => {
    const reply = await send(path, {
      method,
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) })
    })
    return { status: reply.status, json: (await reply.json()) as Record<string, string> }
  }

  test('its token opens the orders of its user', async () => {
    const { json } = await call('POST', '/api/login', { body: { user: 'ada', password: DEMO_PASSWORD } })
    const token = json.token ?? ''
    expect(await call('GET', '/api/orders', { token })).toMatchObject({ status: 200, json: { orders: [] } })
    const made = await call('POST', '/api/orders', { token, body: { product: 'lamp' } })
    expect(made).toMatchObject({ status: 201, json: { product: 'lamp' } })
    const path = `/api/orders/${made.json.id ?? ''}`
    expect(await call('GET', path, { token })).toMatchObject({ status: 200, json: { id: made.json.id } })
    const other = await call('POST', '/api/login', { body: { user: 'alan', password: DEMO_PASSWORD } })
    expect(await call('GET', path, { token: other.json.token ?? '' })).toMatchObject({ status: 404 })
    expect(await call('POST', '/api/orders', { token, body: {} })).toMatchObject({ status: 400 })
  })

  test.each([
    { what: 'no password', body: { user: 'ada' } },
    { what: 'a wrong one', body: { user: 'ada', password: 'guess' } },
    { what: 'no user', body: { password: DEMO_PASSWORD } },
    { what: 'no object', body: [] }
  ])('with $what there is no token', async ({ body }) => {
    expect(await call('POST', '/api/login', { body })).toEqual({
      status: 401,
      json: { error: 'wrong user or password' }
    })
  })

  test('without its token, or with anything else in its place, there are no orders', async () => {
    const { json } = await call('POST', '/api/login', { body: { user: 'ada', password: DEMO_PASSWORD } })
    const token = json.token ?? ''
    const session = cookieOf(await send('/login')).replace('shop_session=', '')
    for (const wrong of [undefined, '', `${token}0`, token.replace(/^./, 'x'), session]) {
      const given = wrong === undefined ? {} : { token: wrong }
      expect(await call('GET', '/api/orders', given)).toMatchObject({ status: 401 })
    }
    const form = { method: 'POST', body: new URLSearchParams({ product: 'lamp' }) }
    expect((await send('/api/orders', form)).status).toBe(401)
  })
})
