import { describe, expect, test } from '@jest/globals'
import { describeErrorBody } from '../../../src/client/http/error-body.js'

const JSON_TYPE = 'application/json'

describe('an error body becomes one readable line', () => {
  test.each([
    ['error as text', { error: 'Sorry, we cannot find that.' }, 'Sorry, we cannot find that.'],
    ['error as a list', { error: ['Too big', 'Too late'] }, 'Too big; Too late'],
    ['error as an object', { error: { code: 7, text: 'no' } }, 'code 7; text no'],
    ['errors as text', { errors: 'Tool is invalid' }, 'Tool is invalid'],
    ['errors as a list', { errors: ['a', 'b'] }, 'a; b'],
    [
      'errors as Rails writes them',
      { errors: { tool: ["can't be blank"], name: ['is too long', 'is odd'] } },
      "tool can't be blank; name is too long; is odd"
    ],
    ['message', { message: 'Rate limited' }, 'Rate limited'],
    ['several at once', { error: 'Bad', message: 'Worse' }, 'Bad; Worse'],
    ['the same twice', { error: 'Bad', message: 'Bad' }, 'Bad'],
    ['null beside text', { error: null, message: 'Bad' }, 'Bad'],
    ['other keys', { reason: 'quota' }, 'reason quota'],
    ['an empty object', {}, '{}'],
    ['a bare text', 'nope', 'nope'],
    ['a bare list', ['x', 'y'], 'x; y']
  ])('%s', (_, body, words) => {
    expect(describeErrorBody(JSON.stringify(body), JSON_TYPE)).toBe(words)
  })

  test.each([
    ['nothing', '', '', 'no explanation was given'],
    ['blanks', ' \r\n ', JSON_TYPE, 'no explanation was given'],
    ['plain text', 'upstream gone', 'text/plain', 'upstream gone'],
    ['broken JSON', '{"error": "x', JSON_TYPE, '{"error": "x'],
    [
      'a page with a title',
      '<html><head><title>502 Bad\n Gateway</title></head></html>',
      'text/html',
      'an HTML page titled "502 Bad Gateway"'
    ],
    ['a page with a heading', '<h1>Oops</h1>', '', 'an HTML page titled "Oops"'],
    ['a page without either', '<!doctype html><p>x', 'text/html', 'an HTML page instead of JSON'],
    ['text sent as a page', 'Service Unavailable', 'text/html', 'an HTML page instead of JSON']
  ])('%s', (_, body, type, words) => {
    expect(describeErrorBody(body, type)).toBe(words)
  })

  test.each([
    ['text', 'x'.repeat(200_000)],
    ['JSON', JSON.stringify({ errors: Array.from({ length: 20_000 }, (_, index) => `problem ${index}`) })],
    ['a title', `<title>${'x'.repeat(200_000)}</title>`],
    ['astral characters', `x${'🚀'.repeat(50_000)}`],
    ['nesting', '['.repeat(100_000) + ']'.repeat(100_000)]
  ])('huge %s is cut, and stays whole characters', (_, body) => {
    const words = describeErrorBody(body, '')
    expect(words.length).toBeLessThan(700)
    expect(Buffer.from(words).toString()).toBe(words)
  })

  test('line breaks cannot make more lines of it', () => {
    expect(describeErrorBody(JSON.stringify({ error: 'a\r\n::set-output name=x::y' }), JSON_TYPE)).toBe(
      'a ::set-output name=x::y'
    )
  })
})

test.each([
  ['in a document', JSON.stringify({ user: { email: 'a@b.example', authentication_token: 'T0ken4Others' } })],
  ['in an explanation', JSON.stringify({ errors: [{ api_key: 'T0ken4Others', id: 1 }] })],
  ['in half a document', '{"users":[{"id":1,"authentication_token":"T0ken4Others","x'],
  ['cut off itself', '{"users":[{"id":1,"authentication_token": "T0ken4Others']
])('somebody’s token %s is not shown', (_, body) => {
  expect(describeErrorBody(body, 'application/json')).not.toContain('T0ken4Others')
  expect(describeErrorBody(body, 'application/json')).toContain('***')
})

test('what is said about a token is shown', () => {
  const body = JSON.stringify({ errors: { authentication_token: ['has expired'] } })
  expect(describeErrorBody(body, 'application/json')).toBe('authentication_token has expired')
})
