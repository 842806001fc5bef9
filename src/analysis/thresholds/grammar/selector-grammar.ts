import type { LineReader } from './line-reader.js'
import { suggestWord } from '../../../contract/nearest.js'
import { SELECTOR_KEYS, type Pattern, type Selector, type SelectorKey } from './threshold.js'
import { shorten } from '../../../contract/text.js'
import { quote } from '../quoting.js'

const ACCEPTED_KEYS = 'label, region, grid'

/** Where each key was first written. */
export type KeyPlaces = Readonly<Partial<Record<SelectorKey, number>>>

/** Reads `{key="value", …}` if there is one. */
export function readSelector(reader: LineReader): { selector: Selector; places: KeyPlaces } {
  const selector: Partial<Record<SelectorKey, Pattern>> = {}
  const places: Partial<Record<SelectorKey, number>> = {}
  reader.skipSpace()
  if (reader.take(/\{/y) === undefined) return { selector, places }
  do {
    const at = skipToPlace(reader)
    const key = readKey(reader)
    const pattern = readPattern(reader)
    if (key && pattern) {
      if (selector[key]) reader.complain(at, `${key} is given twice; once each: ${ACCEPTED_KEYS}`)
      selector[key] = pattern
      places[key] ??= at
    }
  } while (takeSeparator(reader) === ',')
  return { selector, places }
}

function skipToPlace(reader: LineReader): number {
  reader.skipSpace()
  return reader.at
}

/** Undefined for an unknown key; the problem is then recorded. */
function readKey(reader: LineReader): SelectorKey | undefined {
  const at = reader.at
  const word = reader.take(/[^\s=,{}<>!~"]+/y)
  if (word === undefined) {
    reader.giveUp(at, `expected a key, but ${reader.describeNext()}; ${ACCEPTED_KEYS}`)
    return undefined
  }
  const key = SELECTOR_KEYS.find((known) => known === word)
  if (!key) {
    const meant = suggestWord(word, SELECTOR_KEYS)
    reader.complain(
      at,
      `unknown key ${quote(word)}; known keys are ${ACCEPTED_KEYS}${meant ? `: did you mean "${meant}"?` : ''}`
    )
  }
  reader.skipSpace()
  if (!reader.sees(/=(?![=~])/y)) {
    reader.giveUp(
      reader.at,
      `expected = after the key, but ${reader.describeNext()}; ${shorten(word)}="value"`
    )
  }
  reader.take(/=/y)
  return key
}

function readPattern(reader: LineReader): Pattern | undefined {
  const quoteAt = skipToPlace(reader)
  if (reader.take(/"/y) === undefined) {
    reader.giveUp(quoteAt, `expected a value in double quotes, but ${reader.describeNext()}`)
    return undefined
  }
  const pieces = ['']
  const textAt = reader.at
  for (;;) {
    const at = reader.at
    const token = reader.take(/[^"\\*]+|\\.|["*]/suy)
    if (token === undefined) {
      reader.giveUp(quoteAt, 'the quote is not closed; a value ends with "')
      return undefined
    }
    if (token === '"') return { text: reader.textBetween(textAt, at), pieces }
    if (token === '*') pieces.push('')
    else pieces.push((pieces.pop() ?? '') + unescape(reader, token, at))
  }
}

function unescape(reader: LineReader, token: string, at: number): string {
  if (!token.startsWith('\\')) return token
  const character = token.slice(1)
  if (!['"', '\\', '*'].includes(character)) {
    reader.complain(at, `unknown escape ${quote(token)}; \\", \\\\, \\*`)
  }
  return character
}

function takeSeparator(reader: LineReader): string | undefined {
  reader.skipSpace()
  const at = reader.at
  const separator = reader.take(/[,}]/y)
  if (separator === undefined) reader.giveUp(at, `expected , or }, but ${reader.describeNext()}`)
  return separator
}
