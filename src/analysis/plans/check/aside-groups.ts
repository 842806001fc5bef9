import { quote, warning, type Finding, type PlanInputs } from './request.js'
import { BEFORE_OR_AFTER, JmxPlan, MOST_ELEMENTS, THREAD_GROUP } from './jmx-plan.js'
import { flatten, readPlanTree, type PlanElement } from '../jmx/plan-tree.js'

interface AsideGroups {
  /** The setUp and tearDown groups whose rows can be recognized by the names of their threads. */
  readonly names: readonly string[]
  /** Warnings about the others, whose rows count overall. */
  readonly findings: readonly Finding[]
}

/** The names of a plan's setUp and tearDown groups; none if it cannot be read. */
export function readAsideGroups(text: string, inputs: PlanInputs): readonly string[] {
  if (!/(?:Setup|Post)ThreadGroup/.test(text)) return []
  const tree = readPlanTree(text)
  if (tree === undefined || flatten(tree).length > MOST_ELEMENTS) return []
  return findAsideGroups(JmxPlan.read(tree, inputs)).names
}

/** Finds the thread groups whose rows count for their labels only. JMeter names threads after their groups: `setUp 1-1`. */
export function findAsideGroups(plan: JmxPlan): AsideGroups {
  const groups = plan.enabled
    .map(({ element }) => element)
    .filter(({ kind }) => THREAD_GROUP.test(kind))
    .map((group) => ({ group, name: plan.evaluate(group.name) }))
  const load = groups.filter(({ group }) => !BEFORE_OR_AFTER.test(group.kind))
  const names = new Set<string>()
  const findings = groups.flatMap(({ group, name }): Finding[] => {
    if (!BEFORE_OR_AFTER.test(group.kind)) return []
    const reason = describeUnclear(name, load)
    if (reason === undefined && name !== undefined) names.add(name)
    return reason === undefined ? [] : [tell(group, reason)]
  })
  return { names: [...names], findings }
}

/** On several machines, JMeter may put the name of the host and a hyphen before that of the group. */
function describeUnclear(
  name: string | undefined,
  load: readonly { readonly group: PlanElement; readonly name: string | undefined }[]
): string | undefined {
  if (name === undefined) return 'its name is only known during the run; give it a fixed one'
  if (name.trim() === '') return 'it has no name; give it one'
  const open = load.find((other) => other.name === undefined)
  if (open !== undefined)
    return `the name of the thread group ${quote(open.group.name)} is only known during the run and may be the same; give it a fixed one`
  const same = load.find((other) => other.name === name || other.name?.endsWith(`-${name}`))
  return (
    same && `the thread group ${quote(same.name ?? '')} has the same name, or ends in it; rename one of them`
  )
}

function tell({ kind, name }: PlanElement, reason: string): Finding {
  const what = kind.startsWith('Setup') ? 'setUp' : 'tearDown'
  return warning(
    `The samples of the ${what} thread group ${quote(name)} count in the overall figures: ${reason}.`
  )
}
