import { suggestWord } from '../../../contract/nearest.js'
import { capitalize } from '../../../contract/text.js'
import { error, warning, type Finding, type PlanRequest, type Parameter } from './request.js'
import { READS_PROPERTIES, type JmxPlan } from './jmx-plan.js'
import { describeElement, MAYBE_OWN, OF_THE_TOOL, readProperties } from './jmx-properties.js'

/** JMeter's own properties without a dot in their names. */
const OWN = new Set([
  ...['language', 'cookies', 'remote_hosts', 'sample_variables', 'search_paths', 'plugin_dependency_paths'],
  ...['mode', 'num_sample_threshold', 'time_threshold', 'key_on_threadname', 'server_port'],
  ...[
    'cacheable_methods',
    'backend_metrics_large_window',
    'backend_metrics_window',
    'backend_metrics_window_mode',
    'not_in_menu'
  ],
  ...['kerberos_jaas_application', 'post_add_content_type_if_missing', 'upgrade_properties', 'loggerpanel']
])

/** Parameters that the plan does not read, which are mostly misspelt. What reads Java's own properties cannot be seen here. */
export function checkParameters(plan: JmxPlan, request: PlanRequest): Finding[] {
  const ofBase = new Set(request.baselineParameters?.map(({ name }) => name))
  const names = new Set(request.parameters.filter(({ kind }) => kind === 'J').map(({ name }) => name))
  // A script that reads properties may put their names together.
  const isWhole =
    !plan.isOpaque && !hasJars(request) && !plan.texts.some((text) => READS_PROPERTIES.test(text))
  return [
    ...[...names]
      .filter((name) => !ofBase.has(name) && !OWN.has(name) && !plan.reads(name))
      .flatMap((name) => {
        const advice = adviseOn(name, plan)
        // JMeter itself may read one with a dot.
        if (advice === undefined && name.includes('.')) return []
        const unread = `-J${name} has no effect: the plan does not read ${exampleOf(name)}.`
        return warning(`${unread} ${advice ?? 'Is the name spelled as in the plan?'}`)
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

/** What was probably meant: a variable of that name, which is no property, or a property of nearly that name. */
function adviseOn(name: string, plan: JmxPlan): string | undefined {
  const user = plan.enabled.find(({ element }) => element.text.includes(`\${${name}}`))?.element
  if (user !== undefined)
    return `${capitalize(describeElement(user))} reads the variable \${${name}}, which is no property: write ${exampleOf(name)} there.`
  const read = readProperties(plan)
  const meant = suggestWord(
    name,
    [...read.keys()].filter((other) => !plan.properties.has(other))
  )
  const element = meant === undefined ? undefined : read.get(meant)
  return meant === undefined || element === undefined
    ? undefined
    : `Did you mean -J${meant}, which ${describeElement(element)} reads?`
}

/** The same for a plan that could not be read: only its text is searched. */
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

interface Sight {
  /** Whether the part of the plan that can be seen may read the parameter. */
  readonly reads: (name: string) => boolean
  /** Whether all of the plan can be seen, so that nothing else may read it either. */
  readonly isWhole: (parameter: Parameter) => boolean
  readonly example: (name: string) => string
  /** Those of the tool itself, which no plan has to read. */
  readonly isOwn?: (name: string) => boolean
}

/** Side by side, parameters of the base that the plan does not read: base and head would be the same server, and every line would hold. */
export function checkBaselineParameters(
  { plan, baselineParameters = [] }: PlanRequest,
  { reads, isWhole, example, isOwn = () => false }: Sight
): Finding[] {
  const named = new Map(
    baselineParameters.map((parameter) => [`-${parameter.kind}${parameter.name}`, parameter])
  )
  return [...named]
    .filter(([, { name }]) => !OF_THE_TOOL.test(name) && !isOwn(name) && !reads(name))
    .map(([flag, parameter]): Finding => {
      const unread = `${plan.name} does not read ${example(parameter.name)}`
      const same = 'base and head would be the same server, and every comparison would hold'
      const surely = `baseline-parameters: ${flag} has no effect: ${unread}, so ${same}. Is the name spelled as in the plan?`
      const maybe = `baseline-parameters: ${flag} may have no effect: as far as it can be read here, ${unread}. If nothing else reads it, ${same}.`
      return isWhole(parameter) ? { ...error(surely), isInput: true } : warning(maybe)
    })
}

/** Code that cannot be read here. */
export function hasJars({ plan, others }: PlanRequest): boolean {
  return [plan, ...others].some(({ name }) => /\.jar$/i.test(name))
}
