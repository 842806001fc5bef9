import { posix } from 'node:path'
import { SaxesParser } from 'saxes'

export interface PlanElement {
  /** `ThreadGroup`, `HTTPSamplerProxy`; those of plugins include their package. */
  readonly kind: string
  readonly name: string
  readonly isEnabled: boolean
  /** Its plain properties by name, those of its parts too; the first one if a name repeats. */
  readonly properties: ReadonlyMap<string, string>
  readonly parts: readonly PlanPart[]
  /** Its name and all values in it, a line each, without what is written for people only. */
  readonly text: string
  readonly children: readonly PlanElement[]
}

export interface PlanPart {
  /** `Argument`, `HTTPFileArg`. */
  readonly type: string
  readonly properties: ReadonlyMap<string, string>
}

interface XmlError {
  /** From 1. */
  readonly line: number
  readonly reason: string
}

export interface ReadPlan {
  readonly error?: XmlError
  readonly root: string | undefined
  /** Undefined if the text cannot be read, for the reason below. */
  readonly elements: readonly PlanElement[] | undefined
  readonly unread?: string
}

const TREE = 'hashTree'
const PLAIN_PROPERTY = /^(?:string|int|long|bool)Prop$/
const FOR_PEOPLE = /^(?:TestPlan\.comments|Argument\.desc)$/
const DEEPEST = 200
/** The most characters that XML does not allow; each costs time. */
const MOST_ACCEPTED = 100_000

/** What JMeter's parser accepts although XML does not. */
const ACCEPTED =
  /^disallowed character\.|^no whitespace between|"\]\]>" is disallowed|must (?:appear|be) at the start of the document/
