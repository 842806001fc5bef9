import { JmxPlan } from '../../analysis/plans/check/jmx-plan.js'
import type { PlanInputs } from '../../analysis/plans/check/request.js'
import { SCHEDULE, countArrivals } from '../../analysis/plans/jmx/open-model.js'
import { flatten, type PlanElement } from '../../analysis/plans/jmx/plan-tree.js'

export interface ThreadGroup extends Pick<PlanElement, 'name' | 'kind'> {
  /** Its requests must have rows. */
  readonly isExpected: boolean
  /** The variable that says how much the group does, if nothing defines it: JMeter uses 0. */
  readonly undefinedVariable: string | undefined
  /** How many users arrive by its schedule; NaN if it has none, or some of them may have nothing to do. */
  readonly arrivals: number
}

/** A script with this call suppresses the row. */
const ROWLESS = /\bsetIgnore\b/
export const UNKNOWN = '${'
/** How often a thread group's requests are made. */
const COUNTS = ['ThreadGroup.num_threads', 'LoopController.loops']
/** Every user who arrives does what is in these. */
const ALWAYS = /^(?:GenericController|TransactionController)$/
/** All of them are compared with the names of all threads. */
const MOST_GROUPS = 1000

/** The enabled thread groups of a plan; undefined if it cannot be read or has more than can be compared. */
export function readThreadGroups(
  tree: readonly PlanElement[] | undefined,
  inputs: PlanInputs
): readonly ThreadGroup[] | undefined {
  if (tree === undefined) return undefined
  const plan = JmxPlan.read(tree, inputs)
  const groups = plan.enabled.map(({ element }) => element).filter(({ kind }) => kind.endsWith('ThreadGroup'))
  return groups.length > MOST_GROUPS ? undefined : groups.map((group) => describeGroup(group, plan))
}

function describeGroup(group: PlanElement, plan: JmxPlan): ThreadGroup {
  const { name, kind, properties } = group
  const isNamed = name !== '' && !name.includes(UNKNOWN)
  // No threads or no loops, set in the plan or by a property: that is intended.
  const isOff = [...COUNTS, 'TargetLevel'].some((count) =>
    /^\s*0+\s*$/.test(plan.evaluate(properties.get(count) ?? '') ?? '')
  )
  const variables = COUNTS.map(
    (count) => /^\$\{([^(){}$]+)\}$/.exec(plan.expand(properties.get(count) ?? '').trim())?.[1]
  )
  return {
    ...{ name, kind },
    isExpected: isNamed && hasRows(group) && !isOff,
    undefinedVariable: variables.find((variable) => variable !== undefined && plan.isUndefined(variable)),
    arrivals:
      isNamed && hasRowForEach(group)
        ? (countArrivals(plan.evaluate(properties.get(SCHEDULE) ?? '') ?? UNKNOWN) ?? NaN)
        : NaN
  }
}

function hasRows({ children }: PlanElement): boolean {
  return children.some((child) => child.isEnabled && (makesRows(child) || hasRows(child)))
}

/** Whether every user who arrives must have a row: something is requested under no condition. */
function hasRowForEach({ children }: PlanElement): boolean {
  return children.some(
    (child) => child.isEnabled && (makesRows(child) || (ALWAYS.test(child.kind) && hasRowForEach(child)))
  )
}

/** The content of an include or a module is unknown. */
function makesRows({ kind, properties }: PlanElement): boolean {
  return (
    kind.includes('Sampler') &&
    !ROWLESS.test(properties.get('script') ?? properties.get('BeanShellSampler.query') ?? '')
  )
}

const ACTIONS = new Map([
  ['1', 'Stop Thread'],
  ['2', 'Shutdown Test'],
  ['3', 'Stop Test Now']
])

/** What the Result Status Action Handlers of a plan can ask for, in the words of JMeter's log. */
export function readStops(elements: readonly PlanElement[]): Set<string> {
  const stops = flatten(elements).flatMap(({ kind, isEnabled, properties }) => {
    const isHandler = isEnabled && kind === 'ResultAction'
    const action = isHandler ? (properties.get('OnError.action')?.trim() ?? '') : ''
    // The value of a property or variable is unknown here.
    return [...ACTIONS]
      .filter(([number]) => number === action || action.includes('${'))
      .map(([, stop]) => stop)
  })
  return new Set(stops)
}
