import { describe, expect, test } from '@jest/globals'
import { isConfidential, isLoopback, readAddress, resolveLink } from '../../../src/client/http/address.js'

describe('the base URL', () => {
  test.each([
    ['without /api', 'https://service.example', 'https://service.example/api'],
    ['with a slash', 'https://service.example/', 'https://service.example/api'],
    ['with /api', 'https://service.example/api', 'https://service.example/api'],
    ['with /api/', 'https://service.example/api//', 'https://service.example/api'],
    ['below a prefix', 'https://host.example/load', 'https://host.example/load/api'],
    ['below a prefix, with /api', 'https://host.example/load/api', 'https://host.example/load/api'],
    ['with a port', 'https://service.example:8443', 'https://service.example:8443/api'],
    ['a name that only ends in api', 'https://host.example/myapi', 'https://host.example/myapi/api'],
    ['loopback by number', 'http://127.0.0.1:8080', 'http://127.0.0.1:8080/api'],
    ['loopback by name', 'http://localhost:8080/api', 'http://localhost:8080/api'],
    ['loopback in IPv6', 'http://[::1]:8080', 'http://[::1]:8080/api']
  ])('%s', (_, given, api) => {
    expect(readAddress(given)).toEqual({ api, origin: new URL(given).origin })
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
  const plain = readAddress('https://service.example')
  const below = readAddress('https://host.example/load')

  test.each([
    ['with /api', plain, '/api/grids/g1', 'https://service.example/api/grids/g1'],
    ['with a query', plain, '/api/runs?page=2', 'https://service.example/api/runs?page=2'],
    ['/api alone', plain, '/api', 'https://service.example/api'],
    ['without /api', plain, '/runs?page=2', 'https://service.example/api/runs?page=2'],
    ['without a slash', plain, 'runs?page=2', 'https://service.example/api/runs?page=2'],
    ['a name that only starts as api', plain, '/apiary', 'https://service.example/api/apiary'],
    ['below a prefix', below, '/api/runs?page=2', 'https://host.example/load/api/runs?page=2'],
    ['with the whole prefix', below, '/load/api/runs?page=2', 'https://host.example/load/api/runs?page=2'],
    ['absolute', plain, 'https://service.example/x.csv', 'https://service.example/x.csv'],
    ['absolute, elsewhere', plain, 'https://store.example/x.csv', 'https://store.example/x.csv'],
    ['absolute without scheme', plain, '//store.example/x.csv', 'https://store.example/x.csv'],
    ['steps upwards', plain, '/api/../../x', 'https://service.example/x'],
    ['a backslash', plain, '/\\evil.example', 'https://service.example/api//evil.example']
  ])('%s', (_, address, href, resolved) => {
    expect(resolveLink(address, href).href).toBe(resolved)
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
