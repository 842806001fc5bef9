import type { Finding } from './finding.js'
import type { JmxPlan } from './jmx-plan.js'
import type { PlanRequest } from './request.js'

/** JMeter's own properties without a dot in their names; those with one are not judged. */
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

/** Parameters that the plan does not read, which are mostly misspelt. What reads Java's own properties cannot be seen here. */
export function checkParameters(plan: JmxPlan, { parameters }: PlanRequest): Finding[] {
  const names = new Set(parameters.filter(({ kind }) => kind === 'J').map(({ name }) => name))
  return [...names]
    .filter((name) => !name.includes('.') && !OWN.has(name) && !plan.reads(name))
    .map((name) => ({
      level: 'warning',
      message: `-J${name} has no effect: the plan does not read \${__P(${name},…)}. Is the name spelled as in the plan?`
    }))
}
