const NAMED_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;'
}
/** base64 for addresses has other letters for two of the plain one's; forms write a space so. */
const IN_ADDRESSES: Readonly<Record<string, string>> = { '+': '-', '/': '_', ' ': '+' }
/** What JSON writes with a backslash before it. */
const ESCAPED_IN_JSON = ['"', '\\', '/', "'"]
/** As it is, within an address, and within an address that is within an address. */
const DEPTHS = [0, 1, 2]

/** The ways in which an encoder may write any character at all, letters too. */
export function escapesOf(character: string): readonly string[] {
  return [
    ...DEPTHS.map((depth) => percentForm(character, depth)).flatMap(inBothCases),
    ...DEPTHS.map((depth) => unicodeForm(character, depth)).flatMap(inBothCases),
    ...entitiesOf(character)
  ]
}

/** The whole text in hex, with small and with capital digits. */
export function hexOf(text: string): readonly string[] {
  return inBothCases(Buffer.from(text).toString('hex'))
}

/** The ways in which JSON, addresses, CSV and HTML write one character; letters and digits are mostly written as they are. */
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

/** The digits; what stands before them stays as it is. */
function inBothCases(form: string): string[] {
  return [form, form.replace(/[0-9a-f]+/g, (digits) => digits.toUpperCase())]
}
