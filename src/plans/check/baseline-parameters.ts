import type { Finding } from './finding.js'
import type { Parameter, PlanRequest } from './request.js'

/** What can be seen of a plan. */
interface Sight {
  /** Whether the part of the plan that can be seen may read the parameter. */
  readonly reads: (name: string) => boolean
  /** Nothing of the plan is hidden, so that nothing else may read it either. */
  readonly isWhole: (parameter: Parameter) => boolean
  /** How a plan reads it. */
  readonly example: (name: string) => string
  /** Those of the tool itself, which no plan has to read. */
  readonly isOwn?: (name: string) => boolean
}

/** Properties that JMeter, Gatling, drivers of browsers, Java and a rehearsal read themselves. */
const OF_THE_TOOL =
  /^(?:rehearsal|jmeter|httpclient\d?|httpsampler|gatling|webdriver|javax?|jdk|sun|org\.apache)\.|^https?\.(?:proxy|nonProxyHosts)/

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
      return isWhole(parameter)
        ? {
            level: 'error',
            isInput: true,
            message: `baseline-parameters: ${flag} has no effect: ${unread}, so that ${same}. Is the name spelled as in the plan?`
          }
        : {
            level: 'warning',
            message: `baseline-parameters: ${flag} may have no effect: as far as it can be looked into, ${unread}. If nothing else reads it, ${same}.`
          }
    })
}

/** Code that cannot be looked into. */
export function hasJars({ plan, others }: PlanRequest): boolean {
  return [plan, ...others].some(({ name }) => /\.jar$/i.test(name))
}
