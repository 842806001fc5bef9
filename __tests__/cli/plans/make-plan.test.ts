import { describe, expect, jest, test } from '@jest/globals'
import { readFileSync, writeFileSync } from 'node:fs'
import { flatten, readPlanTree, type PlanElement } from '../../../src/analysis/plans/jmx/plan-tree.js'
import { readHar } from '../../../src/cli/plans/har/har-requests.js'
import { ApiDocument } from '../../../src/cli/plans/openapi/api-document.js'
import { readOpenApi } from '../../../src/cli/plans/openapi/openapi-requests.js'
import {
  encodePath,
  encodeText,
  propertyName,
  readableName,
  DEFAULT_TARGET,
  addressOf,
  type PlanRequest,
  type PlanText,
  type RequestSet
} from '../../../src/cli/plans/request.js'
import { readUrls } from '../../../src/cli/plans/url-requests.js'
import { writePlan } from '../../../src/cli/plans/write-plan.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const FIXTURES = '__tests__/fixtures/init'
const READ_ONLY = { allMethods: false, thinkTimes: false }
const read = (name: string): string => readFileSync(`${FIXTURES}/${name}`, 'utf8')

function planOf({ target, requests }: Pick<RequestSet, 'target' | 'requests'>): string {
  const load = { load: { kind: 'closed' as const, threads: 5 }, rampupSeconds: 6, durationSeconds: 60 }
  return writePlan({ name: 'Load test', target: target ?? DEFAULT_TARGET, requests, ...load })
}

/** The requests of a plan, as read back. */
function samplersOf(plan: string): PlanElement[] {
  const flat = (elements: readonly PlanElement[]): PlanElement[] =>
    elements.flatMap((element) => [element, ...flat(element.children)])
  return flat(readPlanTree(plan) ?? []).filter(({ kind }) => kind === 'HTTPSamplerProxy')
}

/** What JMeter sends for a text, by its own rules; other functions than these two would show up as they are. */
function evaluate(encoded: string, properties: Record<string, string> = {}): string {
  if (!encoded.includes('${')) return encoded
  return encoded.replace(
    /\\([\\$,])|\$\{__char\(36\)\}|\$\{__P\(([^,)]*),\)\}/g,
    (_, escaped: string | undefined, property: string | undefined) =>
      escaped ?? (property === undefined ? '$' : (properties[property] ?? ''))
  )
}

describe('the plan of each way in', () => {
  test.each([
    { way: 'url', set: () => readUrls(['http://127.0.0.1:8080/', 'http://127.0.0.1:8080/search?q=a|b#top']) },
    { way: 'openapi', set: () => readOpenApi(read('shop-api.yaml'), { allMethods: true }) },
    { way: 'har', set: () => readHar(read('shop.har'), { allMethods: true, thinkTimes: true }) }
  ])('$way: the golden plan', ({ way, set }) => {
    const plan = planOf(set())
    const path = `${FIXTURES}/${way}.jmx`
    // `LOADGATE_GOLDEN=write npm test -- __tests__/analysis/plans` renews them.
    const write = process.env.LOADGATE_GOLDEN === 'write' ? writeFileSync : (): void => undefined
    write(path, plan)
    expect(plan).toBe(readFileSync(path, 'utf8'))
  })
})

