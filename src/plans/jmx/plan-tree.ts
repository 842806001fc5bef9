import { decodeXml } from './xml.js'

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
/** Comments, CDATA sections, and tags, whose attributes may contain anything but their own quotes. */
const TOKEN = /<!--[^]*?-->|<!\[CDATA\[[^]*?\]\]>|<(\/?)([\w.:-]+)((?:[^<>"']|"[^"]*"|'[^']*')*?)(\/?)>/g

/**
 * Reads the elements of a plan. JMeter writes each element and then, next to it, the tree of its children. Undefined if
 * the text is not such a plan.
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
  const open: { tag: string; property: string | undefined; start: number }[] = []
  for (const token of plan.matchAll(TOKEN)) {
    const [text, slash, tag, attributes = '', selfClosing] = token
    const owner = trees.at(-1)
    if (tag === undefined || tag === 'jmeterTestPlan') continue
    if (owner === undefined) return undefined
    const element = owner.children.at(-1)
    if (slash === '/') {
      if (open.length === 0) {
        if (tag !== TREE || trees.length === 1) return undefined
        trees.pop()
        continue
      }
      const closed = open.pop()
      if (closed?.tag !== tag) return undefined
      if (closed.property !== undefined && element && !element.properties.has(closed.property))
        element.properties.set(closed.property, decodeXml(plan.slice(closed.start, token.index)))
      if (open.length === 0 && element) element.text += plan.slice(closed.start, token.index + text.length)
    } else if (tag === TREE && open.length === 0) {
      if (selfClosing === '') trees.push(element ?? owner)
    } else {
      if (open.length === 0) owner.children.push(startElement(text, tag, attributes))
      const property = PLAIN_PROPERTY.test(tag) ? attribute(attributes, 'name') : undefined
      if (selfClosing === '') open.push({ tag, property, start: token.index + text.length })
    }
  }
  return trees.length === 1 && open.length === 0 ? root.children : undefined
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
