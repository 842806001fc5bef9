import { isJmx } from '../../../analysis/plans/jmx/plan-tree.js'
import { messageOf } from '../../../contract/text.js'
import { ToolError } from '../../errors.js'
import { askAboutPlan } from '../../plans/ask.js'
import type { PlanToPrepare } from '../engine.js'

/**
 * Overridden hosts have their addresses in the whole JVM, except for a DNS Cache Manager with hosts or servers of its own, which asks
 * nobody. A plan with one, or where that is unknown, does not run with `override_hosts`.
 */
export async function refuseOwnResolvers({ hosts, uploadDir, fileNames }: PlanToPrepare): Promise<void> {
  if (hosts.length === 0) return
  const names = [...new Set(fileNames.filter(isJmx))]
  const reason = await askAboutPlan('bypass', { folder: uploadDir, names }).catch(
    (thrown: unknown) => `the plan cannot be read: ${messageOf(thrown)}`
  )
  if (reason !== undefined) throw new ToolError(`override_hosts: requests could be sent past it: ${reason}`)
}
