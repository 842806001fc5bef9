import { flatten } from '../jmx/plan-tree.js'
import type { PlanElement } from '../jmx/plan-tree.js'
import { list, shorten } from './finding.js'
import type { Finding } from './finding.js'
import type { PlanRequest } from './request.js'

const OWN = /^org\.apache\.(?:jmeter|jorphan)\./
const SHOWN = 5

/** Elements that JMeter does not have without a plugin. A disabled one keeps the plan from being loaded too. */
export function checkPlugins(tree: readonly PlanElement[], request: PlanRequest): Finding[] {
  const kinds = [...new Set(flatten(tree).map(({ kind }) => kind))].filter(
    (kind) => kind.includes('.') && !OWN.test(kind)
  )
  const missing = kinds.filter((kind) => request.hasClass(kind) === false)
  const unknown = kinds.filter((kind) => request.hasClass(kind) === undefined)
  const name = request.plan.name
  return [
    ...(missing.length === 0
      ? []
      : [
          {
            level: 'error' as const,
            message: `${name} uses ${tell(missing)}, which this JMeter does not have; install the plugin into your own JMeter and point JMETER_HOME to it.`
          }
        ]),
    ...(unknown.length === 0
      ? []
      : [
          {
            level: 'note' as const,
            message: `${name} uses ${tell(unknown)}: the JMeter that runs it must have the plugin.`
          }
        ])
  ]
}

function tell(kinds: readonly string[]): string {
  const names = kinds.slice(0, SHOWN).map(shorten)
  return list(kinds.length > SHOWN ? [...names, `${kinds.length - SHOWN} more classes`] : names)
}
