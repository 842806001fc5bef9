import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { readOpenApi } from '../../../src/cli/plans/openapi/openapi-requests.js'
import { encodeText, type PlanRequest, type RequestSet } from '../../../src/cli/plans/request.js'

/** An API with a login, changed by what a test is about. */
function api(changes: object = {}, others: object = {}): string {
  const login = {
    security: [],
    requestBody: {
      content: {
        'application/json': {
          schema: {
            properties: {
              email: { example: 'planted@s.example' },
              password: {},
              remember: { type: 'boolean' }
            }
          }
        }
      }
    },
    responses: {
      200: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Session' } } } }
    },
    ...changes
  }
  return JSON.stringify({
    openapi: '3.1.0',
    security: [{ token: [] }],
    paths: { '/orders': { get: {} }, '/login': { post: login }, '/register': { post: login } },
    components: {
      schemas: {
        Session: {
          properties: { user: { properties: { id: {} } }, data: { properties: { access_token: {} } } }
        }
      },
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } }
    },
    ...others
  })
}

const read = (text: string): RequestSet => readOpenApi(text, { allMethods: false })
const authorizationOf = ({ headers }: PlanRequest): string =>
  headers
    .filter(({ name }) => name === 'Authorization' || name === 'Cookie' || name.startsWith('X-'))
    .map(({ name, value }) => `${name}: ${encodeText(value)}`)
    .join()

