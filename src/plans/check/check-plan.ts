import { readPlanTree } from '../jmx/plan-tree.js'
import { refuseForJMeter } from '../plan-kind.js'
import type { Finding } from './finding.js'
import { checkFiles } from './jmx-files.js'
import { labelsOf } from './jmx-labels.js'
import type { Labels } from './jmx-labels.js'
import { checkLoad } from './jmx-load.js'
import { checkParameters } from './jmx-parameters.js'
import { JmxPlan } from './jmx-plan.js'
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

/** Where the first element of a plan is. */
const START_LENGTH = 1 << 16

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
  if (tree === undefined) return { findings: [] }
  const plan = new JmxPlan(tree, request)
  return {
    findings: [
      ...checkPlugins(tree, request),
      ...checkFiles(plan, request),
      ...checkLoad(plan, request),
      ...checkParameters(plan, request)
    ],
    labels: labelsOf(plan),
    target: targetOf(plan)
  }
}

function describeProblem(name: string, text: string): string | undefined {
  const error = findXmlError(text)
  if (error !== undefined)
    return `${name} is not well-formed XML, so JMeter cannot read it: line ${error.line}: ${error.reason}. Open the plan in JMeter and save it again, or correct that line.`
  const root = /<([^\s/<>!?]+)/.exec(text.slice(0, START_LENGTH).replace(/<!--[^]*?-->/g, ''))?.[1]
  return root === 'jmeterTestPlan'
    ? undefined
    : `${name} is not a plan of JMeter: its first element is <${root ?? ''}> instead of <jmeterTestPlan>. Is it the right file?`
}

function checkOther(request: PlanRequest): PlanCheck {
  const literals = literalsOf(request)
  return {
    findings: checkSource(request),
    labels: { names: [...literals, ...callsOf(request)], usual: literals, isComplete: false, isSource: true }
  }
}
