import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { decodePlan } from '../../../analysis/plans/check/request.js'
import { flatten, isJmx, readPlan } from '../../../analysis/plans/jmx/plan-tree.js'
import { ToolError } from '../../errors.js'
import type { PlanToPrepare } from '../engine.js'

/**
 * Overridden hosts have their addresses in the whole JVM, except for a DNS Cache Manager with hosts or servers of its own, which asks
 * nobody. A plan with one, or where that is unknown, does not run with `override_hosts`.
 */
export async function refuseOwnResolvers({ hosts, uploadDir, fileNames }: PlanToPrepare): Promise<void> {
  if (hosts.length === 0) return
  const plans = new Set(fileNames.filter(isJmx))
  for (const name of plans) {
    const reason = findBypass(await readFile(join(uploadDir, name)), plans)
    if (reason !== undefined)
      throw new ToolError(`override_hosts: requests could be sent past it: ${name} ${reason}`)
  }
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
