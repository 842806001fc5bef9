import { joinWords } from '../../../contract/text.js'
import { OPEN_GROUP, SCHEDULE, countArrivals } from '../jmx/open-model.js'
import type { PlanElement } from '../jmx/plan-tree.js'
import { error, quote, settingsOf, shorten, warning, type Finding, type PlanRequest } from './request.js'
import { BEFORE_OR_AFTER, THREAD_GROUP, type JmxPlan } from './jmx-plan.js'
import { propertyOf } from './jmx-properties.js'

const LOOPS = 'LoopController.loops'
const NO_ARRIVALS =
  'nobody arrives. It needs a rate and a time, as in rate(20/s) random_arrivals(60 s); and no time may be negative, as with a ramp-up that is longer than the duration.'
const SHOWN = 3
const SCHEDULER = 'ThreadGroup.scheduler'
/** What a thread group has for each setting of the run: its property, its value in words, and its name in the dialog. */
const IN_GROUP: Readonly<Record<string, [property: string, tell: (value: string) => string, field: string]>> =
  {
    threads: [
      'num_threads',
      (value) => (value === '1' ? '1 thread' : `${value} threads`),
      'its number of threads'
    ],
    rampup: ['ramp_time', (value) => `a ramp-up of ${value} s`, 'its ramp-up period'],
    duration: [
      'duration',
      (value) => `a duration of ${value} s`,
      'its duration (with "Specify Thread lifetime" ticked)'
    ]
  }

export function checkLoad(plan: JmxPlan, request: PlanRequest): Finding[] {
  const groups = plan.enabled
    .map(({ element }) => element)
    .filter(({ kind }) => THREAD_GROUP.test(kind) && !BEFORE_OR_AFTER.test(kind))
  if (groups.length === 0)
    return plan.isOpaque || plan.enabled.some(({ element: { kind } }) => BEFORE_OR_AFTER.test(kind))
      ? []
      : [
          error(
            `${request.plan.name} has no enabled thread group, so it sends nothing; add one, or enable it.`
          )
        ]
  const main = groups.filter(isMain)
  const endless = mayEndItself(plan) ? [] : main.filter((group) => isEndless(group, plan))
  const unread = [...settingsOf(request)].flatMap(([name, value]) =>
    name === 'duration' && endless.length > 0 ? [] : checkSetting(plan, groups, name, value)
  )
  const zero = main.filter((group) => hasNoTime(group, plan))
  const nobody = groups.filter((group) => group.kind === OPEN_GROUP && hasNoArrivals(group, plan))
  return [
    ...unread,
    ...tellEndless(endless, request),
    ...tellLoops(main, plan, request),
    ...zero.map(({ name }) => {
      const rest = 'with which JMeter does not start it; write ${__P(duration,60)} as its duration.'
      return error(`The thread group ${quote(name)} has a duration of 0 s, ${rest}`)
    }),
    ...nobody.map(({ name }) => error(`By the schedule of the thread group ${quote(name)} ${NO_ARRIVALS}`))
  ]
}

function checkSetting(plan: JmxPlan, groups: readonly PlanElement[], name: string, value: number): Finding[] {
  const inGroup = IN_GROUP[name]
  if (inGroup === undefined || plan.reads(name)) return []
  const [property, tell, field] = inGroup
  const main = groups.filter(isMain)
  const [open] = groups.filter(({ kind }) => kind === OPEN_GROUP)
  if (open !== undefined && main.length === 0) return [tellOpen(open, name, value)]
  const has = (group: PlanElement): string | undefined =>
    name === 'duration' && group.properties.get(SCHEDULER) !== 'true'
      ? undefined
      : plan.evaluate(group.properties.get(`ThreadGroup.${property}`) ?? '')?.trim()
  const concerned = name === 'threads' ? groups.filter(({ kind }) => kind !== OPEN_GROUP) : groups
  if (main.length === concerned.length && main.every((group) => has(group) === String(value))) return []
  const source = (group: PlanElement): string | undefined =>
    propertyOf(group.properties.get(`ThreadGroup.${property}`) ?? '', plan)
  const fixed = main.map((group) => tellGroup(group, { value: has(group), property: source(group) }, tell))
  const [first] = main
  const other = first && has(first) !== undefined ? source(first) : undefined
  const give =
    other === undefined || plan.properties.has(other)
      ? 'Write'
      : `Add -J${other}=${value} to override-parameters, or write`
  const example = (first && /^\d+$/.exec(has(first) ?? '')?.[0]) ?? String(value)
  const told = fixed.length > 0 ? `: ${joinWords(fixed, SHOWN)}` : ''
  const message = `${name} is ${value}, but the plan does not read it${told}. ${give} \${__P(${name},${example})} as ${field} in the thread group, or remove ${name}.`
  return [warning(message)]
}

function isMain({ kind }: PlanElement): boolean {
  return kind === 'ThreadGroup'
}

