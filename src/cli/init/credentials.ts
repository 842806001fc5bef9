import { isSecretName } from '../../contract/secret-names.js'
import { joinWords } from '../../contract/text.js'
import { variableFor } from '../../gate/settings/environment-values.js'

/** A property that the plan logs in with, and the environment variable that its value comes from. */
export interface Credential {
  readonly property: string
  readonly variable: string
}

/** Without the prefix that all properties of the plan have. */
export function credentialsOf(properties: readonly string[], prefix: string): Credential[] {
  return properties.map((property) => ({ property, variable: variableFor(property.slice(prefix.length)) }))
}

/** For `override-parameters`. */
export function parametersOf(credentials: readonly Credential[]): string {
  return credentials.map(({ property, variable }) => `-J${property}=env:${variable}`).join(', ')
}

/** What to do before the first run: no file contains them. */
export function describeCredentials(credentials: readonly Credential[]): string {
  const names = credentials.map(({ variable }) => variable)
  const it = names.length === 1 ? 'it' : 'them'
  // Bash and zsh have no flag for a prompt in common. What is no secret may be seen.
  const lines = credentials.map(
    ({ property, variable }) =>
      `printf '${property}: '; read -r${isSecretName(property) ? 's' : ''} ${variable} && export ${variable}`
  )
  return `Set ${joinWords(names)}: the plan logs in with ${it}, and no file contains ${it}. Here: \`${lines.join('; ')}\`. For the workflow: ${names.length === 1 ? 'a secret' : 'secrets'} of the repository with the same name${names.length === 1 ? '' : 's'}.`
}
