import { flatten, readPlanTree } from '../jmx/plan-tree.js'
import { refuseForJMeter } from '../plan-kind.js'
import { shorten } from './finding.js'
import type { Finding } from './finding.js'
import { checkFiles } from './jmx-files.js'
import { labelsOf, worthSuggesting } from './jmx-labels.js'
import type { Labels } from './jmx-labels.js'
import { checkLoad } from './jmx-load.js'
import { checkParameters, searchParameters } from './jmx-parameters.js'
import { JmxPlan, MOST_ELEMENTS } from './jmx-plan.js'
import { checkPlugins } from './jmx-plugins.js'
import { targetOf } from './jmx-target.js'
import type { Target } from './jmx-target.js'
import type { PlanRequest } from './request.js'
import { callsOf, checkSource, literalsOf, refuseKind } from './source-plan.js'
import { findXmlError } from './well-formed.js'

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
