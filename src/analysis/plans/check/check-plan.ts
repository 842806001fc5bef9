import { flatten, readPlan, type PlanElement, type ReadPlan } from '../jmx/plan-tree.js'
import { joinWords } from '../../../contract/text.js'
import { error, GET_PLUGIN, refuseForJMeter, refuseProperties, shorten, warning } from './request.js'
import type { Finding, PlanRequest } from './request.js'
import { findAsideGroups } from './aside-groups.js'
import { checkFiles } from './jmx-files.js'
import { labelsOf, worthSuggesting, type Labels, JmxPlan, MOST_ELEMENTS } from './jmx-plan.js'
import { checkLoad } from './jmx-load.js'
import { checkParameters, searchParameters } from './jmx-parameters.js'
import { checkMissing } from './jmx-properties.js'
import { targetOf, type Target } from './jmx-target.js'
import { callsIn, checkSource, literalsIn, refuseKind, sourcesOf } from './source-plan.js'

interface PlanCheck {
  readonly findings: readonly Finding[]
  /** Undefined if the plan cannot be read. */
  readonly labels?: Labels
  readonly target?: Target | undefined
}

/** Finds what would go wrong with a plan, from its text alone. What it does not understand, it does not judge. */
export function checkPlan(request: PlanRequest): PlanCheck {
  const names = [request.plan, ...request.others].map(({ name }) => name)
  const refusal =
    request.tool === 'jmeter' ? refuseForJMeter(names) : refuseKind(request.tool, request.plan.name)
  if (refusal !== undefined) return { findings: [error(refusal)] }
  return request.tool === 'jmeter' ? checkJmx(request) : checkOther(request)
}

function checkJmx(request: PlanRequest): PlanCheck {
  const { elements: tree, ...read } = readPlan(request.plan.text)
  const problem = describeProblem(request.plan.name, read)
  if (problem !== undefined) return { findings: [error(problem)] }
  // What is in it that this reader does not know is up to JMeter.
  if (tree === undefined || flatten(tree).length > MOST_ELEMENTS)
    return { findings: [...tellUnread(request, read.unread), ...searchParameters(request)] }
  const plan = JmxPlan.read(tree, request)
  return {
    findings: [
      ...(request.isEmbedded
        ? refuseProperties(request.others.map(({ name }) => name)).map((words) => error(`${words}.`))
        : []),
      ...checkPlugins(tree, request),
      ...checkFiles(plan, request),
      ...checkLoad(plan, request),
      ...checkParameters(plan, request),
      ...findAsideGroups(plan).findings,
      ...checkMissing(plan, request)
    ],
    labels: labelsOf(plan),
    target: targetOf(plan, request)
  }
}

function tellUnread({ plan, isEmbedded }: PlanRequest, unread: string | undefined): Finding[] {
  if (unread === undefined || !isEmbedded) return []
  const message = `loadgate cannot read ${plan.name} (${unread}), even if JMeter can: it would be unknown whether all of it ran, and the run would not pass.`
  return [warning(message)]
}

function describeProblem(
  name: string,
  { error: wrong, root }: Omit<ReadPlan, 'elements'>
): string | undefined {
  if (wrong !== undefined)
    return `${name} is not well-formed XML, so JMeter cannot read it: line ${wrong.line}: ${wrong.reason}. Open the plan in JMeter and save it again, or correct that line.`
  return root === undefined || root === 'jmeterTestPlan'
    ? undefined
    : `${name} is not a plan of JMeter: its first element is <${shorten(root)}> instead of <jmeterTestPlan>. Is it the right file?`
}

function checkOther(request: PlanRequest): PlanCheck {
  const texts = sourcesOf(request)
  const literals = texts.flatMap(literalsIn)
  return {
    findings: checkSource(request),
    labels: {
      names: [...new Set([...literals, ...texts.flatMap(callsIn)])],
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
  const lack = `${name} uses ${tell(missing)}, which this JMeter does not have; ${GET_PLUGIN}.`
  const note = `${name} uses ${tell(unknown)}: the JMeter that runs it must have the plugin.`
  return [
    ...(missing.length === 0 ? [] : [error(lack)]),
    ...(unknown.length === 0 ? [] : [{ level: 'note' as const, message: note }])
  ]
}

function tell(kinds: readonly string[]): string {
  return joinWords(kinds.map(shorten), SHOWN, 'more classes')
}
