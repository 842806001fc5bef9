import {
  readArguments,
  type PlanElement,
  readPlanTree,
  decodeXml,
  flatten
} from '../../../analysis/plans/jmx/plan-tree.js'

/** What is known about the properties that a plan reads. */
export type Properties = ReadonlyMap<string, string>

interface ThreadGroup extends Pick<PlanElement, 'name' | 'kind'> {
  /** The variable that says how much the group does, where nothing defines it: JMeter takes it for 0. */
  readonly undefinedVariable: string | undefined
}

/** JMeter's own kinds, which number their groups from 1. Plugins differ. */
const PLAIN_KIND = /^(?:Setup|Post)?ThreadGroup$/
/** A script with this call suppresses the row. */
const ROWLESS = /\bsetIgnore\b/
const UNKNOWN = '${'
const VARIABLE = /^\$\{([^(){}$]+)\}$/
/** How often a thread group's requests are made. */
const COUNTS = ['ThreadGroup.num_threads', 'LoopController.loops']

/**
 * Finds thread groups that should have sent requests but have no rows. JMeter's log does not mention them: an undefined
 * variable as the number of threads counts as 0, and a condition that is never true is not an error.
 */
export class IdleGroups {
  readonly #groups: readonly ThreadGroup[]
  /** The thread name of any row starts with one of these. */
  readonly #knownNames: readonly string[]
  /** Threads are not named after their groups here, so their names say nothing about them. */
  #hasStrangers = false
  readonly #seenThreads = new Set<string>()
  /** The numbers of the groups that have rows, by group name. */
  readonly #seen = new Map<string, Set<string>>()

  constructor(plan: string, properties: Properties) {
    const all = listGroups(plan)
    const known = { properties, variables: new Map(readArguments(plan)) }
    this.#groups = all
      .filter((group) => isExpected(group, known))
      .map((group) => ({
        name: group.name,
        kind: group.kind,
        undefinedVariable: COUNTS.map((count) =>
          findUndefined(group.properties.get(count) ?? '', { plan, known })
        ).find((name) => name !== undefined)
      }))
    this.#knownNames = all.map(({ name }) => name.split(UNKNOWN)[0] ?? '')
  }

