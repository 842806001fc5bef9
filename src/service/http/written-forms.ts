const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;'
}
/** URL-safe base64 replaces two characters; forms write a space as a plus. */
const IN_ADDRESSES: Readonly<Record<string, string>> = { '+': '-', '/': '_', ' ': '+' }
/** What JSON writes with a backslash. */
const ESCAPED_IN_JSON = ['"', '\\', '/', "'"]
/** Encoded once, twice or three times, as in a URL within a URL. */
const DEPTHS = [0, 1, 2]

/** The ways in which an encoder may escape any character, even letters. */
export function escapesOf(character: string): readonly string[] {
  return [
    ...DEPTHS.map((depth) => percentForm(character, depth)).flatMap(inBothCases),
    ...DEPTHS.map((depth) => unicodeForm(character, depth)).flatMap(inBothCases),
    ...entitiesOf(character)
  ]
}

/** The whole text in hex, in lower and in upper case. */
export function hexOf(text: string): readonly string[] {
  return inBothCases(Buffer.from(text).toString('hex'))
}

/** The ways in which JSON, URLs, CSV and HTML write one character; letters and digits are usually written as they are. */
export function formsOf(character: string, literal: string): readonly string[] {
  if (/^[A-Za-z0-9]$/.test(character)) return [character]
  const forms = [
    literal,
    ...(ESCAPED_IN_JSON.includes(character) ? DEPTHS.map((depth) => backslashes(depth) + literal) : []),
    // In a quoted field of a CSV.
    ...(character === '"' ? ['""', '\\"\\"'] : []),
    ...DEPTHS.map((depth) => percentForm(character, depth)).flatMap(inBothCases),
    ...DEPTHS.map((depth) => unicodeForm(character, depth)).flatMap(inBothCases),
    ...entitiesOf(character),
    IN_ADDRESSES[character] ?? literal
  ]
  return [...new Set(forms)].sort((one, other) => other.length - one.length)
}

function backslashes(depth: number): string {
  return '\\'.repeat(depth + 1)
}

function percentForm(character: string, depth: number): string {
  return [...Buffer.from(character)].map((byte) => `%${'25'.repeat(depth)}${hex(byte, 2)}`).join('')
}

function unicodeForm(character: string, depth: number): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at))
  return units.map((unit) => `${backslashes(depth)}u${hex(unit, 4)}`).join('')
}

function entitiesOf(character: string): string[] {
  const code = character.codePointAt(0) ?? 0
  const named = NAMED_ENTITIES[character]
  return [
    ...[0, 3, 4, 5].map((digits) => `&#${String(code).padStart(digits, '0')};`),
    ...inBothCases(`&#x${hex(code, 2)};`),
    ...inBothCases(`&#x${hex(code, 4)};`),
    ...(named === undefined ? [] : [named])
  ]
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0')
}

/** Changes the case of the hex digits only. */
function inBothCases(form: string): string[] {
  return [form, form.replace(/[0-9a-f]+/g, (digits) => digits.toUpperCase())]
}
