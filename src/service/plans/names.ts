import { literalsIn } from '../../analysis/plans/check/source-plan.js'
import { flatten, isJmx, readPlanTree } from '../../analysis/plans/jmx/plan-tree.js'

export function readSamplerNames(plan: string): string[] {
  const samplers = flatten(readPlanTree(plan) ?? []).filter(
    ({ kind, isEnabled }) => isEnabled && kind.includes('Sampler')
  )
  return [...new Set(samplers.map(({ name }) => name))].filter((name) => name !== '')
}

const SOURCE = /\.(?:java|scala|kt|[cm]?[jt]s)$/i

/** Whether a plan or a part of one may be in a file of this name. */
export function mayHaveNames(fileName: string): boolean {
  return isJmx(fileName) || SOURCE.test(fileName)
}

/** What requests and threads may be named after: a plan's elements, or the literals of its source. */
export function readPlanNames(fileName: string, text: string): string[] {
  const names = SOURCE.test(fileName)
    ? literalsIn(text)
    : flatten(readPlanTree(text) ?? []).map(({ name }) => name)
  return [...new Set(names)]
}
