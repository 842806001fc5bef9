import { LineCounter, isAlias, isMap, isScalar, parseDocument, visit } from 'yaml'
import type { Document, Node, Scalar, SchemaOptions } from 'yaml'
import { messageOf } from './text.js'

/**
 * Reads YAML with the failsafe schema, so that an id such as 00123 or 123e45 stays unchanged.
 * The library's `parse` prints warnings, and the runner interprets what is printed. Here warnings are problems like
 * errors: an unresolved tag or an unknown directive means that part of the text would be ignored. Undefined if there are problems.
 */
export function readYaml(text: string): { value: unknown; problems: readonly string[] } {
  try {
    const document = parseYaml(text, { schema: 'failsafe' })
    const problems = document.warnings.map(({ message }) => firstLine(message))
    return problems.length > 0 ? { value: undefined, problems } : { value: document.toJS(), problems }
  } catch (thrown) {
    // Also too many aliases.
    return { value: undefined, problems: [firstLine(messageOf(thrown))] }
  }
}

/** The other lines show the position in the text. */
function firstLine(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/:$/, '')
}

/** The parser's time grows with the square of the depth. */
const TOO_DEEP = /(?:[[{]\s*){200}|(?:- ){200}/
/** Each alias is looked for among all anchors and aliases. */
const MOST_COMPARISONS = 10_000_000

/** In linear time: the library's check for repeated keys is quadratic, so it is off. Throws errors; the document has the warnings. */
export function parseYaml(text: string, options: SchemaOptions = {}): Document {
  if (TOO_DEEP.test(text)) throw new Error('its values are nested too deeply to be read')
  const lineCounter = new LineCounter()
  // 'silent' would also drop the error about a second document.
  const document = parseDocument(text, { ...options, logLevel: 'error', uniqueKeys: false, lineCounter })
  // Later errors are mostly caused by the first.
  const [error] = document.errors
  if (error) throw error
  const count = { aliases: 0, anchors: 0 }
  const look = (_: unknown, node: Node): void => {
    if (isAlias(node)) count.aliases++
    else if (node.anchor !== undefined) count.anchors++
    const repeated = isMap(node) ? findRepeated(node.items.map(({ key }) => key)) : undefined
    if (repeated === undefined) return
    const { line, col } = lineCounter.linePos(repeated.range?.[0] ?? 0)
    throw new Error(`Map keys must be unique at line ${line}, column ${col}`)
  }
  visit(document, { Node: look })
  if (count.aliases * (count.aliases + count.anchors) > MOST_COMPARISONS)
    throw new Error('it has too many aliases to be read')
  return document
}

function findRepeated(keys: readonly unknown[]): Scalar | undefined {
  const seen = new Set<unknown>()
  return keys.filter((key) => isScalar(key)).find(({ value }) => seen.size === seen.add(value).size)
}
