import { capitalize, joinWords } from '../../../contract/text.js'
import { SCRIPT, type JmxPlan } from './jmx-plan.js'
import type { PlanElement } from '../jmx/plan-tree.js'
import { quote, SETTINGS, shorten, warning, type Finding, type PlanRequest } from './request.js'
import { checkMissingValues, JAVA_ENVIRONMENT, type ValueReader } from './source-values.js'

/** A call that reads a property of JMeter. */
interface PropertyCall {
  readonly name: string
  /** As it is written, for messages. */
  readonly written: string
  /** What the value is if nobody gives one; undefined if something in the plan says it. */
  readonly without: 'empty' | 'one' | 'name' | undefined
  /** Where it is in the text. */
  readonly start: number
  readonly end: number
}

interface ReadProperty extends PropertyCall {
  readonly element: PlanElement
}

const CALL = /\$\{__(P|property)\(/g
const LONGEST_CALL = 2_000
const DEEPEST = 10
/** Fields that JMeter lets be empty, where they hold nothing else: a request without a port goes to the usual one. */
const MAY_BE_EMPTY =
  /^(?:HTTPSampler\.(?:port|protocol|path|contentEncoding|implementation|ipSource|proxy\w*|\w+_timeout)|ThreadGroup\.delay)$/
const SHOWN = 3
/** Names that begin like these may be JMeter's own, or Java's: there are hundreds with a dot. */
export const MAYBE_OWN =
  /^(?:https?|server|client|user|os|file|path|line|proxy|time|tcp|system|beanshell|sampleresult|summariser|(?:jdbc|csv|html|Cookie|cache|HTTP)\w*)\./
/** Properties that JMeter, Gatling, drivers of browsers, Java and a rehearsal read themselves. */
export const OF_THE_TOOL =
  /^(?:rehearsal|jmeter|httpclient\d?|httpsampler|gatling|webdriver|javax?|jdk|sun|org\.apache)\.|^https?\.(?:proxy|nonProxyHosts)/

/** Properties that the plan reads without a default and that nothing gives. Names that are put together are not judged. */
export function checkMissing(plan: JmxPlan, request: PlanRequest): Finding[] {
  if (plan.isOpaque) return []
  const isGiven = (name: string): boolean =>
    plan.properties.has(name) ||
    request.given?.has(name) === true ||
    plan.sets(name) ||
    MAYBE_OWN.test(name) ||
    OF_THE_TOOL.test(name)
  const missing = new Map<string, ReadProperty[]>()
  for (const { element } of plan.enabled) {
    const calls = callsIn(withoutEmptyFields(element), isGiven)
    for (const call of calls.filter(({ name, without }) => without !== undefined && !isGiven(name))) {
      const known = missing.get(call.name)
      if (known === undefined) missing.set(call.name, [{ ...call, element }])
      else if (known.at(-1)?.element !== element) known.push({ ...call, element })
    }
  }
  return [
    ...[...missing].map(([name, calls]) => warning(describeMissing(name, calls))),
    ...checkScripts(plan, request, isGiven)
  ]
}

/** Properties in a script of Groovy, which is a source like others. */
const SCRIPT_PROPERTIES: ValueReader = {
  calls:
    /\bprops\s*(?:\??\.\s*get(?:Property)?\(\s*["']([^"'$\n]{1,200})["']\s*\)|\[\s*["']([^"'$\n]{1,200})["']\s*\])/g,
  missing: 'null',
  names: (name) => [name],
  fallback: (written) => `${written} ?: '…'`
}
/** JMeter gets no variables of a file. */
const SCRIPT_VARIABLES: ValueReader = {
  ...JAVA_ENVIRONMENT,
  give: (name) => `Read props.get("${name}") instead, and add -J${name}=… to override-parameters`
}

function checkScripts(plan: JmxPlan, { given }: PlanRequest, isGiven: (name: string) => boolean): Finding[] {
  const elements = plan.enabled.flatMap(({ element }) =>
    SCRIPT.test(element.kind)
      ? [{ name: capitalize(describeElement(element)), text: element.properties.get('script') }]
      : []
  )
  const sources = [...elements, ...plan.scriptFiles]
  return [
    ...checkMissingValues(SCRIPT_PROPERTIES, sources, isGiven),
    ...checkMissingValues(SCRIPT_VARIABLES, sources, (name) => given?.has(name) === true)
  ]
}

/** Every property that the plan reads by a name of its own, and the first element that does. */
export function readProperties(plan: JmxPlan): Map<string, PlanElement> {
  const found = new Map<string, PlanElement>()
  for (const { element } of plan.enabled)
    for (const { name } of callsIn(element.text, () => false)) if (!found.has(name)) found.set(name, element)
  return found
}

/** The property whose value a text is, also by way of a variable: `users` for `${__P(users,8)}`. */
export function propertyOf(text: string, plan: JmxPlan): string | undefined {
  let value = text.trim()
  for (let depth = 0; depth < DEEPEST; depth++) {
    const [call] = callsIn(value, () => true)
    if (call?.start === 0 && call.end === value.length) return call.name
    const variable = /^\$\{([^(){}$]+)\}$/.exec(value)?.[1]?.trim()
    const next = variable === undefined ? undefined : plan.variable(variable)
    if (next === undefined) return undefined
    value = next.trim()
  }
  return undefined
}

/** What an element is called in messages: `the thread group "users"`. */
export function describeElement({ kind, name }: PlanElement): string {
  const called = kind.endsWith('ThreadGroup')
    ? 'thread group'
    : kind.includes('Sampler')
      ? 'request'
      : SCRIPT.test(kind)
        ? 'script'
        : (NAMES[kind] ?? 'element')
  return `the ${called} ${quote(name)}`
}

const NAMES: Readonly<Record<string, string>> = {
  HeaderManager: 'HTTP Header Manager',
  AuthManager: 'HTTP Authorization Manager',
  CookieManager: 'HTTP Cookie Manager',
  Arguments: 'User Defined Variables',
  TestPlan: 'test plan'
}

/** The calls in a text, from left to right. The default of a property that is given is not used, and calls in it are left out. */
function callsIn(text: string, isGiven: (name: string) => boolean): PropertyCall[] {
  const found: PropertyCall[] = []
  let unusedUntil = 0
  for (const { index, 0: start, 1: called } of text.matchAll(CALL)) {
    const read = index < unusedUntil ? undefined : readArguments(text, index + start.length)
    if (read === undefined) continue
    const [name = '', ...more] = read.args
    if (name.trim() === '' || name.includes('$')) continue
    const written = text.slice(index, read.end)
    // The second argument of __property is a variable that gets the value.
    const fallback = called === 'P' ? more[0] : more[1]
    const without =
      fallback === undefined
        ? called === 'P'
          ? 'one'
          : 'name'
        : fallback.trim() === ''
          ? 'empty'
          : undefined
    if (isGiven(name.trim())) unusedUntil = read.end
    found.push({ name: name.trim(), written, without, start: index, end: read.end })
  }
  return found
}

/** The arguments of a call whose bracket opens just before `start`; undefined if it is never closed. */
function readArguments(text: string, start: number): { args: string[]; end: number } | undefined {
  const args: string[] = []
  let depth = 0
  let from = start
  for (let at = start; at < text.length && at - start < LONGEST_CALL; at++) {
    const sign = text.charAt(at)
    if (sign === '\\') at++
    else if (sign === '(' || sign === '{') depth++
    else if (depth > 0 && (sign === ')' || sign === '}')) depth--
    else if (depth === 0 && sign === ',') {
      args.push(text.slice(from, at))
      from = at + 1
    } else if (depth === 0 && sign === ')') {
      args.push(text.slice(from, at))
      return text.charAt(at + 1) === '}' ? { args, end: at + 2 } : undefined
    }
  }
  return undefined
}

function withoutEmptyFields({ text, properties }: PlanElement): string {
  const fields = [...properties].filter(
    ([name, value]) => MAY_BE_EMPTY.test(name) && /^\s*\$\{[^/?]*,\s*\)\}\s*$/.test(value)
  )
  return fields.reduce((rest, [, value]) => rest.replace(`\n${value}`, ''), text)
}

function describeMissing(name: string, calls: readonly ReadProperty[]): string {
  const [first] = calls
  const places = [...new Set(calls.map(({ element }) => describeElement(element)))]
  const where = joinWords(places, SHOWN)
  const verb = places.length === 1 ? 'reads' : 'read'
  const value = {
    empty: 'it would be empty',
    one: 'without a default it would be 1',
    name: 'without a default it would be its own name'
  }[first?.without ?? 'empty']
  const give = SETTINGS.includes(name) ? `Set ${name}` : `Add -J${name}=… to override-parameters`
  const example = `\${__P(${name},…)}`
  return `${capitalize(where)} ${verb} ${shorten(first?.written ?? '')}, and nothing gives ${name}: ${value}. ${give}, or write a default: ${example}.`
}