describe('hostile text', () => {
  const PIECES = [
    '${__time()}',
    '$',
    '{',
    '}',
    '\\',
    ',',
    '"',
    "'",
    '<',
    '>',
    '&',
    ']]>',
    '--',
    '-->',
    '\u0000'
  ]
  const MORE = [
    '\ud800',
    '\uffff',
    '\u202e',
    '\r\n',
    '\t',
    'é',
    '🫖',
    '%',
    '%zz',
    ' ',
    '|',
    '${x}',
    'a',
    '&#x0;',
    '/'
  ]
  const random = makeRandom(15)
  const pick = (): string => [...PIECES, ...MORE][Math.floor(random() * (PIECES.length + MORE.length))] ?? ''
  const text = (): string => Array.from({ length: 8 }, pick).join('')

  test('what JMeter sends is the text itself, whatever it contains', () => {
    for (let round = 0; round < 150; round++) {
      const parts: PlanText = [text(), { property: 'secret' }, text(), text()]
      const whole = parts.map((part) => (typeof part === 'string' ? part : 'S')).join('')
      expect(evaluate(encodeText(parts), { secret: 'S' })).toBe(whole)
      const alone = text()
      expect(evaluate(encodeText([alone]))).toBe(alone)
    }
  })

  test('the plan stays one that can be read, with every request where it was', () => {
    for (let round = 0; round < 60; round++) {
      const requests = Array.from({ length: 2 }, (): PlanRequest => {
        const path = [`/${encodePath(text())}`]
        const headers = [{ name: text(), value: [text()] }]
        return { name: text(), method: 'POST', path, headers, body: [text()], isEnabled: true, note: text() }
      })
      const plan = planOf({ target: undefined, requests })
      const samplers = samplersOf(plan)
      expect(samplers.map(({ name }) => name)).toEqual(requests.map(({ name }) => readableName(name)))
      expect(samplers.map(({ properties }) => properties.get('HTTPSampler.path'))).toEqual(
        requests.map(({ path }) => encodeText(path))
      )
      expect(samplers.map(({ children }) => children.length)).toEqual([1, 1])
      // No XML parser accepts these, and no function is left but our own.
      // eslint-disable-next-line no-control-regex -- control characters are what is looked for
      expect(plan).not.toMatch(/[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|\p{Surrogate}/u)
      const texts = flatten(readPlanTree(plan) ?? []).map(({ text }) => text)
      expect(texts.join('\n').match(/(?<!\\)\$\{(?!__P\(|__char\(36\))[^}]*/g) ?? []).toEqual([])
    }
  })

  test('paths are addresses for Java', () => {
    for (let round = 0; round < 60; round++) {
      const path = encodePath(text())
      expect(path).toMatch(/^(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*$/)
    }
    expect(encodePath('/a%20b/ü?q=%')).toBe('/a%20b/%C3%BC?q=%25')
  })

  test('a property never has the name of one of the plan’s own', () => {
    expect(['host', 'X-Api,Key', '', 'a=b)'].map(propertyName)).toEqual([
      'recorded-host',
      'x-api-key',
      'value',
      'a-b-'
    ])
  })
})

describe('addresses', () => {
  test('a protocol may be left out, and ports are their defaults', () => {
    expect(readUrls(['localhost:8080']).target).toEqual({ protocol: 'http', host: 'localhost', port: 8080 })
    expect(readUrls(['https://[::1]/']).target).toEqual({ protocol: 'https', host: '[::1]', port: 443 })
  })

  test.each([
    { address: 'ftp://example.com/', words: 'is not an http or https address' },
    { address: 'http://a,b)}.example/', words: 'is not an http or https address with a plain host name' },
    { address: 'http://user:planted@example.com/', words: 'the address at example.com contains a user name' },
    { address: 'http://', words: '"http://" is not an address' },
    { address: 'http://bob:pl@nted@exa mple/', words: '"http://***@exa mple/" is not an address' },
    { address: 'bob:planted@exa mple/?key=planted', words: '"***@exa mple/?…" is not an address' }
  ])('$address is refused', ({ address, words }) => {
    expect(() => readUrls([address])).toThrow(words)
  })

  test('a token in an address does not get into the plan', () => {
    const set = readUrls(['http://a.example/x?page=1&api_key=planted'])
    expect(planOf(set)).not.toContain('planted')
    expect(set.notes).toEqual([
      'Values that may be secret are not in the plan; give them as override-parameters: -Japi_key=…'
    ])
    expect(set.requests[0]?.name).toBe('GET /x')
    expect(planOf(readUrls([`http://a.example/?${'planted1'.repeat(5)}`]))).not.toContain('planted')
    const typed = '/o/AB12345?q=a%7Cb&at=x1-y2@z3.example'
    expect(encodeText(readUrls([`http://a.example${typed}`]).requests[0]!.path)).toBe(typed)
  })

  test('several addresses are those of one application', () => {
    expect(() => readUrls(['http://a.example/', 'http://b.example/'])).toThrow(
      'http://a.example and http://b.example are two applications'
    )
  })
})

describe('a recording', () => {
  test('keeps what the application itself answered, in order, and counts the rest', () => {
    const { requests, notes, target } = readHar(read('shop.har'), READ_ONLY)
    expect(requests.map(({ name, isEnabled }) => [name, isEnabled])).toEqual([
      ['GET /', true],
      ['GET /products', true],
      ['GET /products/all', true],
      ['GET /search', true],
      ['POST /login', true],
      ['POST /upload', false]
    ])
    expect(addressOf(target ?? DEFAULT_TARGET)).toBe('http://127.0.0.1:8080')
    expect(notes[0]).toBe(
      'Left out of the recording: 1 for static files; 1 to other hosts; 1 CORS preflights; 1 that are not http (data: addresses, web sockets).'
    )
  })

  test('no cookie, token, password or header value of it is in the plan', () => {
    const set = readHar(read('shop.har'), { allMethods: true, thinkTimes: false })
    const plan = planOf(set)
    expect(plan + set.notes.join()).not.toContain('planted')
    expect(plan).toContain('access_token=${__urlencode(${__P(access_token,)})}')
    expect(set.notes).toContainEqual(
      expect.stringContaining('-Jaccess_token=…, -Jauthorization=…, -Jx-tenant=…')
    )
    expect(set.credentials).toEqual(['password', 'note'])
  })

  const entry = (url: string, changes: object = {}): object => ({
    request: { method: 'GET', url, headers: [], ...changes },
    response: { status: 200, content: { mimeType: 'text/html' } }
  })
  const har = (...entries: object[]): string => JSON.stringify({ log: { entries } })
  const JWT = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.plantedplantedplanted'

  test.each([
    { where: 'a path', url: `https://s.example/verify/${JWT}/x` },
    { where: 'a query of another name', url: `https://s.example/?next=%2Fa%3Ft%3D${JWT}` },
    { where: 'a random word', url: 'https://s.example/?x=PlantedK3yPlantedK3yPlantedK3yPl4nted' },
    { where: 'a user name', url: 'https://planted:planted@s.example/' },
    { where: 'a query name of another case', url: 'https://s.example/?X-Amz-Signature=planted' }
  ])('a secret in $where is found by its shape', ({ url }) => {
    const plan = planOf(readHar(har(entry(url)), READ_ONLY))
    expect(samplersOf(plan)).toHaveLength(1)
    expect(plan.toLowerCase()).not.toContain('planted')
  })

  test('secrets within bodies are found by name and by shape, at any depth', () => {
    const text = JSON.stringify({
      a: [{ apiKey: { x: 'planted' }, b: `Bearer ${JWT}`, pin: 1234567, ok: 7 }]
    })
    const postData = { mimeType: 'application/vnd.shop+json', text }
    const form = {
      mimeType: 'application/x-www-form-urlencoded',
      params: [{ name: 'pwd', value: 'planted' }]
    }
    const set = readHar(
      har(
        entry('https://s.example/'),
        entry('https://s.example/json', { method: 'POST', postData }),
        entry('https://s.example/form', { method: 'POST', postData: form })
      ),
      { allMethods: true, thinkTimes: false }
    )
    const plan = planOf(set)
    expect(plan).not.toMatch(/planted|1234567|eyJ/)
    expect(plan).toContain('&quot;ok&quot;: 7')
    expect(plan).toContain('>pwd=${__urlencode(${__P(pwd,)})}<')
  })

  const ALL = { allMethods: true, thinkTimes: false }
  const post = (text: string, mimeType = 'application/json'): object =>
    entry('https://s.example/', { method: 'POST', postData: { mimeType, text } })
  const FORM = 'application/x-www-form-urlencoded'

  test.each([
    { where: 'a query without a name', request: entry('https://s.example/?PlantedToken1') },
    { where: 'an address', request: entry('https://s.example/?to=https%3A%2F%2Fx%2F%3Ft%3Dplanted') },
    {
      where: 'a name of another list',
      request: entry('https://s.example/?user_pass=planted&mfaCode=planted')
    },
    { where: 'a link', request: entry('https://s.example/reset-password/PLANTED1') },
    { where: 'a long word in lower case', request: entry(`https://s.example/x/${'planted0'.repeat(5)}`) },
    { where: 'JSON in JSON', request: post(JSON.stringify({ a: JSON.stringify({ password: 'planted' }) })) },
    { where: 'JSON in a form', request: post('a=%7B%22pin%22%3A%22planted%22%7D&planted1', FORM) },
    { where: 'a pair of JSON', request: post('[{"name":"password","value":"planted"},["token","planted"]]') },
    { where: 'a pair of a form', request: post('name=password&value=planted', FORM) },
    { where: 'GraphQL', request: post('{"query":"mutation { login(password: \\"planted\\") { id } }"}') },
    { where: 'a key of JSON', request: post(`{"planted1_${JWT}":"x"}`) },
    { where: 'a type', request: post('planted', 'text/plain; a=planted') },
    {
      where: 'headers that are kept',
      request: entry('https://s.example/', {
        headers: [
          { name: 'Accept', value: 'text/html; planted' },
          { name: 'Content-Type', value: 'text/plain; a=planted' },
          { name: 'X-Requested-With', value: 'planted1' },
          { name: 'Accept-Language', value: 'de, planted' },
          { name: 'x-planted-1a2b3c4d5e6f', value: 'x' }
        ]
      })
    }
  ])(
    '$where: what is not plainly harmless is not in the plan, nor in the name of a property',
    ({ request }) => {
      const set = readHar(har(request), ALL)
      expect(set.requests).toHaveLength(1)
      expect((planOf(set) + set.notes.join()).toLowerCase()).not.toContain('planted')
    }
  )

  test('what is plainly harmless stays as it was, digit by digit', () => {
    const address =
      '/api/v2/blue-tea-pot-2024/3f2504e0-4f89-41d3-9a0c-0305e82c3301?q=tea%20pot&page=2&x=&sort=-createdAt'
    const accept =
      'text/html,application/xhtml+xml;q=0.9,image/avif,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7'
    const query = 'query Items($first: Int = 20) { items(first: $first) { id name } }'
    const body = `{"id": 1234567890123456789, "price": 1.10, "at": "2026-01-01T10:00:00.000Z", "locale": "de-DE", "query": "${query}", "ok": true}`
    const headers = [
      { name: 'Accept', value: accept },
      { name: 'Accept-Language', value: 'de-DE,de;q=0.9' },
      { name: 'X-Requested-With', value: 'XMLHttpRequest' }
    ]
    const postData = { mimeType: 'application/json', text: body }
    const set = readHar(har(entry(`https://s.example${address}`, { method: 'POST', headers, postData })), ALL)
    const [request] = set.requests
    expect(encodeText(request!.path)).toBe(address)
    expect(request!.headers.map(({ value }) => encodeText(value))).toEqual(headers.map(({ value }) => value))
    expect(encodeText(request!.body!).replace(/\s/g, '')).toBe(body.replace(/\s/g, ''))
    expect(set.notes).toHaveLength(1)
  })

  test.each([
    { what: 'a card number', body: '{"payment":{"number":4111111111111111}}', secret: '4111111111111111' },
    { what: 'a phone number', body: '{"phone":4915112345678}', secret: '4915112345678' },
    ...['kennwort', 'mdp', 'clave', 'senha', 'sifre', 'contraseña'].map((name) => ({
      ...{ what: name, body: JSON.stringify({ [name]: 'sesame opens' }), secret: 'sesame' }
    })),
    { what: 'a typed credential', body: '{"type":"password","value":"horse battery"}', secret: 'horse' },
    { what: 'a password in a text', body: '{"data":"login:ada,password:sesame"}', secret: 'sesame' },
    { what: 'a code in groups', body: '{"join":"x7f-k2p-9qz"}', secret: 'x7f' }
  ])('$what is not in the plan', ({ body, secret }) => {
    const postData = { mimeType: 'application/json', text: body }
    const entries = [
      { request: { method: 'POST', url: 'https://s.example/a', postData }, response: { status: 200 } }
    ]
    const { requests } = readHar(JSON.stringify({ log: { entries } }), {
      allMethods: true,
      thinkTimes: false
    })
    expect(encodeText(requests[0]?.body ?? [])).not.toContain(secret)
    expect(encodeText(requests[0]?.body ?? [])).toContain('${__P(')
  })

  test('each value has a property of its own, and a number stays one', () => {
    const [one, two] = ['0123456789abcdef0123456789abcdef', 'fedcba9876543210fedcba9876543210']
    const requests = [
      entry(`https://s.example/o/${one}/i/${two}/${one}`),
      post('{"pin":1234}'),
      post('{"pin":5678}')
    ]
    const set = readHar(har(...requests), ALL)
    expect(encodeText(set.requests[0]!.path)).toBe(
      '/o/${__P(path-value,)}/i/${__P(path-value-2,)}/${__P(path-value,)}'
    )
    expect(set.requests.slice(1).map(({ body }) => encodeText(body!))).toEqual([
      '{\n  "pin": ${__P(pin,)}\n}',
      '{\n  "pin": ${__P(pin-2,)}\n}'
    ])
    expect(set.notes).toContainEqual(
      expect.stringContaining('-Jpath-value=…, -Jpath-value-2=…, -Jpin=…, -Jpin-2=…')
    )
  })

  test('marks of its own in a body run nothing', () => {
    const hostile = '{"\\ue000x,)}${__a()}\\ue001":"\\ue000x,)}${__b()}\\ue001","c":"\\ue002${__c()}\\ue003"}'
    const plan = planOf(readHar(har(post(hostile)), ALL))
    expect(plan).toContain('${__P(body-name,)}')
    expect(plan).not.toMatch(/__[abc]\(/)
  })

  const answer = (url: string, status: number, redirectURL = ''): object => ({
    ...entry(url),
    _resourceType: 'document',
    response: { status, redirectURL, content: { mimeType: 'text/html' } }
  })
  test.each([
    {
      what: 'from the cache',
      entries: [answer('http://a.example/', 304), answer('http://ads.example/', 200)]
    },
    { what: 'that failed', entries: [answer('http://a.example/', 500), answer('http://ads.example/', 200)] },
    {
      what: 'after a login elsewhere',
      entries: [
        answer('http://a.example/', 302, 'http://login.example/'),
        answer('http://login.example/', 200),
        answer('http://a.example/', 200)
      ]
    },
    {
      what: 'after a redirect to where it is',
      entries: [answer('http://example/', 301, 'http://a.example/'), answer('http://a.example/', 200)]
    }
  ])('the application is the one of the page that was opened: $what', ({ entries }) => {
    expect(readHar(har(...entries), READ_ONLY).target?.host).toBe('a.example')
  })

  test('each request is answered as recorded, and what was requested after a redirect is a request of its own', () => {
    const login = {
      ...entry('http://a.example/login', { method: 'POST', postData: { mimeType: FORM, text: 'pin=1' } }),
      response: { status: 302, redirectURL: '/home' }
    }
    const away = answer('http://a.example/away', 302, 'http://login.example/')
    const cached = answer('http://a.example/cached', 304)
    const signedIn = { headers: [{ name: 'Cookie', value: 'sid=planted' }] }
    const text = har(
      entry('http://a.example/', signedIn),
      login,
      entry('http://a.example/home'),
      away,
      cached
    )
    const set = readHar(text, READ_ONLY)
    expect(set.requests.map(({ name, expects }) => `${name} ${expects}xx`)).toEqual([
      'GET / 2xx',
      'POST /login 3xx',
      'GET /home 2xx',
      'GET /away 3xx',
      'GET /cached 2xx'
    ])
    expect(set.notes).toEqual([
      'Not in the plan: Cookie. Cookies that the application sets are kept by each user.',
      expect.stringContaining('record again, logged out, from the login page on'),
      'Redirects to other hosts are not followed: 1 of 5 requests.',
      'Disabled, because they change data: POST /login. --all-methods --force enables them.',
      expect.stringContaining('read it before you commit it')
    ])
    expect(planOf(set).match(/>[23]\.\.</g)).toEqual(['>2..<', '>3..<', '>2..<', '>3..<', '>2..<'])
    expect(planOf(set)).not.toMatch(/_redirects">true/)
  })

  test.each([
    { text: '<html>', words: 'it is not a HAR file, which is JSON' },
    { text: '{"log":{}}', words: 'it has no log.entries' },
    { text: har(), words: 'it contains no requests' },
    { text: har(entry('data:,x')), words: 'it contains no request to an http or https address' },
    { text: har(entry('http://a.example/x.css')), words: 'Left out of the recording: 1 for static files' }
  ])('$words', ({ text, words }) => {
    expect(() => readHar(text, READ_ONLY)).toThrow(words)
  })

  test('what a broken file contains is not quoted', () => {
    const words = (text: string): string => {
      try {
        return JSON.stringify(readHar(text, READ_ONLY))
      } catch (thrown) {
        return (thrown as Error).message
      }
    }
    for (const text of ['{"token": planted}', '{"a":"planted" "b"}', 'planted', '{"x":"planted'])
      expect(words(text)).toMatch(/^it is not a HAR file, which is JSON: (?!.*planted)/)
  })

  test('megabytes of what almost is a secret take no time', () => {
    const url = `http://a.example/?x=${'-eyJ'.repeat(25_000)}`
    expect(readHar(har(entry(url)), READ_ONLY).requests).toHaveLength(1)
    const operationId = '$'.repeat(100_000)
    const text = JSON.stringify({ openapi: '3.0.0', paths: { '/a': { get: { operationId } } } })
    expect(readOpenApi(text, { allMethods: false }).requests).toHaveLength(1)
  })

  test('entries of any shape do no harm', () => {
    const odd = [null, 7, {}, { request: null }, entry('http://a.example/', { headers: 'x', method: 'BREW' })]
    const text = JSON.stringify({ log: { entries: [...odd, entry('http://a.example/ok')] } })
    expect(readHar(text, READ_ONLY).requests.map(({ name }) => name)).toEqual(['GET /ok'])
  })

  test('a very long recording is cut, and says so', () => {
    const entries = Array.from({ length: 501 }, (_, at) => entry(`http://a.example/${at}`))
    const { requests, notes } = readHar(har(...entries), READ_ONLY)
    expect(requests).toHaveLength(500)
    expect(notes[0]).toContain('1 beyond the first 500')
  })
})

describe('a description of an API', () => {
  test('writes only GET and HEAD enabled; the others say why they are not', () => {
    const { requests, notes } = readOpenApi(read('shop-api.yaml'), { allMethods: false })
    expect(requests.map(({ name, isEnabled }) => [name, isEnabled])).toEqual([
      ['listProducts', true],
      ['POST /products', false],
      ['GET /products/{id}', true],
      ['HEAD /products/{id}', true],
      ['PUT /products/{id}', false]
    ])
    expect(encodeText(requests[0]!.path)).toBe('/v1/products?page=1')
    expect(encodeText(requests[2]!.path)).toBe('/v1/products/tea%20pot')
    expect(requests.filter(({ isEnabled }) => !isEnabled).every(({ note }) => note !== undefined)).toBe(true)
    expect(notes).toContain('Left out, because they have another server: 1 of 6 operations.')
  })

  test('Swagger 2: host, base path, form and body', () => {
    const set = readOpenApi(
      JSON.stringify({
        swagger: '2.0',
        host: 'shop.example:8443',
        basePath: '/v2/',
        schemes: ['http', 'https'],
        securityDefinitions: { key: { type: 'apiKey', in: 'query', name: 'api_key' } },
        security: [{ key: [] }],
        paths: {
          '/a': {
            get: {},
            post: { parameters: [{ in: 'formData', name: 'x y', type: 'string', default: 'a&b' }] }
          },
          '/b': { post: { parameters: [{ in: 'body', name: 'b', schema: { example: { z: 1 } } }] } }
        }
      }),
      { allMethods: true }
    )
    expect(set.target).toEqual({ protocol: 'https', host: 'shop.example', port: 8443 })
    expect(set.requests.map(({ path, body }) => [encodeText(path), body && encodeText(body)])).toEqual([
      ['/v2/a?api_key=${__urlencode(${__P(api_key,)})}', undefined],
      ['/v2/a?api_key=${__urlencode(${__P(api_key,)})}', 'x+y=a%26b'],
      ['/v2/b?api_key=${__urlencode(${__P(api_key,)})}', '{\n  "z": 1\n}']
    ])
  })

  test.each([
    { server: '/v3', target: undefined, path: '/v3/a' },
    { server: 'v4/', target: undefined, path: '/v4/a' },
    { server: 'https://{x}.example', target: undefined, path: '/a' },
    { server: '//cdn.example/x', target: { protocol: 'http', host: 'cdn.example', port: 80 }, path: '/x/a' }
  ])('the server $server', ({ server, target, path }) => {
    const text = JSON.stringify({
      openapi: '3.0.0',
      servers: [{ url: server }],
      paths: { '/a': { get: {} } }
    })
    const set = readOpenApi(text, { allMethods: false })
    expect(set.target).toEqual(target)
    expect(encodeText(set.requests[0]!.path)).toBe(path)
  })

  const api = (facts: object): string => JSON.stringify({ openapi: '3.0.0', ...facts })
  const get = (facts: object): object => ({ get: facts })
  const servers = (url: string): object => ({ servers: [{ url }] })
  const pathsOf = (text: string): string[] =>
    readOpenApi(text, { allMethods: true }).requests.map(({ path }) => encodeText(path))

  test('servers of paths and operations count where the document has none, and relative ones are at its host', () => {
    const paths = {
      '/a': { ...servers('https://one.example/x'), ...get({}) },
      '/b': get(servers('https://two.example/')),
      '/c': get(servers('/v9'))
    }
    const alone = readOpenApi(api({ paths: { '/a': paths['/a'], '/b': paths['/b'] } }), { allMethods: false })
    expect(addressOf(alone.target ?? DEFAULT_TARGET)).toBe('https://one.example')
    expect(alone.notes).toContain('Left out, because they have another server: 1 of 2 operations.')
    expect(pathsOf(api({ paths }))).toEqual(['/v9/c'])
    expect(pathsOf(api({ ...servers('https://two.example/v1'), paths }))).toEqual(['/b', '/v9/c'])
    expect(() => pathsOf(api({ paths: { '/a': { $ref: 'a.yaml' } } }))).toThrow('in other files (a.yaml)')
  })

  test('a version that is a number to YAML', () => {
    expect(pathsOf('openapi: 3.0\npaths: { /a: { get: {} } }\n')).toEqual(['/a'])
  })

  test.each([
    { facts: {}, query: 's=a%26b&s=c' },
    { facts: { explode: false }, query: 's=a%26b%2Cc' },
    { facts: { style: 'pipeDelimited' }, query: 's=a%26b%7Cc' },
    { facts: { example: { x: 1, y: 'z' } }, query: 'x=1&y=z' },
    { facts: { example: { x: 1, y: 'z' }, explode: false }, query: 's=x%2C1%2Cy%2Cz' },
    { facts: { example: { x: 1, y: 'z' }, style: 'deepObject' }, query: 's%5Bx%5D=1&s%5By%5D=z' },
    {
      facts: { example: undefined, content: { 'application/json': { example: { x: [1] } } } },
      query: 's=%7B%22x%22%3A%5B1%5D%7D'
    }
  ])('a list or an object in a query: $query', ({ facts, query }) => {
    const parameter = { in: 'query', name: 's', required: true, example: ['a&b', 'c'], ...facts }
    expect(pathsOf(api({ paths: { '/a': get({ parameters: [parameter] }) } }))).toEqual([`/a?${query}`])
  })

  test('no example of a token, password or cookie is in the plan, but the words of a list are', () => {
    const parameter = (place: string, name: string, facts: object): object => {
      return { in: place, name, required: true, ...facts }
    }
    const body = (type: string, example: unknown): object => ({
      post: { requestBody: { content: { [type]: { example } } } }
    })
    const parameters = [
      parameter('query', 'api_token', { example: 'planted' }),
      parameter('query', 'state', { schema: { enum: ['open', 'closed'] } }),
      parameter('header', 'X-Auth-Token', { schema: { default: 'planted' } }),
      parameter('cookie', 'session', { example: 'planted' }),
      parameter('cookie', 'lang', { example: 'en' }),
      parameter('path', 'token', { example: 'planted' })
    ]
    const text = api({
      paths: {
        '/a/{token}': get({ security: [{ key: [] }], parameters }),
        '/json': body('application/json', { user: 'ann', in: [{ password: 'planted' }] }),
        '/text': body('application/json', '{"user": "ann", "password": "planted"}'),
        '/form': body('application/x-www-form-urlencoded', { user: 'ann', pwd: 'planted' }),
        '/pairs': body('application/x-www-form-urlencoded', 'user=ann&pwd=planted')
      },
      components: { securitySchemes: { key: { type: 'apiKey', in: 'cookie', name: 'sid' } } }
    })
    const set = readOpenApi(text, { allMethods: true })
    // What only disabled requests need is not asked for.
    const { notes } = readOpenApi(text, { allMethods: false })
    expect([set.notes, notes].map((all) => all.join().includes('-Jpassword=…'))).toEqual([true, false])
    expect(planOf(set) + set.notes.join()).not.toContain('planted')
    const [first, ...posts] = set.requests.toSorted((one, other) => one.method.localeCompare(other.method))
    expect(encodeText(first!.path)).toBe(
      '/a/${__urlencode(${__P(token,)})}?api_token=${__urlencode(${__P(api_token,)})}&state=open'
    )
    expect(first!.headers.map(({ name, value }) => [name, encodeText(value)])).toEqual([
      ['X-Auth-Token', '${__P(x-auth-token,)}'],
      ['Cookie', 'sid=${__P(sid,)}; session=${__P(session,)}; lang=en']
    ])
    const bodies = posts.map(({ body }) => encodeText(body ?? []))
    expect(bodies.slice(0, 2).map((text) => text.includes('"password": "${__P(password,)}"'))).toEqual([
      true,
      true
    ])
    expect(bodies.slice(2)).toEqual(Array(2).fill('user=ann&pwd=${__urlencode(${__P(pwd,)})}'))
    expect(set.notes).toContainEqual(expect.stringContaining('-Jsession=…'))
  })

  test('the signs that stand for a property are none in an example', () => {
    const example = { a: '\ue000x,)}${__time()}\ue001', 'b\ue000': '\ue001' }
    const paths = { '/a': { post: { requestBody: { content: { 'application/json': { example } } } } } }
    const { requests } = readOpenApi(api({ paths }), { allMethods: true })
    expect(evaluate(encodeText(requests[0]!.body!))).toBe(JSON.stringify(example, null, 2))
    expect(encodeText([{ property: 'x,)}${__time()}' }])).toBe('${__P(x-__time-,)}')
  })

  test('references that lead to themselves, nowhere, or out of the file end', () => {
    const set = readOpenApi(
      `openapi: 3.0.0
paths:
  /loop: { $ref: '#/paths/~1loop' }
  /foreign: { $ref: 'other.yaml#/x' }
  /proto: { $ref: '#/__proto__/constructor' }
  /a:
    post:
      requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/A' } } } }
components:
  schemas:
    A: { allOf: [{ $ref: '#/components/schemas/A' }, { properties: { b: { $ref: '#/components/schemas/B' } } }] }
    B: { properties: { a: { $ref: '#/components/schemas/A' }, n: { type: integer, maximum: -3 } } }
`,
      { allMethods: true }
    )
    expect(set.requests.map(({ name, body }) => [name, body && encodeText(body)])).toEqual([
      ['POST /a', '{\n  "b": {\n    "n": -3\n  }\n}']
    ])
    expect(set.notes).toContain('References to other files were not followed: other.yaml#/x.')
  })

  test('schemas that refer to each other many times take no time', () => {
    const refs = (at: number): object[] =>
      Array.from({ length: 300 }, (_, more) => ({ $ref: `#/components/schemas/S${(at + 1 + more) % 8}` }))
    const schemas = Object.fromEntries(
      Array.from({ length: 8 }, (_, at) => [
        `S${at}`,
        { allOf: refs(at), properties: Object.fromEntries(refs(at).entries()), oneOf: refs(at) }
      ])
    )
    const schema = { $ref: '#/components/schemas/S0' }
    const post = { requestBody: { content: { 'application/json': { schema } } } }
    const paths = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`/p${at}`, { post }]))
    // Twice for each operation: once in search of a login.
    let left = 40 * 2 * 1500
    const find = ApiDocument.prototype.resolve.bind(ApiDocument.read(api({ components: { schemas } })))
    const resolve = jest.spyOn(ApiDocument.prototype, 'resolve').mockImplementation((value) => {
      if (left-- <= 0) throw new Error('too many references were followed')
      return find(value)
    })
    expect(pathsOf(api({ paths, components: { schemas } }))).toHaveLength(40)
    resolve.mockRestore()
  })

  const bomb = Array.from(
    { length: 12 },
    (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]`
  ).join('\n')
  test.each([
    { what: 'an alias bomb', text: `openapi: 3.0.0\na0: &a0 [x]\n${bomb}\n`, words: 'Excessive alias count' },
    {
      what: 'a value within itself',
      text: 'openapi: 3.0.0\nx: &x { y: *x }\n',
      words: 'neither YAML nor JSON'
    },
    {
      what: 'a key twice',
      text: 'openapi: 3.0.0\npaths: {}\npaths: {}\n',
      words: 'unique at line 3, column 1'
    },
    { what: 'broken YAML', text: 'openapi: 3.0.0\n\tx: 1\n', words: 'neither YAML nor JSON' },
    { what: 'another file', text: 'threads: 5\n', words: 'it is not a description of an API' },
    { what: 'no paths', text: 'openapi: 3.0.0\n', words: 'it describes no operations' }
  ])('$what is refused', ({ text, words }) => {
    expect(() => readOpenApi(text, { allMethods: false })).toThrow(words)
  })
})
