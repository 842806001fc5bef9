import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { decodePlan } from '../../../analysis/plans/check/request.js'
import { isJmx, readPlan, type PlanElement } from '../../../analysis/plans/jmx/plan-tree.js'
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
  const enabled = enabledAmong(elements)
  const resolver = enabled.find(
    ({ kind, properties }) =>
      kind.endsWith('DNSCacheManager') &&
      (properties.get('DNSCacheManager.isCustomResolver') ?? 'false') !== 'false'
  )
  if (resolver !== undefined)
    return `has the DNS Cache Manager "${resolver.name}" with a custom resolver; disable it, or leave override_hosts out`
  const included = enabled
    .filter(({ kind }) => kind.endsWith('IncludeController'))
    .map(({ properties }) => properties.get('IncludeController.includepath') ?? '')
    .find((path) => !plans.has(basename(path.replaceAll('\\', '/'))))
  return included === undefined
    ? undefined
    : `includes "${included}", which is not among the uploaded .jmx files`
}

function enabledAmong(elements: readonly PlanElement[]): PlanElement[] {
  return elements
    .filter(({ isEnabled }) => isEnabled)
    .flatMap((element) => [element, ...enabledAmong(element.children)])
}
