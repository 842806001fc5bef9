import { refuseForJMeter } from '../../../plans/plan-kind.js'
import type { PlanRequest } from '../engine.js'

export function refuseFiles({ fileNames }: PlanRequest): string[] {
  const problem = refuseForJMeter(fileNames)
  return problem === undefined ? [] : [problem]
}
