import { readParameters, SECRET_MARK, splitParameters } from './override-parameters.js'

/** Before the name of a variable of the environment, in place of a value. */
const VARIABLE_MARK = 'env:'
/** A config file may come with a pull request: it must not get what else is in the environment, such as tokens of other services. */
const PREFIX = 'LOADGATE_PARAMETER_'
const VARIABLE = new RegExp(`^${PREFIX}[A-Z0-9_]+$`)

/** The name of the variable for a parameter. */
export function variableFor(parameter: string): string {
  return PREFIX + parameter.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
}

/**
 * The parameters with the values of the variables that they name: `-Jpassword=env:LOADGATE_PARAMETER_PASSWORD`. Such a value is secret:
 * neither a file nor a command line contains it.
 */
export function fillFromEnvironment(
  text: string,
  variable: (name: string) => string | undefined
): { readonly text: string; readonly problems: readonly string[]; readonly variables: readonly string[] } {
  if (!text.includes(`=${VARIABLE_MARK}`)) return { text, problems: [], variables: [] }
  const problems: string[] = []
  const variables: string[] = []
  const entries = splitParameters(text).map((entry) => {
    const [parameter] = readParameters(entry)
    if (parameter === undefined || parameter.isMarked || !parameter.value.startsWith(VARIABLE_MARK))
      return entry
    const { kind, name } = parameter
    const from = parameter.value.slice(VARIABLE_MARK.length)
    variables.push(from)
    const value = VARIABLE.test(from) ? variable(from) : undefined
    const problem = problemOf(from, value)
    if (problem !== undefined) problems.push(`-${kind}${name} ${problem}`)
    return `-${kind}${name}=${SECRET_MARK}${value ?? ''}`
  })
  return { text: entries.join(', '), problems, variables }
}

function problemOf(from: string, value: string | undefined): string | undefined {
  if (!VARIABLE.test(from))
    return `names no variable that a parameter can have; expected one in capitals that begins with ${PREFIX}, such as env:${PREFIX}PASSWORD`
  if (value === undefined || value === '')
    return `gets its value from the environment variable ${from}, which is ${value === '' ? 'empty' : 'not set'}; set it: in a terminal with \`export\`, in a workflow with \`env\` from a secret`
  // These separate parameters.
  if (/[\s,]+-[A-Za-z]|^[\s,]|[\s,]$/.test(value))
    return `gets its value from ${from}, which cannot be passed: it begins or ends with a space or a comma, or has one before a hyphen and a letter`
  return undefined
}
