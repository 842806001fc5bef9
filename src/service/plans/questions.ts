import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, join, posix } from 'node:path'
import { readAsideGroups } from '../../analysis/plans/check/aside-groups.js'
import {
  decodePlan,
  LARGEST_OTHER_BYTES,
  LARGEST_PLAN_BYTES,
  type PlanInputs,
  type RunFile
} from '../../analysis/plans/check/request.js'
import { flatten, isJmx, readPlan, readSubPaths, type ReadPlan } from '../../analysis/plans/jmx/plan-tree.js'
import { decodeProperties, USER_PROPERTIES } from '../../analysis/plans/jmx/user-properties.js'
import { messageOf } from '../../contract/text.js'
import { isSource, readLabels } from './labels.js'
import { readPlanNames } from './names.js'
import { readStops, readThreadGroups } from './thread-groups.js'

// What the service wants to know about uploaded files. The files are anyone's: this runs in a thread of its own (ask.ts).

/** Files of this size take seconds to read; a plan for one of the tools has a hundredth of it. */
const MOST_BYTES = 64 << 20
/** Links that lead a plan to its files. */
const MOST_SUB_PATHS = 1000

interface Named {
  readonly folder: string
  readonly names: readonly string[]
}

interface JMeterPlan {
  readonly folder: string
  readonly plan: string
  /** The other files next to it. */
  readonly others: readonly string[]
  readonly inputs: Omit<PlanInputs, 'others'>
}

const ANSWERS = {
  /** What decides whether a file is a plan for JMeter, or a part of one. */
  parts: ({ folder, names }: Named) => readAll(folder, names).map(readParts),
  /** The setUp and tearDown groups of a plan. None if it is too large to be looked at. */
  asideGroups: ({ folder, plan, others, inputs }: JMeterPlan): readonly string[] =>
    readAsideGroups(readUpTo(join(folder, plan), LARGEST_PLAN_BYTES), {
      ...inputs,
      others: others
        .filter((name) => isJmx(name) || name === USER_PROPERTIES)
        .map((name) => ({ name, text: readUpTo(join(folder, name), LARGEST_OTHER_BYTES) }))
    }),
  /** Those of the values that are not part of a name in these plans. */
  unnamed: ({ folder, names, values }: Named & { readonly values: readonly string[] }) => {
    const known = readAll(folder, names, { isOptional: true }).flatMap(({ name, text }) =>
      readPlanNames(name, text)
    )
    return values.filter((value) => !known.some((name) => name.includes(value)))
  },
  /** The labels of a plan, the first file, and of the sources that are compiled with it. */
  labels: ({ folder, names }: Named): readonly string[] => {
    const plans = isSource(names[0] ?? '') ? names.filter(isSource) : names.slice(0, 1)
    return [...new Set(readAll(folder, plans).flatMap(({ name, text }) => readLabels(name, text)))]
  },
  /** What is to be known of a plan before and after JMeter runs it. */
  jmeter: readForJMeter,
  /** Why requests of these plans could be sent past overridden hosts; undefined if they cannot. */
  bypass: ({ folder, names }: Named): string | undefined => {
    let room = MOST_BYTES
    for (const name of names) {
      const path = join(folder, name)
      room = takeRoom(room, statSync(path).size)
      const reason = findBypass(readFileSync(path), new Set(names))
      if (reason !== undefined) return `${name} ${reason}`
    }
    return undefined
  }
}

type Answers = typeof ANSWERS
export type Question = keyof Answers
export type Asked<Q extends Question> = Parameters<Answers[Q]>[0]
export type Answer<Q extends Question> = ReturnType<Answers[Q]>

export function answer<Q extends Question>(question: Q, asked: Asked<Q>): Answer<Q> {
  return (ANSWERS[question] as (asked: Asked<Q>) => Answer<Q>)(asked)
}

/** Nothing about paths on this machine. */
export function describeFailure(thrown: unknown): string {
  const { code, syscall } = thrown as NodeJS.ErrnoException
  return syscall === undefined ? messageOf(thrown) : `a file of it cannot be read (${code ?? syscall})`
}

