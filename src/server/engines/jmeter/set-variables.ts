import { decodeXml } from '../../../plans/jmx/xml.js'
import { type PlanElement, flatten, readPlanTree } from '../../../plans/jmx/plan-tree.js'

/** JMeter defines these itself. */
const BUILT_IN = /^(?:START\.|TESTSTART\.|JMeter|__jm__)/
const SCRIPT = /^(?:JSR223|BeanShell|BSF)/
const SCRIPT_FILE = /^(?:filename|BeanShell\w*\.filename|BSF\w*\.filename)$/
/** Plugins that bring variables into a plan, by what they are called. */
const PLUGIN_OF_VARIABLES = /\..*(?:variable|dataset|csv|config)/i

/**
 * Whether anything but the tables of the plan may give a variable its value: a data set, User Parameters, a script, a function, or what
 * cannot be looked into. It says yes in doubt.
 */
export function canBeSet(name: string, plan: string): boolean {
  const elements = readPlanTree(plan)
  return (
    BUILT_IN.test(name) ||
    elements === undefined ||
    flatten(elements).some((element) => mayBring(element, name)) ||
    hasUserParameter(plan, name) ||
    isNamedByFunction(plan, name)
  )
}

function mayBring({ kind, isEnabled, properties }: PlanElement, name: string): boolean {
  if (!isEnabled) return false
  if (kind === 'IncludeController' || PLUGIN_OF_VARIABLES.test(kind)) return true
  if (kind === 'CSVDataSet') {
    const names = properties.get('variableNames') ?? ''
    // Without names they are in the file.
    return names.trim() === '' || hasWord(names, name)
  }
  if (!SCRIPT.test(kind)) return false
  return [...properties].some(([property, value]) =>
    SCRIPT_FILE.test(property) ? value.trim() !== '' : hasWord(value, name)
  )
}

function hasUserParameter(plan: string, name: string): boolean {
  return [...plan.matchAll(/<UserParameters\b[^]*?<\/UserParameters>/g)].some(([text]) =>
    hasWord(decodeXml(text), name)
  )
}

/** Many functions take the name of a variable for their result. */
function isNamedByFunction(plan: string, name: string): boolean {
  return [...plan.matchAll(/\$\{__[^<]*/g)].some(([text]) => hasWord(decodeXml(text), name))
}

/** Using it is not setting it. */
function hasWord(text: string, name: string): boolean {
  const word = name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
  return new RegExp(`(?<![\\w])${word}(?![\\w])`).test(text.replaceAll(`\${${name}}`, ''))
}
