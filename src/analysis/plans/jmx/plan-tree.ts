import { posix } from 'node:path'

/** An element of a plan, with its children. */
export interface PlanElement {
  /** `ThreadGroup`, `HTTPSamplerProxy`; those of plugins include their package. */
  readonly kind: string
  readonly name: string
  readonly isEnabled: boolean
  /** Its plain properties by name, as written; the first one if a name repeats. */
  readonly properties: ReadonlyMap<string, string>
  /** All of it as written, without its children. */
  readonly text: string
  readonly children: readonly PlanElement[]
}

interface OpenElement extends PlanElement {
  readonly properties: Map<string, string>
  text: string
  readonly children: OpenElement[]
}

const TREE = 'hashTree'
const PLAIN_PROPERTY = /^(?:string|int|long|bool)Prop$/
const DEEPEST_TREE = 200
const TAG = /<(\/?)([\w.:-]+)/y
const QUOTE_OR_BRACKET = /["'<>]/g

interface Tag {
  readonly start: number
  /** Where the text after it starts. */
  readonly end: number
  readonly name: string
  readonly attributes: string
  readonly isClosing: boolean
  readonly isSelfClosing: boolean
}

/**
 * Reads the elements of a plan. JMeter writes each element and then, next to it, the tree of its children. Undefined if
 * the text is not such a plan, or is nested deeper than any that JMeter loads. Takes no longer than the text is long,
 * whatever it contains.
 */
export function readPlanTree(plan: string): PlanElement[] | undefined {
  const root: OpenElement = {
    kind: '',
    name: '',
    isEnabled: true,
    properties: new Map(),
    text: '',
    children: []
  }
  const trees: OpenElement[] = [root]
  /** The open tags within the current element, starting with its own. */
  const open: { name: string; property: string | undefined; end: number }[] = []
  for (let at = plan.indexOf('<'); at >= 0;) {
    const tag = readMarkup(plan, at)
    if (tag === undefined) return undefined
    at = plan.indexOf('<', tag.end)
    const owner = trees.at(-1)
    if (!('name' in tag) || tag.name === 'jmeterTestPlan') continue
    if (owner === undefined || trees.length > DEEPEST_TREE) return undefined
    const { name, attributes, isSelfClosing } = tag
    const element = owner.children.at(-1)
    const around = open.at(-1)
    if (tag.isClosing) {
      if (around === undefined) {
        if (name !== TREE || trees.length === 1) return undefined
        trees.pop()
        continue
      }
      open.pop()
      if (around.name !== name) return undefined
      if (around.property !== undefined && element && !element.properties.has(around.property))
        element.properties.set(around.property, decodeXml(plan.slice(around.end, tag.start)))
      if (open.length === 0 && element) element.text += plan.slice(around.end, tag.end)
    } else if (name === TREE && around === undefined) {
      if (!isSelfClosing) trees.push(element ?? owner)
    } else {
      // What has tags in it is not plain; reading it at each level would take minutes.
      if (around) around.property = undefined
      else owner.children.push(startElement(plan.slice(tag.start, tag.end), name, attributes))
      const property = PLAIN_PROPERTY.test(name) ? attribute(attributes, 'name') : undefined
      if (!isSelfClosing) open.push({ name, property, end: tag.end })
    }
  }
  return trees.length === 1 && open.length === 0 ? root.children : undefined
}

/** The tag that starts here, or the end of something else; undefined if it has no end. */
function readMarkup(plan: string, start: number): Tag | { readonly end: number } | undefined {
  if (plan.startsWith('<!--', start)) return skipTo(plan, '-->', start + 4)
  if (plan.startsWith('<![CDATA[', start)) return skipTo(plan, ']]>', start + 9)
  if (plan.startsWith('<?', start)) return skipTo(plan, '?>', start + 2)
  if (plan.startsWith('<!', start)) return { end: start + 2 }
  TAG.lastIndex = start
  const [opening, slash, name] = TAG.exec(plan) ?? []
  const close = opening === undefined ? undefined : findTagEnd(plan, start + opening.length)
  if (opening === undefined || name === undefined || close === undefined) return undefined
  const attributes = plan.slice(start + opening.length, close)
  const isSelfClosing = attributes.endsWith('/')
  return { start, end: close + 1, name, attributes, isClosing: slash === '/', isSelfClosing }
}

function skipTo(plan: string, end: string, from: number): { readonly end: number } | undefined {
  const found = plan.indexOf(end, from)
  return found < 0 ? undefined : { end: found + end.length }
}

/** Attributes may contain anything but their own quotes. */
function findTagEnd(plan: string, from: number): number | undefined {
  QUOTE_OR_BRACKET.lastIndex = from
  for (;;) {
    const found = QUOTE_OR_BRACKET.exec(plan)
    if (found === null || found[0] === '<') return undefined
    if (found[0] === '>') return found.index
    const close = plan.indexOf(found[0], found.index + 1)
    if (close < 0) return undefined
    QUOTE_OR_BRACKET.lastIndex = close + 1
  }
}

/** All elements, each followed by those in it. */
export function flatten(elements: readonly PlanElement[], found: PlanElement[] = []): PlanElement[] {
  for (const element of elements) {
    found.push(element)
    flatten(element.children, found)
  }
  return found
}

function startElement(text: string, kind: string, attributes: string): OpenElement {
  const name = attribute(attributes, 'testname') ?? ''
  const isEnabled = attribute(attributes, 'enabled') !== 'false'
  return { kind, name, isEnabled, properties: new Map(), text, children: [] }
}

function attribute(attributes: string, name: string): string | undefined {
  const [, inDouble, inSingle] =
    new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(attributes) ?? []
  const value = inDouble ?? inSingle
  return value === undefined ? undefined : decodeXml(value)
}

export function decodeXml(text: string): string {
  const named: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return text.replace(
    /&(?:#(\d+)|#x([\da-f]+)|(\w+));/gi,
    (whole, decimal: string, hex: string, name: string) => {
      if (name) return named[name] ?? whole
      const code = decimal ? Number(decimal) : parseInt(hex, 16)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    }
  )
}

/** The names and values in tables of arguments, such as those of User Defined Variables, in their order. */
export function readArguments(text: string): [name: string, value: string][] {
  return text
    .split('elementType="Argument">')
    .slice(1)
    .map((piece) => {
      const [content = ''] = piece.split('</elementProp>', 1)
      return [field(content, 'name'), field(content, 'value')]
    })
}

function field(content: string, name: string): string {
  return decodeXml(new RegExp(`"Argument\\.${name}">([^<]*)<`).exec(content)?.[1] ?? '')
}

/**
 * The paths below its own folder where a plan looks for files that were uploaded next to it: `data/users.csv` for an
 * uploaded `users.csv`. Paths built at run time cannot be found in the text.
 */
export function readSubPaths(plan: string, names: ReadonlySet<string>): string[] {
  const words = decodeXml(plan).split(/[\s"'<>(),;=${}|:*?]+/)
  const paths = words
    .filter((word) => word.includes('/') && names.has(posix.basename(word)))
    .map((word) => posix.normalize(word))
    .filter((path) => path.includes('/') && !path.startsWith('/') && !path.startsWith('../'))
  return [...new Set(paths)]
}
