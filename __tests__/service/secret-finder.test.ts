import { expect, test } from '@jest/globals'
import { CUT } from '../../src/service/lines.js'
import { LEAST_LENGTH, SecretFinder } from '../../src/service/secret-finder.js'
import { makeRandom } from '../support/data/seeded-random.js'

const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1)

/** Each character of the text by itself: whether a secret covers it. */
function isCovered(text: string, secrets: readonly string[]): boolean[] {
  const covered = Array.from(text, () => false)
  for (const secret of secrets)
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1))
      covered.fill(true, at, at + secret.length)
  return covered
}

test.each(SEEDS)('finds what looking for each secret finds, seed %i', (seed) => {
  const random = makeRandom(seed)
  // Few letters, for texts that overlap; and many, for those that go on in many ways.
  const alphabet =
    seed % 2 === 0 ? 'abé' : String.fromCharCode(...Array.from({ length: 300 }, (_, at) => 64 + at))
  const letters = (length: number): string =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
  for (let round = 0; round < 50; round++) {
    const secrets = Array.from({ length: round % 12 }, () => letters(LEAST_LENGTH + Math.floor(random() * 4)))
    // Beginnings and ends of others.
    secrets.push(...secrets.map((one) => one.slice(0, LEAST_LENGTH)), ...secrets.map((one) => `b${one}`))
    secrets.push(...secrets.slice(0, 3).flatMap((one) => Array.from({ length: 5 }, () => one + letters(1))))
    const text = letters(80) + secrets.join('a') + letters(20)
    const found = Array.from(text, () => false)
    let last = 0
    for (const { start, end } of new SecretFinder(secrets).findIn(text)) {
      expect(start).toBeGreaterThanOrEqual(last)
      found.fill(true, start, end)
      last = end
    }
    expect(found).toEqual(isCovered(text, secrets))
  }
})

test.each([
  ['abcdefgh', `x abcdef${CUT}`, `x -${CUT}`],
  ['abcdefgh', `x abcde${CUT}`, `x abcde${CUT}`],
  ['abcdefgh', `x bcdefg${CUT}`, `x bcdefg${CUT}`],
  [`abcdef${CUT}gh`, `x abcdef${CUT}gh`, 'x -'],
  ['abcdefgh', `abcdef${CUT} abcdefgh abcdef`, `-${CUT} - abcdef`]
])('the start of %s before a cut is struck: %s', (secret, text, expected) => {
  expect(new SecretFinder([secret]).replaceIn(text, '-')).toBe(expected)
})
