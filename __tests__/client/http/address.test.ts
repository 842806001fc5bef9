import { describe, expect, test } from '@jest/globals'
import {
  candidatesOf,
  isConfidential,
  isLoopback,
  knownAddress,
  readAddress,
  redirectedAddress,
  resolveLink
} from '../../../src/client/http/address.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'

describe('the base URL', () => {
  test.each([
    ['without a path', 'https://service.example', 'https://service.example'],
    ['with a slash', 'https://service.example/', 'https://service.example'],
    ['with /api', 'https://service.example/api', 'https://service.example/api'],
    ['with /api/', 'https://service.example/api//', 'https://service.example/api'],
    ['below a prefix', 'https://host.example/load', 'https://host.example/load'],
    ['with a port', 'https://service.example:8443', 'https://service.example:8443'],
    ['loopback by number', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['loopback by name', 'http://localhost:8080/api', 'http://localhost:8080/api'],
    ['loopback in IPv6', 'http://[::1]:8080', 'http://[::1]:8080']
  ])('%s is used as it is written', (_, given, api) => {
    expect(readAddress(given)).toEqual({ api, origin: new URL(given).origin })
  })

  test.each([
    ['https://x.example', ['https://x.example', 'https://x.example/api']],
    ['https://x.example/load', ['https://x.example/load', 'https://x.example/load/api']],
    ['https://x.example/myapi', ['https://x.example/myapi', 'https://x.example/myapi/api']],
    ['https://x.example/load/api', ['https://x.example/load/api']]
  ])('%s: the API may be at %j', (given, places) => {
    expect(candidatesOf(readAddress(given)).map(({ api }) => api)).toEqual(places)
  })

  test.each([
    ['/api/account', 'https://x.example/api'],
    ['https://x.example/v2/account?locale=en', 'https://x.example/v2'],
    ['/account', 'https://x.example'],
    ['https://other.example/account', undefined],
    ['http://x.example/account', undefined],
    ['//other.example/account', undefined],
    ['/login', undefined],
    ['/my-account', undefined],
    ['http://[', undefined],
    ['', undefined],
    [undefined, undefined]
  ])('an account that is redirected to %s', (location, api) => {
    expect(redirectedAddress(readAddress('https://x.example/load'), location)?.api).toBe(api)
  })

  test.each([
    ['plain http', 'http://service.example', /must start with https:\/\/ .*token in the clear/],
    ['a name that looks like loopback', 'http://localhost.evil.example', /token in the clear/],
    ['a number that looks like loopback', 'http://127.0.0.1.evil.example', /token in the clear/],
    ['all interfaces', 'http://0.0.0.0:80', /token in the clear/],
    ['another scheme', 'ftp://service.example', /must start with https/],
    ['a file', 'file:///etc/passwd', /must start with https/],
    ['no URL', 'service.example', /not a URL.*https:\/\/service\.example/],
    ['nothing', '', /not a URL/],
    ['a user name', 'https://me@service.example', /must not contain a user name or password.*`token`/],
    ['a password', 'https://:secret@service.example', /must not contain a user name or password/],
    ['a query', 'https://service.example?x=1', /query or a fragment/],
    ['a fragment', 'https://service.example#x', /query or a fragment/]
  ])('refuses %s', (_, given, message) => {
    expect(() => readAddress(given)).toThrow(message)
  })

  test('the message about a password does not repeat it', () => {
    expect(() => readAddress('https://u:hunter2@service.example')).toThrow(/^(?!.*hunter2)/)
  })
})

describe('links in replies', () => {
  const ORIGIN = 'https://service.example'
  const PREFIXES = ['', '/api', '/load', '/load/api']
  const PATHS = ['/runs?page=2', '/runs/r1/result.csv?grid_id=g1', '/runs', '/grids/g1', '/account']
  const resolved = (api: string, href: string, name?: string): string =>
    resolveLink(knownAddress(ORIGIN + api), href, vocabularyOf(name)).href

  describe.each(PREFIXES)('of an API found at "%s"', (api) => {
    // A service behind a proxy knows nothing of the path that the proxy adds.
    const spelled = api.startsWith('/load') ? PREFIXES : ['', '/api']
    const links = spelled.flatMap((prefix) => PATHS.map((path) => [prefix + path, path] as const))

    test.each(links)('%s is requested there', (href, path) => {
      expect(resolved(api, href)).toBe(ORIGIN + api + path)
      expect(resolved(api, ORIGIN + href)).toBe(ORIGIN + api + path)
      expect(resolved(api, href.slice(1))).toBe(ORIGIN + api + path)
      expect(resolved(api, href.replace('/runs', '/acmes'), 'acme')).toBe(
        ORIGIN + api + path.replace('/runs', '/acmes')
      )
    })

    test.each([
      ['a file of the same host', `${ORIGIN}/x.csv`],
      ['a file of the same host whose name only starts as one of the API', `${ORIGIN}/runs.csv`],
      ['another host', 'https://store.example/api/runs/r1/result.csv?grid_id=g1'],
      ['another port', 'https://service.example:8443/runs/r1/result.csv'],
      ['another scheme', 'http://service.example/runs/r1/result.csv']
    ])('%s is left as it is', (_, href) => {
      expect(resolved(api, href)).toBe(href)
    })

    test.each([
      ['/api/files/x.csv', '/files/x.csv'],
      ['/files/x.csv?s=1', '/files/x.csv?s=1'],
      ['/apiary', '/apiary'],
      ['/api', ''],
      ['/api/../../x', '/x']
    ])('%s, which has no host, belongs to the API too', (href, path) => {
      expect(resolved(api, href)).toBe(new URL(ORIGIN + api + path).href)
    })
  })

  test.each(['//store.example/x.csv', '/\\\\store.example/x.csv'])('%s names another host', (href) => {
    expect(resolved('/api', href)).toBe('https://store.example/x.csv')
  })
})

test.each([
  ['https://anywhere.example', true, false],
  ['http://127.9.9.9', true, true],
  ['http://127.1', true, true],
  ['http://[::1]', true, true],
  ['http://10.0.0.1', false, false],
  ['ftp://localhost', false, true]
])('%s: confidential %s, loopback %s', (text, confidential, loopback) => {
  const url = new URL(text)
  expect([isConfidential(url), isLoopback(url)]).toEqual([confidential, loopback])
})