  /** Takes the thread name of a row, `users 1-3`; returns whether any group is still missing. */
  push(thread: string): boolean {
    if (this.#seenThreads.has(thread)) return true
    this.#seenThreads.add(thread)
    this.#hasStrangers ||= !this.#knownNames.some((name) => thread.startsWith(name))
    const [, name = '', number = ''] = /^(.*) (\d+)-\d+/s.exec(thread) ?? []
    this.#seen.set(name, (this.#seen.get(name) ?? new Set()).add(number))
    return this.mayBeIdle()
  }

  mayBeIdle(): boolean {
    return this.lost().length + this.idle().length > 0
  }

  /** The groups without a row that had no chance of one, in sentences. */
  lost(): string[] {
    return this.#missing().flatMap(({ name, of, undefinedVariables }) => {
      const [variable] = undefinedVariables
      return variable === undefined
        ? []
        : [
            `${describe(name, undefinedVariables.length, of)} recorded no samples: the number of threads or loops is \${${variable}}, which nothing in the plan defines, so it counts as 0`
          ]
    })
  }

  /** The other groups without a row, in sentences. */
  idle(): string[] {
    return this.#missing().flatMap(({ name, of, count, undefinedVariables }) => {
      const missing = count - undefinedVariables.length
      if (missing <= 0) return []
      return [
        `${describe(name, missing, of)} recorded no samples; does the number of threads evaluate to 0, or does a condition prevent its requests?`
      ]
    })
  }

  /** By their name. */
  #missing(): { name: string; of: number; count: number; undefinedVariables: string[] }[] {
    if (this.#hasStrangers) return []
    const names = [...new Set(this.#groups.map(({ name }) => name))]
    return names.flatMap((name) => {
      const alike = this.#groups.filter((group) => group.name === name)
      const count = alike.length - this.#countSeen(alike)
      if (count <= 0) return []
      const undefinedVariables = alike.flatMap(({ undefinedVariable }) => undefinedVariable ?? [])
      return [{ name, of: alike.length, count, undefinedVariables: undefinedVariables.slice(0, count) }]
    })
  }

  #countSeen(alike: readonly ThreadGroup[]): number {
    const { name, kind } = alike[0] ?? { name: '', kind: '' }
    const isNumbered = PLAIN_KIND.test(kind) && alike.every((other) => other.kind === kind)
    if (isNumbered) return this.#seen.get(name)?.size ?? 0
    // The group of this thread is ambiguous.
    return [...this.#seenThreads].some((thread) => thread.startsWith(name)) ? alike.length : 0
  }
}

function describe(name: string, count: number, of: number): string {
  return of === 1 ? `the thread group ${name}` : `${count} of ${of} thread groups called ${name}`
}

interface Known {
  readonly properties: Properties
  readonly variables: Properties
}

/** The enabled thread groups. */
export function listGroups(plan: string): PlanElement[] {
  return listEnabled(readPlanTree(plan) ?? []).filter(({ kind }) => kind.endsWith('ThreadGroup'))
}

/** Whether the group must have rows. */
function isExpected(group: PlanElement, known: Known): boolean {
  const isNamed = group.name !== '' && !group.name.includes(UNKNOWN)
  return isNamed && listEnabled(group.children).some(makesRows) && !isSwitchedOff(group, known)
}

/** All enabled elements, each with its ancestors. */
function listEnabled(elements: readonly PlanElement[]): PlanElement[] {
  return elements
    .filter(({ isEnabled }) => isEnabled)
    .flatMap((element) => [element, ...listEnabled(element.children)])
}

/** The content of an include or a module is unknown. */
export function makesRows({ kind, properties }: PlanElement): boolean {
  return (
    kind.includes('Sampler') &&
    !ROWLESS.test(properties.get('script') ?? properties.get('BeanShellSampler.query') ?? '')
  )
}

/** No threads or no loops, set in the plan or by a property: that is intended. */
function isSwitchedOff(group: PlanElement, known: Known): boolean {
  const settings = [...COUNTS, 'TargetLevel']
  return settings.some((name) => /^0+$/.test(evaluate(group.properties.get(name) ?? '', known) ?? ''))
}

/** Resolves plain numbers, properties, and variables that refer to them; anything else is unknown. */
function evaluate(text: string, known: Known, depth = 0): string | undefined {
  const word = text.trim()
  if (!word.includes(UNKNOWN)) return word
  const [, name, fallback = '1'] = /^\$\{__P\(\s*([^,()${}]+?)\s*(?:,([^(){}$]*))?\)\}$/.exec(word) ?? []
  if (name !== undefined) return known.properties.get(name) ?? fallback.trim()
  const variable = known.variables.get(VARIABLE.exec(word)?.[1] ?? '')
  return variable === undefined || depth > 5 ? undefined : evaluate(variable, known, depth + 1)
}

/** The variable that the text stands for in the end, where nothing gives it a value. */
function findUndefined(text: string, place: { plan: string; known: Known }, depth = 0): string | undefined {
  const name = VARIABLE.exec(text.trim())?.[1]
  if (name === undefined || depth > 5) return undefined
  const value = place.known.variables.get(name)
  if (value !== undefined) return findUndefined(value, place, depth + 1)
  return canBeSet(name, place.plan) ? undefined : name
}

/** JMeter defines these itself. */
const BUILT_IN = /^(?:START\.|TESTSTART\.|JMeter|__jm__)/
const SCRIPT = /^(?:JSR223|BeanShell|BSF)/
const SCRIPT_FILE = /^(?:filename|BeanShell\w*\.filename|BSF\w*\.filename)$/
/** Plugins that bring variables into a plan, by what they are called. */
const PLUGIN_OF_VARIABLES = /\..*(?:variable|dataset|csv|config)/i

/**
 * Whether anything but the tables of the plan may give a variable its value: a data set, User Parameters, a script, a function, or what
 * cannot be looked into. It says yes in doubt.
 */
function canBeSet(name: string, plan: string): boolean {
  const elements = readPlanTree(plan)
  return (
    BUILT_IN.test(name) ||
    elements === undefined ||
    flatten(elements).some((element) => mayBring(element, name)) ||
    hasUserParameter(plan, name) ||
    isNamedByFunction(plan, name)
  )
}

function mayBring({ kind, isEnabled, properties }: PlanElement, name: string): boolean {
  if (!isEnabled) return false
  if (kind === 'IncludeController' || PLUGIN_OF_VARIABLES.test(kind)) return true
  if (kind === 'CSVDataSet') {
    const names = properties.get('variableNames') ?? ''
    // Without names they are in the file.
    return names.trim() === '' || hasWord(names, name)
  }
  if (!SCRIPT.test(kind)) return false
  return [...properties].some(([property, value]) =>
    SCRIPT_FILE.test(property) ? value.trim() !== '' : hasWord(value, name)
  )
}

function hasUserParameter(plan: string, name: string): boolean {
  return [...plan.matchAll(/<UserParameters\b[^]*?<\/UserParameters>/g)].some(([text]) =>
    hasWord(decodeXml(text), name)
  )
}

/** Many functions take the name of a variable for their result. */
function isNamedByFunction(plan: string, name: string): boolean {
  return [...plan.matchAll(/\$\{__[^<]*/g)].some(([text]) => hasWord(decodeXml(text), name))
}

/** Using it is not setting it. */
function hasWord(text: string, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w])${word}(?![\\w])`).test(text.replaceAll(`\${${name}}`, ''))
}
