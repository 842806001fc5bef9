import { describe, expect, test } from '@jest/globals'
import {
  parseOverrideHosts,
  parseOverrideParameters,
  propertyValue
} from '../../../src/service/engines/engine.js'

describe('override parameters', () => {
  test.each([
    { text: '-Dhost=a, -Jport=80', expected: ['D host=a', 'J port=80'] },
    { text: '-Jhost=a -Jport=80', expected: ['J host=a', 'J port=80'] },
    { text: '-Jlist=a,b,c,-Jnext=1', expected: ['J list=a,b,c', 'J next=1'] },
    { text: '-Jwords=two words -Jempty=', expected: ['J words=two words', 'J empty='] },
    { text: '-Jdash=a-b\n-Jequals=a=b', expected: ['J dash=a-b', 'J equals=a=b'] },
    { text: ' , ', expected: [] }
  ])('$text', ({ text, expected }) => {
    const { properties, problems } = parseOverrideParameters(text)
    expect(properties.map(({ kind, name, value }) => `${kind} ${name}=${value}`)).toEqual(expected)
    expect(problems).toEqual([])
  })

  test.each([
    '-l /etc/passwd',
    '-R host',
    '-Jnovalue',
    '--addprop=x',
    'port=80',
    '-Gremote=1',
    '-Ja=1 -e',
    '-J=1'
  ])('%s contains something that is not a property', (text) => {
    expect(parseOverrideParameters(text).problems).toHaveLength(1)
  })

  test('the last value of a name counts', () => {
    expect(propertyValue(parseOverrideParameters('-Ja=1 -Ja=2').properties, 'a')).toBe('2')
  })
})

describe('override hosts', () => {
  test.each([
    {
      text: 'example.com/10.0.0.1, other.example/10.0.0.2',
      expected: ['example.com=10.0.0.1', 'other.example=10.0.0.2']
    },
    { text: 'shop./::1 other/10.0.0.1 OTHER./10.0.0.1', expected: ['shop=::1', 'OTHER=10.0.0.1'] },
    { text: '', expected: [] }
  ])('$text', ({ text, expected }) => {
    const { hosts, problems } = parseOverrideHosts(text)
    expect(hosts.map(({ host, address }) => `${host}=${address}`)).toEqual(expected)
    expect(problems).toEqual([])
  })

  test.each([
    ...['example.com', 'example.com/', '/10.0.0.1', 'a/b/c', '"><x/10.0.0.1', 'a/10.0.0.1<', '*.a/10.0.0.1'],
    ...['a:80/10.0.0.1', 'a/127.2', 'a/fe80::1%lo', 'a../10.0.0.1', './10.0.0.1']
  ])('%s is refused', (text) => {
    const problem = `override_hosts: "${text}" is not <host name>/<address>, as in example.com/10.0.0.1`
    expect(parseOverrideHosts(text)).toEqual({ hosts: [], problems: [problem] })
  })

  test.each(['127.0.0.2', '127.2', '127.0.0.2.', '2130706433', '0x7f.1', '::1', 'shop.0x7f'])(
    '%s is an address, which nobody looks up',
    (host) => {
      expect(parseOverrideHosts(`${host}/10.0.0.1`).problems).toEqual([
        `override_hosts: "${host}/10.0.0.1" is for an address, which nobody looks up: only host names can have other addresses`
      ])
    }
  )

  test('a name as an address is refused: tools would look it up in different ways', () => {
    expect(parseOverrideHosts('shop.test/localhost localhost/127.0.0.3').problems).toEqual([
      'override_hosts: "shop.test/localhost" has a name where the address must be: look up the address of localhost, and give that'
    ])
  })

  test('a host with two addresses is refused, however it is spelt', () => {
    expect(parseOverrideHosts('shop.test/10.0.0.1 Shop.test./10.0.0.2').problems).toEqual([
      'override_hosts: Shop.test has two addresses, 10.0.0.1 and 10.0.0.2; give one'
    ])
  })
})
