import type { Finding } from './finding.js'
import type { JmxPlan } from './jmx-plan.js'
import { settingsOf } from './request.js'
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

/** Parameters that the plan does not read: a misspelling, or `-D` for `-J`. */
export function checkParameters(plan: JmxPlan, request: PlanRequest): Finding[] {
  const given = new Set([
    ...settingsOf(request).keys(),
    ...request.parameters.filter(({ kind }) => kind === 'J').map(({ name }) => name)
  ])
  const unread = new Map(request.parameters.map(({ kind, name }) => [`-${kind}${name}`, { kind, name }]))
  return [...unread].flatMap(([flag, { kind, name }]): Finding[] => {
    if (name.includes('.') || OWN.has(name)) return []
    const isRead = plan.reads(name)
    if (kind === 'J')
      return isRead
        ? []
        : [
            {
              level: 'warning',
              message: `${flag} has no effect: the plan does not read \${__P(${name},…)}. Is the name spelled as in the plan?`
            }
          ]
    const isProperty = new RegExp(`\\b__(?:P|property)\\(\\s*${name}\\s*[,)]`)
    return !plan.isOpaque && !given.has(name) && plan.texts.some((text) => isProperty.test(text))
      ? [
          {
            level: 'warning',
            message: `${flag} sets a system property of Java, which \${__P(${name},…)} in the plan does not read; write -J${name}.`
          }
        ]
      : []
  })
}
