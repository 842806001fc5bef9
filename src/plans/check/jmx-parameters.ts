import { checkBaselineParameters, hasJars } from './baseline-parameters.js'
import type { Finding } from './finding.js'
import { READS_PROPERTIES } from './jmx-plan.js'
import type { JmxPlan } from './jmx-plan.js'
import type { PlanRequest } from './request.js'

/** JMeter's own properties without a dot in their names; of those with one, only parameters of the base are judged. */
const OWN = new Set([
  ...['language', 'cookies', 'remote_hosts', 'sample_variables', 'search_paths', 'plugin_dependency_paths'],
  ...[
    'mode',
    'num_sample_threshold',
    'time_threshold',
    'key_on_threadname',
    'server_port',
    'cacheable_methods'
  ],
  ...['backend_metrics_large_window', 'backend_metrics_window', 'backend_metrics_window_mode', 'not_in_menu'],
  ...['kerberos_jaas_application', 'post_add_content_type_if_missing', 'upgrade_properties', 'loggerpanel']
])

/** Names that begin like these may be JMeter's own too: it has hundreds with a dot. */
const MAYBE_OWN =
  /^(?:https?|server|client|user|proxy|time|tcp|system|beanshell|sampleresult|summariser|(?:jdbc|csv|html|Cookie|cache|HTTP)\w*)\./

/** Parameters that the plan does not read, which are mostly misspelt. What reads Java's own properties cannot be seen here. */
export function checkParameters(plan: JmxPlan, request: PlanRequest): Finding[] {
  const ofBase = new Set(request.baselineParameters?.map(({ name }) => name))
  const names = new Set(request.parameters.filter(({ kind }) => kind === 'J').map(({ name }) => name))
  // A script that reads properties may put their names together.
  const isWhole =
    !plan.isOpaque && !hasJars(request) && !plan.texts.some((text) => READS_PROPERTIES.test(text))
  return [
    ...[...names]
      .filter((name) => !ofBase.has(name) && !name.includes('.') && !OWN.has(name) && !plan.reads(name))
      .map((name): Finding => {
        return {
          level: 'warning',
          message: `-J${name} has no effect: the plan does not read ${exampleOf(name)}. Is the name spelled as in the plan?`
        }
      }),
    ...checkBaselineParameters(request, {
      reads: (name) => plan.mentions(name),
      // Java itself reads some of its properties.
      isWhole: ({ kind, name }) => isWhole && kind === 'J' && !MAYBE_OWN.test(name),
      example: exampleOf,
      isOwn: (name) => OWN.has(name)
    })
  ]
}

/** The same for a plan of which nothing but its text is known. */
export function searchParameters(request: PlanRequest): Finding[] {
  return checkBaselineParameters(request, {
    reads: (name) => request.plan.text.includes(name),
    isWhole: () => false,
    example: exampleOf
  })
}

function exampleOf(name: string): string {
  return `\${__P(${name},…)}`
}
