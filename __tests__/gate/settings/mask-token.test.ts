import { expect, test } from '@jest/globals'
import { maskToken } from '../../../src/gate/settings/token-settings.js'

function masksOf(token: string): string[] {
  const masked: string[] = []
  maskToken({ mask: (secret) => void masked.push(secret) }, token)
  return masked
}

test.each([20, 21, 22])(
  'a token of %d characters is masked together with its dress in the header',
  (length) => {
    const token = 'abcdefghij0123456789xyz'.slice(0, length)
    expect(masksOf(token)).toEqual([token, Buffer.from(`${token}:`).toString('base64')])
  }
)

test('an empty one masks nothing', () => {
  expect(masksOf('')).toEqual([])
})
