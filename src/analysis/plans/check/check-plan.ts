import { flatten, readPlanTree, type PlanElement } from '../jmx/plan-tree.js'
import { refuseForJMeter, shorten, type Finding, type PlanRequest, list } from './request.js'
import { checkFiles } from './jmx-files.js'
import { labelsOf, worthSuggesting, type Labels, JmxPlan, MOST_ELEMENTS } from './jmx-plan.js'
import { checkLoad } from './jmx-load.js'
import { checkParameters, searchParameters } from './jmx-parameters.js'
import { targetOf, type Target } from './jmx-target.js'
import { callsOf, checkSource, literalsOf, refuseKind } from './source-plan.js'

/** What the text of a plan tells before it runs. */
export interface PlanCheck {
  readonly findings: readonly Finding[]
  /** Undefined if the plan cannot be read. */
  readonly labels?: Labels
  readonly target?: Target | undefined
}

const LONGEST_NAME = 200

/** Finds what would go wrong with a plan, from its text alone. What it does not understand, it does not judge. */
export function checkPlan(request: PlanRequest): PlanCheck {
  const names = [request.plan, ...request.others].map(({ name }) => name)
  const refusal =
    request.tool === 'jmeter' ? refuseForJMeter(names) : refuseKind(request.tool, request.plan.name)
  if (refusal !== undefined) return { findings: [{ level: 'error', message: refusal }] }
  return request.tool === 'jmeter' ? checkJmx(request) : checkOther(request)
}

function checkJmx(request: PlanRequest): PlanCheck {
  const { name, text } = request.plan
  const problem = describeProblem(name, text)
  if (problem !== undefined) return { findings: [{ level: 'error', message: problem }] }
  // With a document type it may be anything.
  const tree = text.includes('<!DOCTYPE') ? undefined : readPlanTree(text)
  // What is in it that this reader does not know is up to JMeter.
  if (tree === undefined || flatten(tree).length > MOST_ELEMENTS)
    return { findings: searchParameters(request) }
  const plan = JmxPlan.read(tree, request)
  return {
    findings: [
      ...checkPlugins(tree, request),
      ...checkFiles(plan, request),
      ...checkLoad(plan, request),
      ...checkParameters(plan, request)
    ],
    labels: labelsOf(plan),
    target: targetOf(plan, request)
  }
}

function describeProblem(name: string, text: string): string | undefined {
  const error = findXmlError(text)
  if (error !== undefined)
    return `${name} is not well-formed XML, so JMeter cannot read it: line ${error.line}: ${error.reason}. Open the plan in JMeter and save it again, or correct that line.`
  const root = rootOf(text)
  return root === undefined || root === 'jmeterTestPlan'
    ? undefined
    : `${name} is not a plan of JMeter: its first element is <${shorten(root)}> instead of <jmeterTestPlan>. Is it the right file?`
}

/** The name of the first element; undefined behind definitions that may contain anything. */
function rootOf(text: string): string | undefined {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (text.startsWith('<!--', at)) at = endOf(text, '-->', at + 4)
    else if (text.startsWith('<?', at)) at = endOf(text, '?>', at + 2)
    else if (text.startsWith('<!', at)) {
      const end = endOf(text, '>', at)
      if (text.slice(at, end).includes('[')) return undefined
      at = end
    } else return /^[^\s/<>]*/.exec(text.slice(at + 1, at + 1 + LONGEST_NAME))?.[0]
  }
  return undefined
}

function endOf(text: string, end: string, from: number): number {
  const found = text.indexOf(end, from)
  return found < 0 ? text.length : found + end.length
}

function checkOther(request: PlanRequest): PlanCheck {
  const literals = literalsOf(request)
  return {
    findings: checkSource(request),
    labels: {
      names: [...literals, ...callsOf(request)],
      usual: worthSuggesting(literals),
      isComplete: false,
      isSource: true
    }
  }
}

const OWN = /^org\.apache\.(?:jmeter|jorphan)\./
const SHOWN = 5

/** Elements that JMeter does not have without a plugin. A disabled one keeps the plan from being loaded too. */
function checkPlugins(tree: readonly PlanElement[], request: PlanRequest): Finding[] {
  const kinds = [...new Set(flatten(tree).map(({ kind }) => kind))].filter(
    (kind) => kind.includes('.') && !OWN.test(kind)
  )
  const missing = kinds.filter((kind) => request.hasClass(kind) === false)
  const unknown = kinds.filter((kind) => request.hasClass(kind) === undefined)
  const name = request.plan.name
  return [
    ...(missing.length === 0
      ? []
      : [
          {
            level: 'error' as const,
            message: `${name} uses ${tell(missing)}, which this JMeter does not have; install the plugin into your own JMeter and point JMETER_HOME to it.`
          }
        ]),
    ...(unknown.length === 0
      ? []
      : [
          {
            level: 'note' as const,
            message: `${name} uses ${tell(unknown)}: the JMeter that runs it must have the plugin.`
          }
        ])
  ]
}

function tell(kinds: readonly string[]): string {
  const names = kinds.slice(0, SHOWN).map(shorten)
  return list(kinds.length > SHOWN ? [...names, `${kinds.length - SHOWN} more classes`] : names)
}

/** Where a text stops being XML, and why. */
export interface XmlError {
  /** From 1. */
  readonly line: number
  readonly reason: string
}

