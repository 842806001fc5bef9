import { describe, expect, test } from '@jest/globals'
import { bytesOf, cutToBytes, formatBytes } from '../../src/report/escape.js'

/** Numbers that look random and are the same on every run. */
function makeRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('cutting to a number of bytes', () => {
  const ALPHABET = ['a', '\n', 'ä', 'ß', '€', '漢', '🚀', '👩‍👩‍👧', '\u0301', '&']

  test('whatever the text: it fits, it is a start, it is whole characters, and one more would not fit', () => {
    const random = makeRandom(7)
    for (let round = 0; round < 3000; round++) {
      const length = Math.floor(random() * 30)
      const text = Array.from({ length }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('')
      const most = Math.floor(random() * 60)
      const cut = cutToBytes(text, most)
      expect(bytesOf(cut)).toBeLessThanOrEqual(most)
      expect(text.startsWith(cut)).toBe(true)
      expect(Buffer.from(cut).toString()).toBe(cut)
      const next = text.codePointAt(cut.length)
      expect(next === undefined || bytesOf(cut + String.fromCodePoint(next)) > most).toBe(true)
    }
  })

  test.each([0, -1])('to %i leaves nothing', (most) => expect(cutToBytes('abc', most)).toBe(''))

  test('half a surrogate pair is harmless', () => {
    expect(bytesOf(cutToBytes('\ud83d'.repeat(10), 8))).toBeLessThanOrEqual(8)
  })
})

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [12_345, '12 kB'],
  [9_960_000, '10.0 MB'],
  [5_400_000_000, '5.4 GB'],
  [2e15, '2000 TB']
])('%i bytes are %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text))
