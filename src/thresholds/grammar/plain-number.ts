import type { LineReader } from './line-reader.js'
import { quote } from '../quoting.js'

/** Anything that may be meant as a number, so that it is rejected as a whole and not in part. */
const NUMBER_LIKE = /[+-]?(?:0x[\da-f]*|\.?\d(?:[.,_]?\d)*\.?(?:e[+-]?\d+)?)/iy
const PLAIN_NUMBER = /^\d+(?:\.\d+)?$/u
const MOST_CHARACTERS = 20

/** The digits as written: conversions shift their decimal point, so there is no rounding. */
export function readPlainNumber(
  reader: LineReader,
  { subject, example }: { readonly subject: 'a limit' | 'an allowance'; readonly example: string }
): string | undefined {
  const at = reader.at
  const word = reader.take(NUMBER_LIKE)
  if (word === undefined) {
    reader.giveUp(at, `expected a number, but ${reader.describeNext()}; such as ${example}`)
    return undefined
  }
  if (word.startsWith('-')) {
    const fix = subject === 'a limit' ? '' : `: write it without that sign, such as ${example}`
    reader.complain(at, `${subject} is never negative, but ${quote(word)} is${fix}`)
    return undefined
  }
  if (!PLAIN_NUMBER.test(word)) {
    reader.complain(
      at,
      `${quote(word)} is not a plain number; digits with or without decimals, such as 1200 or 0.5`
    )
    return undefined
  }
  if (word.length > MOST_CHARACTERS) {
    reader.complain(at, `the number is too long; at most ${MOST_CHARACTERS} characters`)
    return undefined
  }
  return word
}