describe('an API with a login', () => {
  test('the plan logs in first, and sends the token with what wants one', () => {
    const { requests, correlations, credentials, notes } = read(api())
    expect(requests.map(({ name, isEnabled }) => [name, isEnabled])).toEqual([
      ['POST /login', true],
      ['GET /orders', true],
      ['POST /register', false]
    ])
    const [login, orders] = requests
    expect(JSON.parse(encodeText(login!.body!))).toEqual({
      ...{ email: '${__P(email,)}', password: '${__P(password,)}', remember: true }
    })
    expect(login!.extracts).toEqual([
      { variable: 'token', from: { kind: 'json', keys: ['data', 'access_token'] } }
    ])
    expect(requests.map(authorizationOf)).toEqual(['', 'Authorization: Bearer ${token}', ''])
    expect(orders).not.toHaveProperty('isLogin')
    expect(correlations).toEqual(['token from POST /login → Authorization of GET /orders'])
    expect(credentials).toEqual(['email', 'password'])
    expect(notes.join()).not.toContain('override-parameters')
  })

  test('the API of the demo shop', () => {
    const { requests, credentials } = read(readFileSync('examples/login/openapi.yaml', 'utf8'))
    expect(requests.map(({ name }) => name)).toEqual(['logIn', 'listOrders', 'order'])
    expect(credentials).toEqual(['user', 'password'])
  })

  test('a form, and a token that is no string of the reply’s top, in Swagger 2', () => {
    const text = JSON.stringify({
      swagger: '2.0',
      securityDefinitions: { oauth: { type: 'oauth2' } },
      security: [{ oauth: [] }],
      paths: {
        '/a': { get: {} },
        '/token': {
          post: {
            parameters: [
              { in: 'formData', name: 'grant_type', enum: ['password'] },
              { in: 'formData', name: 'username' },
              { in: 'formData', name: 'password' }
            ],
            responses: { 200: { schema: { properties: { refresh_token: {}, access_token: {} } } } }
          }
        }
      }
    })
    const { requests, credentials } = read(text)
    expect(encodeText(requests[0]!.body!)).toBe(
      'grant_type=password&username=${__urlencode(${__P(username,)})}&password=${__urlencode(${__P(password,)})}'
    )
    expect(requests[0]!.extracts?.[0]?.from).toEqual({ kind: 'json', keys: ['access_token'] })
    expect(authorizationOf(requests[1]!)).toBe('Authorization: Bearer ${token}')
    expect(credentials).toEqual(['username', 'password'])
  })

  test('a document that does not say what the token is for: all others send it', () => {
    const text = api({}, { security: undefined, components: undefined })
    const known = text.replace(/\{"\$ref":"[^"]*"\}/g, '{"properties":{"jwt":{}}}')
    expect(authorizationOf(read(known).requests[1]!)).toBe('Authorization: Bearer ${token}')
  })

  test('a session cookie is kept by each user', () => {
    const cookie = { type: 'apiKey', in: 'cookie', name: 'sid' }
    const text = api({ responses: {} }, { components: { securitySchemes: { token: cookie } } })
    const { requests, credentials } = read(text)
    expect(requests[0]).toMatchObject({ name: 'POST /login', isLogin: true })
    expect(requests.map(authorizationOf)).toEqual(['', '', ''])
    expect(credentials).toEqual(['email', 'password'])
  })
})

describe('what a login sends', () => {
  const bodyOf = (schema: object): unknown => {
    const requestBody = { content: { 'application/json': { schema } } }
    const [login] = read(api({ requestBody })).requests
    return login?.isLogin === true ? JSON.parse(encodeText(login.body!)) : undefined
  }
  const text = { type: 'string' }
  const [password, username] = ['${__P(password,)}', '${__P(username,)}']

  test.each([
    {
      what: 'the required fields, and optional ones with a value',
      schema: {
        required: ['username', 'password'],
        properties: {
          username: text,
          password: text,
          note: text,
          remember: { default: true },
          otp: { default: null }
        }
      },
      body: { username, password, remember: true }
    },
    {
      what: 'the user, though only the password is required',
      schema: { required: ['password'], properties: { username: text, password: text } },
      body: { username, password }
    },
    {
      what: 'no client, unless it is required',
      schema: { properties: { username: text, password: text, client_id: text, clientSecret: text } },
      body: { username, password }
    },
    {
      what: 'a client that is required',
      schema: { required: ['password', 'client_id'], properties: { password: text, client_id: text } },
      body: { password, client_id: '${__P(client_id,)}' }
    },
    {
      what: 'the grant for a password, whatever comes first',
      schema: {
        required: ['username', 'password'],
        properties: { grant_type: { enum: ['refresh_token', 'password'] }, username: text, password: text }
      },
      body: { grant_type: 'password', username, password }
    },
    {
      what: 'the one value that a pattern allows',
      schema: { properties: { kind: { pattern: '^local login$' }, password: text } },
      body: { kind: 'local login', password }
    },
    {
      what: 'fields within an object',
      schema: { properties: { user: { properties: { username: text, password: text } } } },
      body: { user: { username, password } }
    }
  ])('$what', ({ schema, body }) => {
    expect(bodyOf(schema)).toEqual(body)
  })
})

describe('which operation is the login', () => {
  const document = JSON.parse(api()) as { paths: Record<string, { post: object }> }
  const post = document.paths['/login']!.post
  const loginOf = (paths: object, others: object = {}): string | undefined =>
    read(api({}, { paths, ...others })).requests.find(({ isLogin }) => isLogin)?.name

  test('one that is called so: not the first that takes a password and replies with a token', () => {
    expect(loginOf({ '/users': { post }, '/users/login': { post } })).toBe('POST /users/login')
    expect(loginOf({ '/users': { post } })).toBeUndefined()
    expect(loginOf({ '/authors': { post } })).toBeUndefined()
    expect(loginOf({ '/a': { post: { ...post, operationId: 'login_create' } } })).toBe('POST /a')
  })

  test.each(['enter', '/v1/enter', 'https://a.example/v1/enter'])(
    'the address %s for tokens of OAuth 2, whose token has its name by RFC 6749',
    (tokenUrl) => {
      const token = { type: 'oauth2', flows: { password: { tokenUrl } } }
      const components = { securitySchemes: { token } }
      const enter = { ...post, responses: { 200: { content: { 'application/json': { schema: {} } } } } }
      const paths = { '/login': { post }, '/enter': { post: enter }, '/a': { get: {} } }
      const { requests } = read(api({}, { paths, components }))
      expect(requests[0]).toMatchObject({ name: 'POST /enter', isLogin: true })
      expect(requests[0]!.extracts?.[0]?.from).toEqual({ kind: 'json', keys: ['access_token'] })
      const get = requests.find(({ method }) => method === 'GET')
      expect(authorizationOf(get!)).toBe('Authorization: Bearer ${token}')
    }
  )

  test('one without a description of its token is named', () => {
    const { notes } = read(api({ responses: { 200: {} } }))
    expect(notes).toContainEqual(
      expect.stringMatching(/^POST \/login takes a password, but the description of its reply has no token/)
    )
    expect(read(api()).notes.join()).not.toContain('takes a password')
  })

  test.each([
    { name: 'Authorization', description: '', sent: 'Authorization: Bearer ${token}' },
    {
      name: 'Authorization',
      description: 'Token-based authentication with required prefix "Token"',
      sent: 'Authorization: Token ${token}'
    },
    {
      name: 'Authorization',
      description: 'A JWT token is needed.\nThe format:\n\n    Token xxxx.yyyy',
      sent: 'Authorization: Token ${token}'
    },
    { name: 'X-Auth-Token', description: '', sent: 'X-Auth-Token: ${token}' },
    { name: 'X-Api-Key', description: '', sent: 'X-Api-Key: ${__P(x-api-key,)}' }
  ])('its token is an API key: $sent', ({ sent, ...facts }) => {
    const token = { type: 'apiKey', in: 'header', ...facts }
    const schemas = { Session: { properties: { key: {} } } }
    const { requests } = read(api({}, { components: { schemas, securitySchemes: { token } } }))
    expect(authorizationOf(requests[1]!)).toBe(sent)
  })

  test.each(['/logout', '/auth/sign-out', '/signout', '/tokens/revoke', '/log_off'])(
    '%s comes last',
    (path) => {
      const get = { get: {} }
      const { requests } = read(api({}, { paths: { [path]: get, '/login': { post }, '/orders': get } }))
      expect(requests.map(({ name }) => name)).toEqual(['POST /login', 'GET /orders', `GET ${path}`])
    }
  )
})

describe('an API without one', () => {
  const withScheme = (scheme: object): RequestSet =>
    read(api({ requestBody: {} }, { components: { securitySchemes: { token: scheme } } }))

  test.each([
    {
      scheme: { type: 'http', scheme: 'Bearer' },
      sent: 'Authorization: Bearer ${__P(token,)}',
      given: ['token']
    },
    {
      scheme: { type: 'http', scheme: 'basic' },
      sent: 'Authorization: Basic ${__P(basic_credentials,)}',
      given: ['basic_credentials']
    },
    {
      scheme: { type: 'http', scheme: 'digest' },
      sent: 'Authorization: ${__P(authorization,)}',
      given: ['authorization']
    },
    {
      scheme: { type: 'apiKey', in: 'header', name: 'X-Key' },
      sent: 'X-Key: ${__P(x-key,)}',
      given: ['x-key']
    },
    {
      scheme: { type: 'apiKey', in: 'cookie', name: 'sid' },
      sent: 'Cookie: sid=${__P(sid,)}',
      given: ['sid']
    },
    { scheme: { type: 'apiKey', in: 'query', name: 'key' }, sent: '', given: ['key'] }
  ])('$scheme: the credentials come from properties', ({ scheme, sent, given }) => {
    const { requests, credentials, notes } = withScheme(scheme)
    expect([requests[0]!.name, authorizationOf(requests[0]!)]).toEqual(['GET /orders', sent])
    expect(credentials).toEqual(given)
    expect(notes.join().includes('base64')).toBe(given[0] === 'basic_credentials')
  })

  test.each([
    { what: 'a registration', text: api({}, {}).replace('"/login"', '"/sign-up"') },
    { what: 'a reply without a token', text: api({ responses: { 200: {} } }) },
    { what: 'a request without a password', text: api({ requestBody: {} }) }
  ])('$what is no login', ({ text }) => {
    const { requests, correlations } = read(text)
    expect(requests.some(({ isLogin }) => isLogin)).toBe(false)
    expect(correlations).toEqual([])
  })
})