function takeRoom(room: number, bytes: number): number {
  if (bytes > room) throw new Error(`it and the files next to it have more than ${MOST_BYTES >> 20} MB`)
  return room - bytes
}

function readAll(folder: string, names: readonly string[], { isOptional = false } = {}) {
  let room = MOST_BYTES
  return names.map((name): RunFile & { text: string } => {
    const path = join(folder, name)
    if (isOptional && !existsSync(path)) return { name, text: '' }
    room = takeRoom(room, statSync(path).size)
    return { name, text: decode(name, readFileSync(path)) }
  })
}

function readUpTo(path: string, mostBytes: number): string {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? Infinity
  return size > mostBytes ? '' : decode(basename(path), readFileSync(path))
}

function decode(name: string, bytes: Buffer): string {
  return name === USER_PROPERTIES ? decodeProperties(bytes) : bytes.toString()
}

function readParts({ name, text: read }: { name: string; text: string }) {
  // Whatever the encoding: tags and most names are ASCII.
  const text = read.replaceAll('\0', '').replace(/^[\ufffd\ufeff]+/, '')
  const { elements } = readPlan(text)
  if (elements === undefined) return { name, hasGroups: text.includes('ThreadGroup'), includes: [] }
  const all = flatten(elements)
  return {
    name,
    hasGroups: all.some(({ kind }) => kind.endsWith('ThreadGroup')),
    includes: all.flatMap(({ isEnabled, properties }) => {
      const path = isEnabled ? properties.get('IncludeController.includepath') : undefined
      return path === undefined ? [] : [posix.basename(path.replaceAll('\\', '/'))]
    })
  }
}

function readForJMeter({ folder, plan, others, inputs }: JMeterPlan) {
  const plans = readAll(folder, [plan, ...others.filter(isJmx)])
  const properties = readAll(
    folder,
    others.filter((name) => name === USER_PROPERTIES)
  )
  const trees = plans.map(({ text }) => readPlan(text))
  const elements = trees.flatMap((tree) => tree.elements ?? [])
  const texts = flatten(elements).map(({ text }) => text)
  return {
    subPaths: readSubPaths(texts, new Set([plan, ...others])).slice(0, MOST_SUB_PATHS),
    stops: readStops(elements),
    unread: unreadPlans(plans, trees),
    groups: readThreadGroups(trees[0]?.elements, { ...inputs, others: [...plans.slice(1), ...properties] })
  }
}

/** JMeter reads these files, and it is unknown what it does with them. Other plans only run if one is included. */
function unreadPlans(plans: readonly RunFile[], trees: readonly ReadPlan[]) {
  const all = trees.flatMap(({ elements = [] }) => flatten(elements))
  const isIncluding = all.some(({ kind, isEnabled }) => isEnabled && kind === 'IncludeController')
  return plans.flatMap(({ name }, index) => {
    const why = trees[index]?.unread
    return why === undefined || (index > 0 && !isIncluding) ? [] : [{ name, why }]
  })
}

function findBypass(bytes: Uint8Array, plans: ReadonlySet<string>): string | undefined {
  const decoded = decodePlan(bytes)
  if ('problem' in decoded) return decoded.problem
  const { elements, unread } = readPlan(decoded.text)
  if (elements === undefined) return `cannot be read (${unread ?? 'no reason is known'}); save it with JMeter`
  // All of them: a Module Controller runs what is disabled too.
  const all = flatten(elements)
  // By the property: an element's class can be written as its tag or as an attribute.
  const resolver = all.find(
    ({ properties }) => (properties.get('DNSCacheManager.isCustomResolver') ?? 'false') !== 'false'
  )
  if (resolver !== undefined)
    return `has the DNS Cache Manager "${resolver.name}" with a custom resolver; remove it, even if it is disabled, or leave override_hosts out`
  const included = all
    .map(({ properties }) => properties.get('IncludeController.includepath'))
    .find((path) => path !== undefined && !plans.has(basename(path.replaceAll('\\', '/'))))
  return included === undefined
    ? undefined
    : `includes "${included}", which is not among the uploaded .jmx files`
}
