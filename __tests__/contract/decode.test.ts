import { describe, expect, test } from '@jest/globals'
import * as v from 'valibot'
import { decode, document } from '../../src/contract/decode.js'

/** One of each kind that refuses, without words of its own. */
const schema = document({
  text: v.optional(v.string()),
  number: v.optional(v.number()),
  whole: v.optional(v.pipe(v.number(), v.integer())),
  list: v.optional(v.array(v.string())),
  flag: v.optional(v.boolean()),
  choice: v.optional(v.picklist(['a', 'b'])),
  pattern: v.optional(v.pipe(v.string(), v.regex(/^a$/))),
  either: v.optional(v.union([v.string(), v.number()])),
  password_token: v.optional(v.number())
})

describe('what is odd is said in our own words, since those of the library quote values', () => {
  test.each<[object, string]>([
    [{ text: [] }, 'text should be text, found a list'],
    [{ number: {} }, 'number should be a number, found an object'],
    [{ whole: 1.5 }, 'whole should be different, found 1.5'],
    [{ list: [1] }, 'list[0] should be text, found 1'],
    [{ flag: 'yes' }, 'flag should be true or false, found "yes"'],
    [{ choice: 'c' }, 'choice should be different, found "c"'],
    [{ pattern: 'b' }, 'pattern should be different, found "b"'],
    [{ either: [] }, 'either should be different, found a list'],
    [{ password_token: 'tok-123' }, 'password_token should be a number, found something else']
  ])('%j', (value, odd) => {
    expect(decode(schema, value)).toMatchObject({ odd })
  })
})

test('a list is no object, and what is not known is left out', () => {
  expect(decode(schema, [])).toMatchObject({ odd: 'the reply should be an object, found a list' })
  expect(decode(schema, { text: 'x', more: 1 })).toEqual({ value: { text: 'x' } })
})