/** References to control characters, which JMeter reads, and writes. */
const CONTROL = /&#(?:0*(?:[0-8]|1[124-9]|2\d|3[01])|x0*(?:[0-8bcef]|1[\da-f]));/gi
/** An "&" that starts no entity of XML. One without an end is read as an entity up to the next semicolon, wherever that is. */
const BARE = /&(?!(?:lt|gt|amp|quot|apos|#\d+|#x[\da-f]+);)(\w+;)?/i

class Stop extends Error {}

interface OpenElement extends PlanElement {
  readonly properties: Map<string, string>
  readonly parts: OpenPart[]
  text: string
  readonly children: OpenElement[]
}
type OpenPart = PlanPart & { readonly properties: Map<string, string> }

interface OpenTag {
  readonly name: string
  readonly line: number
  /** Where the elements in it go, if it is the first element or a tree. */
  readonly siblings?: OpenElement[] | undefined
  readonly part?: OpenPart | undefined
  readonly property?: string | undefined
  text: string
  hasTags: boolean
}

/**
 * Reads a plan. JMeter writes each element and then, next to it, the tree of its children, and reads no further than the end of the
 * first element. It skips a document type up to the first ">" outside of brackets, and knows no entity of it.
 */
export function readPlan(text: string): ReadPlan {
  const plan = text.replace(CONTROL, (reference) => String.fromCharCode(Number(`0${reference.slice(2, -1)}`)))
  const parser = new SaxesParser<{ xmlns: false; position: false }>({ xmlns: false, position: false })
  const elements: OpenElement[] = []
  const open: OpenTag[] = []
  let root: string | undefined
  let element: OpenElement | undefined
  let closed: OpenTag | undefined
  let afterTag = { at: 0, line: 1 }
  let accepted = 0
  const found: { unread?: string; error?: XmlError } = {}
  const stop = (unread?: string): never => {
    if (unread !== undefined) found.unread = unread
    throw new Stop()
  }

  parser.on('doctype', (type) => {
    if (/[[\]>]/.test(type.replace(/\[[^[\]]*\]/g, ''))) stop('its document type is unusual')
  })
  parser.on('opentag', ({ name, attributes }) => {
    afterTag = { at: parser.position, line: parser.line }
    const around = open.at(-1)
    if (open.length >= DEEPEST) stop(`its elements are nested more than ${DEEPEST} deep`)
    // All of one shape, without a spread: there may be millions.
    const enter = ({ siblings, part, property }: Pick<OpenTag, 'siblings' | 'part' | 'property'>): void => {
      open.push({ name, line: parser.line, siblings, part, property, text: '', hasTags: false })
    }
    if (around === undefined) {
      if (root !== undefined) stop()
      enter({ siblings: elements })
      root = name
    } else if (around.siblings === undefined) {
      around.hasTags = true
      const isPart = name === 'elementProp'
      const part = isPart
        ? { type: attributes.elementType ?? '', properties: new Map<string, string>() }
        : around.part
      if (isPart && part) element?.parts.push(part)
      enter({ part, property: PLAIN_PROPERTY.test(name) ? attributes.name : undefined })
    } else if (name === TREE) {
      enter({ siblings: around.siblings.at(-1)?.children ?? around.siblings })
    } else {
      // As JMeter does, whatever `testclass` says.
      element = startElement(attributes.class ?? name, attributes)
      around.siblings.push(element)
      enter({})
    }
  })
  parser.on('closetag', () => {
    afterTag = { at: parser.position, line: parser.line }
    closed = open.pop()
    // What has tags in it is not plain.
    if (closed === undefined || element === undefined || closed.hasTags || closed.siblings) return
    const { property, part, text } = closed
    if (property !== undefined)
      for (const { properties } of part ? [part, element] : [element])
        if (!properties.has(property)) properties.set(property, text)
    if (text.trim() !== '' && !FOR_PEOPLE.test(property ?? '')) element.text += `\n${text}`
  })
  for (const kind of ['text', 'cdata'] as const)
    parser.on(kind, (text) => {
      const tag = open.at(-1)
      if (tag !== undefined) tag.text += text
    })
  parser.on('error', ({ message }) => {
    const isDone = root !== undefined && open.length === 0 && !message.startsWith('unexpected close')
    if (isDone) stop()
    if (ACCEPTED.test(message)) {
      if (++accepted > MOST_ACCEPTED) stop('it has too many characters that XML does not allow')
      return
    }
    const rest = plan.slice(afterTag.at)
    const bare = /entity|^un/.test(message) ? BARE.exec(rest) : null
    const line = bare ? afterTag.line + rest.slice(0, bare.index).split('\n').length - 1 : parser.line
    const entity = bare?.[1]
    const amp = entity ? `&${entity} is unknown in XML` : 'there is a "&" that stands for itself; write &amp;'
    found.error = bare ? { line, reason: amp } : explain(message, line, closed, open.at(-1))
    stop(`line ${found.error.line}: ${found.error.reason}`)
  })
  try {
    parser.write(plan).close()
  } catch (thrown) {
    if (!(thrown instanceof Stop)) throw thrown
  }
  return { root, elements: found.unread === undefined ? elements : undefined, ...found }
}

/** In other words than the parser's. */
function explain(message: string, line: number, closed?: OpenTag, last?: OpenTag): XmlError {
  if (message.startsWith('text data outside'))
    return { line, reason: 'there is text before the first element' }
  if (message.startsWith('document must contain')) return { line: 1, reason: 'there is no element in it' }
  if (message.startsWith('unexpected close') && closed)
    return { line, reason: `the tag that is closed here is not <${closed.name}> of line ${closed.line}` }
  if (/^unclosed|^unexpected end/.test(message) && last)
    return { line: last.line, reason: `<${last.name}> is never closed; the file may be cut off` }
  return { line, reason: message.replace(/\.$/, '') }
}

function startElement(
  kind: string,
  { testname = '', enabled }: Readonly<Partial<Record<string, string>>>
): OpenElement {
  const isEnabled = enabled !== 'false'
  return { kind, name: testname, isEnabled, properties: new Map(), parts: [], text: testname, children: [] }
}

export function readPlanTree(plan: string): readonly PlanElement[] | undefined {
  return readPlan(plan).elements
}

/** All elements, each followed by those in it. */
export function flatten(elements: readonly PlanElement[], found: PlanElement[] = []): PlanElement[] {
  for (const element of elements) {
    found.push(element)
    flatten(element.children, found)
  }
  return found
}

/** The names and values in an element's tables of arguments, such as those of User Defined Variables, in their order. */
export function argumentsOf({ parts }: PlanElement): [name: string, value: string][] {
  return parts
    .filter(({ type }) => type === 'Argument')
    .map(({ properties }) => [properties.get('Argument.name') ?? '', properties.get('Argument.value') ?? ''])
}

/** Where a plan looks for uploaded files below its own folder: `data/users.csv` for `users.csv`. Paths built at run time are not found. */
export function readSubPaths(texts: readonly string[], names: ReadonlySet<string>): string[] {
  const words = texts.flatMap((text) => text.split(/[\s"'<>(),;=${}|:*?]+/))
  const paths = words
    .filter((word) => word.includes('/') && names.has(posix.basename(word)))
    .map((word) => posix.normalize(word))
    .filter((path) => path.includes('/') && !path.startsWith('/') && !path.startsWith('../'))
  return [...new Set(paths)]
}

/** What a file says that goes with a run: each element of a plan, or all of a script. */
export function textsOf({ name, text }: { name: string; text: string | undefined }): string[] {
  if (text === undefined) return []
  return isJmx(name) ? flatten(readPlanTree(text) ?? []).map((element) => element.text) : [text]
}

export function isJmx(name: string): boolean {
  return /\.jmx$/i.test(name)
}
