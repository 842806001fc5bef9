import { argumentsOf, flatten, isJmx, readPlanTree, type PlanElement } from '../jmx/plan-tree.js'
import { callFunction } from '../jmx/open-model.js'
import { parseProperties, USER_PROPERTIES } from '../jmx/user-properties.js'
import { hasWord, literal, settingsOf, type PlanInputs, type RunFile } from './request.js'

export interface Placed {
  readonly element: PlanElement
  readonly within: Placed | undefined
}

export const THREAD_GROUP = /(?:^|\.)\w*ThreadGroup$/
/** Groups that prepare the load or clean up after it: what they do is not the load, and their numbers are their own. */
export const BEFORE_OR_AFTER = /^(?:Setup|Post)ThreadGroup$/
export const SCRIPT = /^(?:JSR223|BeanShell|BSF)/
const SCRIPT_FILE = /^(?:filename|BeanShell\w*\.filename|BSF\w*\.filename)$/
export const READS_PROPERTIES = /\bprops\b|\bgetPropert|\bJMeterUtils\b/
const SCRIPT_FUNCTION = /\$\{__(?:groovy|BeanShell|javaScript|jexl[23]?)\(/
/** A plan with more elements is not read: it would take seconds. */
export const MOST_ELEMENTS = 20_000
const MOST_MODULES = 500
const FRAGMENT = 'TestFragmentController'
/** JMeter defines these itself. */
const BUILT_IN = /^(?:START\.|TESTSTART\.|JMeter|__jm__)/
/** Plugins that bring variables into a plan, by what they are called. */
const PLUGIN_OF_VARIABLES = /\..*(?:variable|dataset|csv|config)/i
const INNERMOST = /\$\{([^${}]*)\}/g
const DEEPEST = 10
/** Variables that contain each other several times grow without end. */
const LONGEST = 10_000
/** In characters, for all values together; beyond it, values count as only known at run time. */
const MOST_WORK = 5_000_000

/** A JMeter plan with the parts that it includes, as far as its text shows what it does. */
export class JmxPlan {
  readonly enabled: readonly Placed[]
  /** The same, and the disabled ones that a module controller may run. */
  readonly reachable: readonly PlanElement[]
  /** Whether something runs that cannot be read: a script or a part in a missing file, or Java code. */
  readonly isOpaque: boolean
  readonly hasScripts: boolean
  readonly properties: ReadonlyMap<string, string>
  readonly #variables: ReadonlyMap<string, string>
  /** Whether the plan itself may set this property. */
  readonly sets: (property: string) => boolean
  readonly scriptFiles: readonly RunFile[]
  /** What the reachable elements and the scripts of the run's files say. */
  readonly texts: readonly string[]
  #work = 0

  /** Reads the parts that the plan includes, and what these include. Other plans among the files do not run. */
  static read(tree: readonly PlanElement[], request: PlanInputs): JmxPlan {
    const included = new Map<string, readonly PlanElement[]>()
    for (let depth = 0; ; depth++) {
      const plan = new JmxPlan(tree, request, included)
      const names = new Set(plan.enabled.flatMap(({ element }) => plan.#fileOf(element) ?? []))
      const more = request.others.filter(({ name }) => isJmx(name) && names.has(name) && !included.has(name))
      if (more.length === 0 || depth === DEEPEST) return plan
      for (const { name, text = '' } of more) {
        const part = readPlanTree(text)
        if (part !== undefined && flatten(part).length <= MOST_ELEMENTS) included.set(name, fragmentOf(part))
      }
      if (!more.some(({ name }) => included.has(name))) return plan
    }
  }

  private constructor(
    tree: readonly PlanElement[],
    request: PlanInputs,
    included: ReadonlyMap<string, readonly PlanElement[]>
  ) {
    const trees = [tree, ...included.values()]
    const { placed, isWhole } = placeAll(trees)
    this.enabled = placed
    const kinds = new Set(this.enabled.map(({ element }) => element.kind))
    this.reachable = kinds.has('ModuleController')
      ? trees.flatMap((elements) => flatten(elements))
      : this.enabled.map(({ element }) => element)
    this.scriptFiles = request.others.filter(({ name }) => !isJmx(name) && name !== USER_PROPERTIES)
    this.texts = [
      ...this.reachable.map(({ text }) => text),
      ...this.scriptFiles.flatMap(({ text }) => text ?? [])
    ]
    this.hasScripts =
      [...kinds].some((kind) => SCRIPT.test(kind)) || this.texts.some((text) => SCRIPT_FUNCTION.test(text))
    this.properties = propertiesOf(request)
    this.sets = findChangedProperties(this.texts)
    this.#variables = new Map(
      [...readVariables(this.reachable, this.texts)].filter(([, value]) => value.length <= LONGEST)
    )
    const readable = new Set([
      ...included.keys(),
      ...request.others.filter(({ name, text }) => text !== undefined && !isJmx(name)).map(({ name }) => name)
    ])
    this.isOpaque = !isWhole || this.reachable.some((element) => this.#isUnknown(element, readable))
  }

  /** The value of a text with properties and variables; undefined if it is only known at run time. */
  evaluate(text: string): string | undefined {
    const value = this.expand(text)
    return value.includes('${') ? undefined : value
  }

  /** The same, as far as it is known before the run. */
  expand(text: string): string {
    let value = text
    for (let depth = 0; value.includes('${'); depth++) {
      this.#work += value.length
      if (depth >= DEEPEST || value.length > LONGEST || this.#work > MOST_WORK) return value
      let grown = 0
      const next = value.replace(INNERMOST, (whole, expression: string) => {
        const found = grown > LONGEST ? undefined : this.#resolve(expression.trim())
        grown += found?.length ?? 0
        return found ?? whole
      })
      if (next === value) return value
      value = next
    }
    return value
  }

  /** Whether nothing gives this variable a value. In doubt something does. */
  isUndefined(name: string): boolean {
    const isGiven = (element: PlanElement): boolean => {
      const { kind, properties, text } = element
      // Without names they are in the file.
      if (kind === 'CSVDataSet' && !properties.get('variableNames')?.trim()) return true
      if (
        kind === 'IncludeController' ||
        PLUGIN_OF_VARIABLES.test(kind) ||
        argumentsOf(element).some(([given]) => given === name)
      )
        return true
      if (!SCRIPT.test(kind)) return false
      // Using it is not setting it.
      const isNamed = hasWord(text.replaceAll(`\${${name}}`, ''), name)
      return isNamed || pathOf(element) !== ''
    }
    return (
      !BUILT_IN.test(name) &&
      !this.reachable.some(isGiven) &&
      ![...changedVariables(this.reachable, this.texts)].includes(name)
    )
  }

  /** The text of a variable that the plan's tables define and nothing changes; undefined if there is none. */
  variable(name: string): string | undefined {
    return this.#variables.get(name)
  }

  /** Whether anything in the plan may read this JMeter property. */
  reads(name: string): boolean {
    return this.isOpaque || this.mentions(name)
  }

  /** Whether anything that can be read here reads it. */
  mentions(name: string): boolean {
    const word = literal(name)
    const direct = new RegExp(
      `\\b__(?:P|property|isPropDefined)\\(\\s*(?:${word}\\s*[,)]|[^,()]{0,100}\\$\\{)`
    )
    // Elsewhere, as in the body of a request, it is a word like any other.
    const inScript = new RegExp(`["'\`/]${word}["'\`/]|\\bprops\\??\\.${word}\\b`)
    return this.texts.some(
      (text) => direct.test(text) || (READS_PROPERTIES.test(text) && inScript.test(text))
    )
  }

  #resolve(expression: string): string | undefined {
    const value = callFunction(expression, (name, fallback) => this.#property(name, fallback))
    return value ?? this.#variables.get(expression)
  }

  #property(name: string, fallback: string): string | undefined {
    if (this.sets(name)) return undefined
    return this.properties.get(name) ?? fallback.replace(/\\,/g, ',').trim()
  }

  /** The name of the file that an element runs; undefined if it is only known at run time. */
  #fileOf(element: PlanElement): string | undefined {
    return this.evaluate(pathOf(element))?.trim().split('/').at(-1)
  }

  #isUnknown(element: PlanElement, readable: ReadonlySet<string>): boolean {
    if (element.kind === 'JavaSampler' || element.kind === 'JUnitSampler') return true
    return pathOf(element) !== '' && !readable.has(this.#fileOf(element) ?? '')
  }
}

/** The file that an include controller or a script element runs; empty if there is none. */
function pathOf({ kind, properties }: PlanElement): string {
  if (kind === 'IncludeController') return properties.get('IncludeController.includepath') ?? ''
  if (!SCRIPT.test(kind)) return ''
  return [...properties].find(([name, value]) => SCRIPT_FILE.test(name) && value.trim() !== '')?.[1] ?? ''
}

/** As they are passed: Java's properties, which JMeter's functions read too, those of a file, the run's settings, then `-J`; the last one wins. */
function propertiesOf(request: PlanInputs): Map<string, string> {
  const given = (wanted: 'J' | 'D'): [string, string][] =>
    request.parameters
      .filter(({ kind }) => kind === wanted)
      .map(({ name, value }): [string, string] => [name, value])
  const file = request.others.find(({ name }) => name === USER_PROPERTIES)
  return new Map([
    ...given('D'),
    ...parseProperties(file?.text ?? ''),
    ...[...settingsOf(request)].map(([name, value]): [string, string] => [name, String(value)]),
    ...given('J')
  ])
}

/** What runs: without fragments, but with what module controllers take from anywhere. */
function placeAll(trees: readonly (readonly PlanElement[])[]): { placed: Placed[]; isWhole: boolean } {
  const [plan = []] = trees
  const placed = trees.flatMap((elements) => placeEnabled(elements, undefined))
  const seen = new Set<PlanElement>()
  let isWhole = true
  let modules = 0
  // It grows while it is read: a module may contain others.
  for (const user of placed) {
    if (user.element.kind !== 'ModuleController') continue
    const module = ++modules > MOST_MODULES ? undefined : findModule(user.element, plan)
    if (module === undefined) isWhole = false
    if (module === undefined || seen.has(module)) continue
    seen.add(module)
    const top = { element: module, within: user }
    placed.push(top)
    for (const inner of placeEnabled(module.children, top)) placed.push(inner)
  }
  return { placed, isWhole }
}

function placeEnabled(
  siblings: readonly PlanElement[],
  within: Placed | undefined,
  found: Placed[] = []
): Placed[] {
  for (const element of siblings) {
    if (!element.isEnabled || element.kind === FRAGMENT) continue
    const placed = { element, within }
    found.push(placed)
    placeEnabled(element.children, placed, found)
  }
  return found
}

/** The element that a module controller names by all names on the way to it, the plan's own twice. */
function findModule({ text }: PlanElement, plan: readonly PlanElement[]): PlanElement | undefined {
  const [, ...path] = text.split('\n')
  let siblings = plan
  let found: PlanElement | undefined
  for (const name of path.slice(1)) {
    found = siblings.find((element) => element.name === name)
    siblings = found?.children ?? []
  }
  return found
}

/** JMeter runs the first fragment of an included plan. */
function fragmentOf(tree: readonly PlanElement[]): readonly PlanElement[] {
  const plan = tree.find(({ kind }) => kind === 'TestPlan')
  const fragment = [...tree, ...(plan?.children ?? [])].find(
    ({ kind, isEnabled }) => kind === FRAGMENT && isEnabled
  )
  return fragment?.children ?? []
}

/** Properties that the plan itself sets: their values are only known at run time. */
function findChangedProperties(texts: readonly string[]): (name: string) => boolean {
  const changes =
    /\b(?:props\??\.(?:put|set|remove|clear|load|compute|merge|replace)\w*|setProperty)\(\s*(?:["']([^"']{1,100})["'])?|\b__setProperty\(\s*([^,(){}$]{1,100})?|\bprops(?:\.\w{1,100}|\s?\[[^\]]{0,100}\])\s?=(?!=)/g
  const names = new Set(
    texts.flatMap((text) => [...text.matchAll(changes)].map(([, quoted, plain]) => quoted ?? plain?.trim()))
  )
  return (name) => names.has(name) || names.has(undefined)
}

/** The variables of the plan's tables that nothing else in it seems to change. */
function readVariables(elements: readonly PlanElement[], texts: readonly string[]): Map<string, string> {
  const found = new Map<string, string | undefined>()
  for (const element of elements) {
    if (!isTable(element.kind)) continue
    for (const [name, value] of argumentsOf(element))
      found.set(name, found.has(name) && found.get(name) !== value ? undefined : value)
  }
  if (texts.some((text) => /\bvars\??\.put\w*\((?!\s*["'])(?!\s*$)/.test(text))) return new Map()
  for (const name of changedVariables(elements, texts)) found.delete(name)
  return new Map([...found].flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** Whatever names a variable as a whole may set it: a data set, a counter, an extractor, a function's last argument. */
function* changedVariables(
  elements: readonly PlanElement[],
  texts: readonly string[]
): Generator<string, void, undefined> {
  for (const { kind, properties } of elements)
    if (!isTable(kind)) for (const value of properties.values()) yield* value.split(/[,;\s]+/)
  for (const text of texts) {
    for (const [, name = ''] of text.matchAll(/vars\??\.put\w*\(\s*["']([^"']{1,100})["']/g)) yield name
    for (const [, name = ''] of text.matchAll(/,\s?([^,(){}$\s]{1,100})\s?\)\}/g)) yield name
  }
}

function isTable(kind: string): boolean {
  return kind === 'TestPlan' || kind === 'Arguments'
}

const MOST_USUAL = 1_000
const LONGEST_USUAL = 200

export interface Labels {
  /** What a row may be named after, and more. */
  readonly names: readonly string[]
  /** No other label is possible. */
  readonly isComplete: boolean
  readonly usual: readonly string[]
  /** They are the texts of a source, whatever these are for. */
  readonly isSource: boolean
}

const MAKES_ROWS = /Sampler|^TransactionController$/
/** They name their rows themselves. */
const NAMES_ROWS = /^(?:JUnitSampler|JavaSampler|AccessLogSampler)$/

export function labelsOf(plan: JmxPlan): Labels {
  const elements = plan.reachable.map((element) => ({ ...element, label: plan.evaluate(element.name) }))
  const rows = elements.filter(({ kind }) => MAKES_ROWS.test(kind))
  return {
    names: elements.flatMap(({ label }) => label ?? []),
    usual: worthSuggesting(rows.flatMap(({ label }) => label ?? [])),
    isSource: false,
    isComplete:
      rows.length > 0 &&
      !plan.isOpaque &&
      // Rows of redirects are then named after their addresses.
      !plan.properties.has('subresults.disable_renaming') &&
      rows.every(({ kind, label }) => label !== undefined && label !== '' && !NAMES_ROWS.test(kind)) &&
      elements.every(({ kind }) => kind !== 'IncludeController' && !kind.includes('.')) &&
      !plan.texts.some((text) => /SampleLabel/i.test(text))
  }
}

/** A few of them: comparing a misspelt label with all of a huge plan would take minutes. */
export function worthSuggesting(names: readonly string[]): string[] {
  return [...new Set(names)].filter(({ length }) => length <= LONGEST_USUAL).slice(0, MOST_USUAL)
}
