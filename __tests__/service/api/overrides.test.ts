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
    { text: 'shop/::1 other/localhost', expected: ['shop=::1', 'other=localhost'] },
    { text: '', expected: [] }
  ])('$text', ({ text, expected }) => {
    const { hosts, problems } = parseOverrideHosts(text)
    expect(hosts.map(({ host, address }) => `${host}=${address}`)).toEqual(expected)
    expect(problems).toEqual([])
  })

  test.each(['example.com', 'example.com/', '/10.0.0.1', 'a/b/c', '"><x/10.0.0.1', 'a/10.0.0.1<'])(
    '%s is refused',
    (text) => {
      expect(parseOverrideHosts(text).problems).toHaveLength(1)
    }
  )
})
