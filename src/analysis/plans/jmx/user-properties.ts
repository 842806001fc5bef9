/** JMeter reads its properties from a file of this name next to the plan, before those of the run itself. */
export const USER_PROPERTIES = 'user.properties'

const ESCAPES: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' }
/** A key ends at the first `=`, `:` or space that has no backslash before it. */
const LINE = /^((?:\\.|[^\\=:\s])*)[ \t\f]*[=:]?[ \t\f]*(.*)$/s

/** Java reads properties as ISO-8859-1; other characters are escaped. (A `TextDecoder` takes `latin1` for Windows' own.) */
export function decodeProperties(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1')
}

/** Reads a Java properties file: comments, lines that go on after a backslash, and escapes. The last value of a name counts. */
export function parseProperties(text: string): Map<string, string> {
  const properties = new Map<string, string>()
  let open = ''
  for (const line of text.split(/\r\n|\r|\n/)) {
    const words = line.trimStart()
    if (open === '' && /^(?:$|[#!])/.test(words)) continue
    if (goesOn(words)) {
      open += words.slice(0, -1)
      continue
    }
    enter(properties, open + words)
    open = ''
  }
  if (open !== '') enter(properties, open)
  return properties
}

/** An odd number of backslashes at the end: each two stand for one. */
function goesOn(line: string): boolean {
  let end = line.length
  while (line[end - 1] === '\\') end--
  return (line.length - end) % 2 === 1
}

function enter(properties: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = LINE.exec(line) ?? []
  properties.set(unescape(name), unescape(value))
}

function unescape(text: string): string {
  return text.replace(/\\(?:u([\da-f]{4})|(.))/gis, (_, code?: string, letter = '') =>
    code === undefined
      ? (ESCAPES[letter as string] ?? (letter as string))
      : String.fromCharCode(parseInt(code, 16))
  )
}