/** A schedule says when users arrive; how many there are at a time depends on how fast they are served. */
function tellOpen(group: PlanElement, name: string, value: number): Finding {
  const unread = `${name} is ${value}, but the plan does not read it`
  const message =
    name === 'threads'
      ? `${unread}: the load of the thread group ${quote(group.name)} is open, its users arrive by its schedule, however many there are. Set their rate in the schedule, and remove threads.`
      : `${unread}. Write \${__P(${name},${value})} into the schedule of the thread group ${quote(group.name)}, as in random_arrivals(\${__P(${name},${value})} s), or remove ${name}.`
  return warning(message)
}

function hasNoArrivals({ properties }: PlanElement, plan: JmxPlan): boolean {
  const schedule = plan.evaluate(properties.get(SCHEDULE) ?? '')
  return schedule !== undefined && countArrivals(schedule) === 0
}

function tellGroup(
  group: PlanElement,
  { value, property }: { value: string | undefined; property: string | undefined },
  tell: (value: string) => string
): string {
  const name = `the thread group ${quote(group.name)}`
  if (value !== undefined && value !== '')
    return `${name} has ${tell(value)}${property === undefined ? ', fixed' : ` (property ${shorten(property)})`}`
  const loops = group.properties.get(LOOPS)?.trim() ?? ''
  return /^\d+$/.test(loops)
    ? `${name} ends after ${loops === '1' ? 'one loop' : `${loops} loops`}`
    : `${name} has none of its own`
}

function isEndless(group: PlanElement, plan: JmxPlan): boolean {
  const loops = plan.evaluate(group.properties.get(LOOPS) ?? '')?.trim()
  // Without it, JMeter assumes true.
  const goesOn = group.properties.get('LoopController.continue_forever')?.trim() ?? 'true'
  const scheduler = group.properties.get(SCHEDULER) ?? 'false'
  const hasLoops = group.properties.has(LOOPS)
  return hasLoops && (loops === '-1' || goesOn === 'true') && scheduler.trim() === 'false'
}

/** Groups that end after a number of loops, though they have a lifetime. A ramp-up or a loop within may stretch them. */
function tellLoops(groups: readonly PlanElement[], plan: JmxPlan, request: PlanRequest): Finding[] {
  const { durationSeconds = 0, rampupSeconds = 0 } = request
  const isInnerLoop = /^(?:Loop|While|Foreach|Include|Module)Controller$|^RunTime$/
  if (
    rampupSeconds >= 0.9 * durationSeconds ||
    plan.enabled.some(({ element }) => isInnerLoop.test(element.kind))
  )
    return []
  return groups.flatMap((group) => {
    const loops = plan.evaluate(group.properties.get(LOOPS) ?? '')?.trim() ?? ''
    const goesOn = group.properties.get('LoopController.continue_forever')?.trim() ?? 'true'
    const hasLifetime = group.properties.get(SCHEDULER)?.trim() === 'true'
    if (!hasLifetime || goesOn === 'true' || !/^\d+$/.test(loops)) return []
    const end = loops === '1' ? 'one loop' : `${loops} loops`
    return warning(
      `The thread group ${quote(group.name)} ends after ${end}, even if duration (${durationSeconds} s) is not over. Tick "Infinite" as its loop count (-1 in the file), or remove duration.`
    )
  })
}

function hasNoTime({ properties }: PlanElement, plan: JmxPlan): boolean {
  if (properties.get(SCHEDULER)?.trim() !== 'true') return false
  return /^0*$/.test(plan.evaluate(properties.get('ThreadGroup.duration') ?? '')?.trim() ?? '1')
}

/** Whether something in the plan may stop a thread or the test. */
function mayEndItself(plan: JmxPlan): boolean {
  return (
    plan.isOpaque ||
    plan.hasScripts ||
    plan.enabled.some(
      ({ element: { kind, properties } }) =>
        kind.includes('.') ||
        ['TestAction', 'ResultAction', 'IncludeController', 'ModuleController'].includes(kind) ||
        (kind === 'CSVDataSet' && properties.get('stopThread') !== 'false') ||
        properties.get('ThreadGroup.on_sample_error')?.startsWith('stop') === true
    )
  )
}

function tellEndless(
  endless: readonly PlanElement[],
  { isEmbedded, limit, durationSeconds }: PlanRequest
): Finding[] {
  if (endless.length === 0) return []
  const names = joinWords(
    endless.map(({ name }) => quote(name)),
    SHOWN
  )
  const subject = `the thread ${endless.length === 1 ? 'group' : 'groups'} ${names}`
  const verb = endless.length === 1 ? 'loops forever and has' : 'loop forever and have'
  const unread =
    durationSeconds === undefined ? '' : ` (the plan does not use duration, ${durationSeconds} s)`
  const message = `The plan has no end: ${subject} ${verb} no duration${unread}, so only ${limit} stops the run, which never passes. Tick "Specify Thread lifetime" with a duration of \${__P(duration,60)}, or give a number of loops.`
  return [isEmbedded ? error(message) : warning(message)]
}
