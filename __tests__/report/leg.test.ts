import { expect, test } from '@jest/globals'
import { describeLeg, identifyLeg } from '../../src/report/markdown/comment-marker.js'

test.each([
  ['', ''],
  ['null', ''],
  ['{}', ''],
  ['not JSON', ''],
  ['"eu"', ''],
  ['{"region":"eu","node":20}', 'eu, 20'],
  ['{"os":{"name":"linux","bits":64},"flag":true,"none":null}', 'linux, 64, true'],
  [JSON.stringify({ long: 'x'.repeat(500) }), `${'x'.repeat(99)}…`]
])('the leg of %s is called "%s"', (matrix, words) => {
  expect(describeLeg(matrix)).toBe(words)
})

test('the same leg gives the same text, whatever the order of its keys', () => {
  expect(identifyLeg('{"a":1,"b":"x"}')).toBe(identifyLeg('{ "b": "x", "a": 1 }'))
})

test.each([
  ['another value', '{"a":1}', '{"a":2}'],
  ['another key', '{"a":1}', '{"b":1}'],
  ['a text in place of a number', '{"a":1}', '{"a":"1"}'],
  ['no matrix', '{"a":1}', 'null']
])('%s is another leg', (_name, one, other) => {
  expect(identifyLeg(one)).not.toBe(identifyLeg(other))
})