const NAMED = new Set(['lt', 'gt', 'amp', 'quot', 'apos'])
const ENTITY = /&(?:#\d+|#x[\da-f]+|([a-z_:][\w.:-]*));/iy
const NAME = /[^\s/<>="'&]+/y
const ATTRIBUTE = /\s+([^\s/<>="'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const TAG_END = /\s*(\/?)>/y
const END_TAG = /<\/([^\s/<>="'&]+)\s*>/y

/**
 * The first reason why JMeter's parser refuses the text, which accepts more than XML allows; undefined if there is none. A text with a document type is not judged: it may define
 * entities.
 */
export function findXmlError(text: string): XmlError | undefined {
  return new XmlReader(text).findError()
}

class XmlReader {
  readonly #text: string
  readonly #open: { name: string; at: number }[] = []
  #at = 0
  #hasRoot = false

  constructor(text: string) {
    this.#text = text
  }

  findError(): XmlError | undefined {
    const text = this.#text
    if (text.startsWith('\ufeff')) this.#at = 1
    while (this.#at < text.length) {
      const found = text.indexOf('<', this.#at)
      const tag = found < 0 ? text.length : found
      const error = this.#checkText(this.#at, tag)
      if (error !== undefined) return error
      this.#at = tag
      if (found < 0) break
      if (text.startsWith('<!DOCTYPE', tag)) return undefined
      const problem = this.#readMarkup()
      if (problem !== undefined) return problem
      // JMeter reads no further than the end of the first element.
      if (this.#hasRoot && this.#open.length === 0) return undefined
    }
    const last = this.#open.at(-1)
    if (last !== undefined)
      return this.#errorAt(last.at, `<${last.name}> is never closed; the file may be cut off`)
    return this.#hasRoot ? undefined : this.#errorAt(0, 'there is no element in it')
  }

  #readMarkup(): XmlError | undefined {
    const text = this.#text
    const at = this.#at
    if (text.startsWith('<!--', at)) return this.#skipTo('-->', 4, 'the comment')
    if (text.startsWith('<![CDATA[', at)) return this.#skipTo(']]>', 9, 'the CDATA section')
    if (text.startsWith('<?', at)) return this.#skipTo('?>', 2, 'the processing instruction')
    return text.startsWith('</', at) ? this.#readEndTag() : this.#readStartTag()
  }

  #skipTo(end: string, from: number, what: string): XmlError | undefined {
    const found = this.#text.indexOf(end, this.#at + from)
    if (found < 0) return this.#errorAt(this.#at, `${what} is never closed with ${end}`)
    this.#at = found + end.length
    return undefined
  }

  #readEndTag(): XmlError | undefined {
    const at = this.#at
    const name = this.#match(END_TAG)?.[1]
    if (name === undefined) return this.#errorAt(at, 'the closing tag is incomplete')
    const open = this.#open.pop()
    if (open === undefined) return this.#errorAt(at, `</${name}> closes nothing`)
    return open.name === name
      ? undefined
      : this.#errorAt(
          at,
          `</${name}> is where </${open.name}> should be, for <${open.name}> of line ${this.#lineOf(open.at)}`
        )
  }

  #readStartTag(): XmlError | undefined {
    const at = this.#at
    this.#at = at + 1
    const name = this.#match(NAME)?.[0]
    if (name === undefined)
      return this.#errorAt(at, 'there is a "<" that starts no tag; write &lt; for the sign itself')
    const seen = new Set<string>()
    for (;;) {
      const from = this.#at
      const attribute = this.#match(ATTRIBUTE)
      if (attribute === undefined) break
      const [, key = ''] = attribute
      if (seen.has(key)) return this.#errorAt(from, `<${name}> has the attribute ${key} twice`)
      seen.add(key)
      const error = this.#checkText(from, this.#at, true)
      if (error !== undefined) return error
    }
    const end = this.#match(TAG_END)
    if (end === undefined) return this.#errorAt(this.#at, `the tag <${name}> is not written correctly`)
    this.#hasRoot = true
    if (end[1] !== '/') this.#open.push({ name, at })
    return undefined
  }

  #checkText(from: number, to: number, isAttribute = false): XmlError | undefined {
    const text = this.#text
    if (this.#open.length === 0 && !isAttribute) {
      const stray = text.slice(from, to).search(/\S/)
      return stray < 0 ? undefined : this.#errorAt(from + stray, 'there is text before the first element')
    }
    // Within the piece only: a search to the end of the text for each tag would take minutes.
    const piece = text.slice(from, to)
    for (let at = piece.indexOf('&'); at >= 0; at = piece.indexOf('&', at + 1)) {
      ENTITY.lastIndex = at
      const entity = ENTITY.exec(piece)
      if (entity === null)
        return this.#errorAt(from + at, 'there is a "&" that stands for itself; write &amp;')
      const [whole, name] = entity
      if (name !== undefined && !NAMED.has(name))
        return this.#errorAt(from + at, `${whole} is unknown in XML`)
    }
    return undefined
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match !== null) this.#at = pattern.lastIndex
    return match ?? undefined
  }

  #errorAt(at: number, reason: string): XmlError {
    return { line: this.#lineOf(at), reason }
  }

  #lineOf(at: number): number {
    return this.#text.slice(0, at).split('\n').length
  }
}
