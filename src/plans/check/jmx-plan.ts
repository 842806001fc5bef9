import { readPlanTree } from '../jmx/plan-tree.js'
import type { PlanElement } from '../jmx/plan-tree.js'
import { decodeXml } from '../jmx/xml.js'
import { isJmx } from '../plan-kind.js'
import { literal } from './finding.js'
import { settingsOf } from './request.js'
import type { PlanRequest } from './request.js'

/** An element with those around it, the outermost first. */
export interface Placed {
  readonly element: PlanElement
  readonly parents: readonly PlanElement[]
  /** What stands next to it, itself included. */
  readonly siblings: readonly PlanElement[]
}

const SCRIPT = /^(?:JSR223|BeanShell|BSF)/
const SCRIPT_FILE = /^(?:filename|BeanShell\w*\.filename|BSF\w*\.filename)$/
const SCRIPT_FUNCTION = /\$\{__(?:groovy|BeanShell|javaScript|jexl[23]?)\(/
const INNERMOST = /\$\{([^${}]*)\}/g
const DEEPEST = 10
/** Variables that contain each other several times grow without end. */
const LONGEST = 10_000

/** A JMeter plan with the parts that it includes, as far as its text tells what it does. */
export class JmxPlan {
  /** The elements that JMeter runs. */
  readonly enabled: readonly Placed[]
  /** The same, and those that a module controller may run although they are disabled. */
  readonly reachable: readonly PlanElement[]
  /** Something runs that cannot be looked into: a script or a part in a file that is not there, or code in Java. */
  readonly isOpaque: boolean
  readonly hasScripts: boolean
  /** The JMeter properties that the run sets. */
  readonly properties: ReadonlyMap<string, string>
  readonly #variables: ReadonlyMap<string, string>
  /** What the reachable elements and the scripts of the run's files say. */
  readonly texts: readonly string[]

  constructor(tree: readonly PlanElement[], request: PlanRequest) {
    const included = request.others
      .filter(({ name, text }) => isJmx(name) && text !== undefined)
      .map(({ name, text = '' }) => ({ name, tree: readPlanTree(text) }))
    const trees = [tree, ...included.map((part) => part.tree ?? [])]
    this.enabled = trees.flatMap((elements) => placeEnabled(elements, []))
    const kinds = new Set(this.enabled.map(({ element }) => element.kind))
    const all = trees.flatMap(flatten)
    this.reachable = kinds.has('ModuleController') ? all : this.enabled.map(({ element }) => element)
    const scripts = request.others.filter(({ name }) => !isJmx(name)).flatMap(({ text }) => text ?? [])
    this.texts = [...this.reachable.map(({ text }) => decodeXml(text)), ...scripts]
    this.hasScripts =
      [...kinds].some((kind) => SCRIPT.test(kind)) || this.texts.some((text) => SCRIPT_FUNCTION.test(text))
    this.properties = propertiesOf(request)
    this.#variables = readVariables(this.reachable, this.texts)
    const readable = new Set(
      request.others.filter((file) => file.text !== undefined).map((file) => file.name)
    )
    this.isOpaque =
      included.some((part) => part.tree === undefined) ||
      this.reachable.some((element) => this.#isUnknown(element, readable))
  }

  /** The value of a text with properties and variables; undefined if it is only known at run time. */
  evaluate(text: string): string | undefined {
    let value = text
    for (let depth = 0; value.includes('${'); depth++) {
      const next = value.replace(
        INNERMOST,
        (whole, expression: string) => this.#resolve(expression.trim()) ?? whole
      )
      if (next === value || depth >= DEEPEST || next.length > LONGEST) return undefined
      value = next
    }
    return value
  }

  /** Whether anything in the plan may read this JMeter property. */
  reads(name: string): boolean {
    if (this.isOpaque) return true
    const word = literal(name)
    const direct = new RegExp(`\\b__(?:P|property)\\(\\s*(?:${word}\\s*[,)]|\\$\\{)`)
    const inScript = new RegExp(`["'\`/]${word}["'\`/]|\\bprops\\??\\.${word}\\b`)
    return this.texts.some((text) => direct.test(text) || inScript.test(text))
  }

  #resolve(expression: string): string | undefined {
    const [, name, fallback] = /^__P\(([^,()]*)(?:,(.*))?\)$/s.exec(expression) ?? []
    if (name !== undefined)
      return this.properties.get(name.trim()) ?? fallback?.replace(/\\,/g, ',').trim() ?? '1'
    const [, property, other] = /^__property\(([^,()]*)(?:,[^,()]*(?:,(.*))?)?\)$/s.exec(expression) ?? []
    if (property !== undefined)
      return this.properties.get(property.trim()) ?? other?.replace(/\\,/g, ',').trim() ?? property.trim()
    return this.#variables.get(expression)
  }

  #isUnknown({ kind, properties }: PlanElement, readable: ReadonlySet<string>): boolean {
    if (kind === 'JavaSampler' || kind === 'JUnitSampler') return true
    const path =
      kind === 'IncludeController'
        ? (properties.get('IncludeController.includepath') ?? '')
        : SCRIPT.test(kind)
          ? ([...properties].find(([name, value]) => SCRIPT_FILE.test(name) && value.trim() !== '')?.[1] ??
            '')
          : ''
    if (path === '') return false
    const known = this.evaluate(path)
    return known === undefined || !readable.has(known.split('/').at(-1) ?? '')
  }
}

/** As they are passed: Java's properties, which JMeter's functions read too, the run's settings, then `-J`; the last one wins. */
function propertiesOf(request: PlanRequest): Map<string, string> {
  const given = (wanted: 'J' | 'D'): [string, string][] =>
    request.parameters
      .filter(({ kind }) => kind === wanted)
      .map(({ name, value }): [string, string] => [name, value])
  return new Map([
    ...given('D'),
    ...[...settingsOf(request)].map(([name, value]): [string, string] => [name, String(value)]),
    ...given('J')
  ])
}

function placeEnabled(siblings: readonly PlanElement[], parents: readonly PlanElement[]): Placed[] {
  return siblings
    .filter(({ isEnabled }) => isEnabled)
    .flatMap((element) => [
      { element, parents, siblings },
      ...placeEnabled(element.children, [...parents, element])
    ])
}

function flatten(elements: readonly PlanElement[]): PlanElement[] {
  return elements.flatMap((element) => [element, ...flatten(element.children)])
}

/** The variables of the plan's tables that nothing else in it seems to change. */
function readVariables(elements: readonly PlanElement[], texts: readonly string[]): Map<string, string> {
  const found = new Map<string, string | undefined>()
  for (const { kind, text } of elements) {
    if (kind !== 'TestPlan' && kind !== 'Arguments') continue
    for (const [, content = ''] of text.matchAll(/\belementType="Argument">([^]{0,5000}?)<\/elementProp>/g)) {
      const name = argument(content, 'name')
      const value = argument(content, 'value')
      found.set(name, found.has(name) && found.get(name) !== value ? undefined : value)
    }
  }
  const others = elements.filter(({ kind }) => kind !== 'TestPlan' && kind !== 'Arguments')
  const names = others.flatMap(({ properties }) =>
    [...properties].flatMap(([name, value]) =>
      /variableNames$|refname/i.test(name) ? value.split(/[,;\s]+/) : []
    )
  )
  for (const name of names) found.delete(name)
  const changed = texts.flatMap((text) =>
    [...text.matchAll(/vars\??\.put(?:Object)?\(\s*["']([^"']{1,100})["']/g)].map(([, name = '']) => name)
  )
  for (const name of changed) found.delete(name)
  return new Map([...found].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

function argument(content: string, name: string): string {
  return decodeXml(new RegExp(`"Argument\\.${name}">([^<]*)<`).exec(content)?.[1] ?? '')
}
