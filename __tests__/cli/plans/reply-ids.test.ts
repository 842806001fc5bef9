import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readOpenApi } from '../../../src/cli/plans/openapi/openapi-requests.js'
import { encodeText, type RequestSet } from '../../../src/cli/plans/request.js'
import { nameVariables } from '../../../src/cli/plans/write-k6.js'

const GENERATED = readFileSync('__tests__/fixtures/init/generated-api.yaml', 'utf8')
const read = (paths: object, allMethods = true): RequestSet =>
  readOpenApi(JSON.stringify({ openapi: '3.1.0', paths }), { allMethods })
const replying = (example: unknown, type = 'application/json'): object => ({
  responses: { 200: { content: { [type]: { example } } } }
})
const id = { type: 'string' }
const parameters = [{ in: 'path', name: 'orderId', schema: id }]
const order = { '/orders/{orderId}': { get: { parameters } } }
const pathOf = ({ requests }: RequestSet): string =>
  encodeText(requests.find(({ path }) => path.length > 2)!.path)

describe('the description of an application, as frameworks generate it', () => {
  test('the plan logs in, takes ids from replies, deletes after it has used them, and logs out last', () => {
    const { requests, correlations, credentials } = readOpenApi(GENERATED, { allMethods: true })
    expect(requests.map(({ name, isEnabled }) => [name, isEnabled])).toEqual([
      ['POST /token', true],
      ['GET /orders', true],
      ['POST /orders', true],
      ['GET /orders/{order_id}', true],
      ['GET /items/{item_id}', false],
      ['DELETE /orders/{order_id}', true],
      ['POST /logout', true]
    ])
    expect(encodeText(requests[0]!.body!)).toBe(
      'grant_type=password&username=${__urlencode(${__P(username,)})}&password=${__urlencode(${__P(password,)})}&scope='
    )
    expect(credentials).toEqual(['username', 'password'])
    expect(requests[2]!.extracts).toEqual([{ variable: 'order_id', from: { kind: 'json', keys: ['id'] } }])
    expect(correlations).toEqual([
      'token from POST /token → Authorization of 5 requests',
      'order_id from POST /orders → the path of 2 requests'
    ])
  })

  test('without the POST, an id is that of the list, and not that of its owner', () => {
    const { requests, correlations } = readOpenApi(GENERATED, { allMethods: false })
    expect(requests[1]!.extracts?.[0]?.from).toEqual({ kind: 'json', keys: ['items', 0, 'id'] })
    expect(correlations).toContain('order_id from GET /orders → the path of GET /orders/{order_id}')
  })

  test('what nothing gives is disabled, and named in the plan and to its author', () => {
    const set = readOpenApi(GENERATED, { allMethods: false })
    const words =
      'isabled, because nothing gives item_id. Put a value into its path, or give -Jitem_id=…, and enable it.'
    expect(set.requests.find(({ name }) => name === 'GET /items/{item_id}')!.note).toBe(`D${words}`)
    expect(set.notes).toContain(`GET /items/{item_id} is d${words}`)
    expect(nameVariables(set).requests.map(({ note }) => note)).toContainEqual(
      expect.stringContaining('give -Jvalue_item_id=…')
    )
  })
})

describe('where an id comes from', () => {
  test.each([
    {
      what: 'an envelope',
      reply: { total: 1, order: { id: 1 }, customer: { id: 2 } },
      keys: ['order', 'id']
    },
    { what: 'its own name', reply: { id: 2, order_id: 1 }, keys: ['order_id'] },
    { what: 'a list', reply: [{ uuid: 'a' }], keys: [0, 'uuid'] },
    { what: 'the name of the thing', reply: { data: { orderID: 1 } }, keys: ['data', 'orderID'] }
  ])('$what', ({ reply, keys }) => {
    const set = read({ '/orders/': { post: replying(reply, '*/*') }, ...order })
    expect(set.requests[0]!.extracts).toEqual([{ variable: 'orderId', from: { kind: 'json', keys } }])
    expect(pathOf(set)).toBe('/orders/${__urlencode(${orderId})}')
  })

  test('another request whose reply says whose id it is, but not just any id', () => {
    const others = (reply: object): object => ({ '/me': { get: replying(reply) }, ...order })
    expect(pathOf(read(others({ orderId: 1 })))).toContain('${orderId}')
    expect(pathOf(read(others({ id: 1 })))).toContain('${__P(orderid,)}')
    const cart = { '/cart/{orderId}': { get: {} } }
    expect(pathOf(read({ '/orders': { get: replying([{ id: 1 }]) }, ...cart }))).toContain('${orderId}')
    // A word for people is no number.
    const slug = { '/orders/{slug}': { get: {} } }
    expect(pathOf(read({ '/orders': { get: replying([{ id: 1 }]) }, ...slug }))).toContain('${__P(slug,)}')
  })

  test('each step of a path has its own, and two things have two names', () => {
    const { requests } = read({
      '/a': { post: replying({ id: 1 }) },
      '/b': { post: replying({ id: 1 }) },
      '/a/{id}': { get: {} },
      '/b/{id}/c': { post: replying({ id: 1 }) },
      '/b/{x}/c/{id}': { get: {} }
    })
    const paths = requests.map(({ path }) => encodeText(path).replace(/\$\{__urlencode\((.*?)\)\}/g, '$1'))
    expect(paths).toEqual(['/a', '/b', '/a/${a_id}', '/b/${b_id}/c', '/b/${__P(x,)}/c/${c_id}'])
  })

  test('a request that needs the reply to a disabled one is disabled too', () => {
    const { requests } = read({ '/orders': { post: replying({ id: 1 }) }, ...order }, false)
    expect(requests[1]).toMatchObject({
      isEnabled: false,
      note: 'Disabled, because it sends the orderId of POST /orders, which is disabled.'
    })
  })

  test.each([
    { facts: { example: 'a b' }, path: '/orders/a%20b' },
    { facts: { schema: { default: 7 } }, path: '/orders/7' },
    { facts: { schema: { allOf: [{ enum: ['x', 'y'] }] } }, path: '/orders/x' },
    { facts: { schema: { pattern: '^me$' } }, path: '/orders/me' }
  ])('a value of the document is preferred: $path', ({ facts, path }) => {
    const get = { parameters: [{ in: 'path', name: 'orderId', ...facts }] }
    const set = read({ '/orders': { post: replying({ id: 1 }) }, '/orders/{orderId}': { get } })
    expect(encodeText(set.requests[1]!.path)).toBe(path)
  })
})

test.each([
  { operationId: 'listOrders', name: 'listOrders' },
  { operationId: 'ListOrders2', name: 'ListOrders2' },
  { operationId: 'list_orders_get', name: 'GET /a' },
  { operationId: 'OrdersController.list', name: 'GET /a' }
])('the label of $operationId is $name', ({ operationId, name }) => {
  expect(read({ '/a': { get: { operationId } } }).requests[0]!.name).toBe(name)
})
