import { expect, test } from '@jest/globals'
import { overlayParameters } from '../../../src/gate/settings/override-parameters.js'
import { parseOverrideParameters } from '../../../src/service/engines/engine.js'

test.each([
  ['replaces the same name', '-Jport=9000, -Jpath=/shop', '-Jport=9001', '-Jpath=/shop, -Jport=9001'],
  ['adds a new one', '-Jpath=/shop', '-Jport=9001', '-Jpath=/shop, -Jport=9001'],
  ['has something to lie over', undefined, '-Jport=9001', '-Jport=9001'],
  ['keeps -J and -D apart', '-Dport=9000', '-Jport=9001', '-Dport=9000, -Jport=9001'],
  ['replaces every one of a name', '-Jport=1 -Jport=2', '-Jport=3', '-Jport=3'],
  ['keeps values with commas and spaces', '-Jlist=a, b c', '-Jx=d, e', '-Jlist=a, b c, -Jx=d, e'],
  ['compares whole names', '-Jport.https=443, -Jport=80', '-Jport=81', '-Jport.https=443, -Jport=81'],
  ['leaves what it does not know to the service', '-n, -Jport=1', '-Jport=2', '-n, -Jport=2']
])('%s', (_, parameters, overlay, expected) => {
  expect(overlayParameters(parameters, overlay)).toBe(expected)
})

test('the embedded service reads the same values', () => {
  const text = overlayParameters('-Jport=9000, -Dlist=a, b -Jname=x y', '-Jport=9001 -Jhost=127.0.0.1')
  expect(parseOverrideParameters(text)).toEqual({
    problems: [],
    properties: [
      { kind: 'D', name: 'list', value: 'a, b' },
      { kind: 'J', name: 'name', value: 'x y' },
      { kind: 'J', name: 'port', value: '9001' },
      { kind: 'J', name: 'host', value: '127.0.0.1' }
    ]
  })
})
