import { error, warning, type Finding } from './request.js'

/** What to write instead of an option of the tool. */
const INSTEAD: Readonly<Record<string, string>> = {
  q: 'a file of properties; list it under files as user.properties, or write each of them as -Jname=value',
  p: 'a file of properties; list it under files as user.properties, or write each of them as -Jname=value',
  S: 'a file of system properties; write each of them as -Dname=value',
  G: 'a property for remote servers; write -Jname=value, which every node gets',
  R: 'a list of remote servers; the grids say how many nodes there are',
  r: 'a switch for remote servers; the grids say how many nodes there are',
  X: 'a switch for remote servers; remove it',
  L: "a level of the tool's log; remove it",
  H: 'a proxy; write -Dhttp.proxyHost=… and -Dhttps.proxyHost=…',
  P: "a proxy's port; write -Dhttp.proxyPort=… and -Dhttps.proxyPort=…",
  N: 'hosts without a proxy; write -Dhttp.nonProxyHosts=…',
  e: 'a variable of k6; write -Jname=value',
  t: 'the plan, which is the first of files; remove it',
  l: 'a file of results, which the run has already; remove it',
  j: "the tool's log, which the run has already; remove it"
}
const EXPECTED = 'is not -Jname=value or -Dname=value'

/**
 * Entries of override-parameters that are not parameters: the embedded service refuses a run with one, and other services may. They may
 * contain a secret, so they are never shown completely.
 */
export function checkOddParameters(
  entries: readonly string[],
  { isEmbedded }: { readonly isEmbedded: boolean }
): Finding[] {
  const words = [...new Set(entries.map(describeEntry))]
  return words.map((word) =>
    isEmbedded
      ? { ...error(`override-parameters: ${word}. The run would be refused.`), isInput: true }
      : warning(`override-parameters: ${word}. The service may refuse the run.`)
  )
}

function describeEntry(entry: string): string {
  const [, letter = ''] = /^-([A-Za-z])/.exec(entry) ?? []
  const [property] = /^-[JD][\w.-]*/.exec(entry) ?? []
  if (property !== undefined)
    return entry === property && property.length > 2
      ? `${property} has no value; write ${property}=…`
      : `an entry with -${letter} ${EXPECTED}; a name has letters, digits, dots, - and _`
  const [name] = /^[A-Za-z_][\w.-]*(?==)/.exec(entry) ?? []
  if (name !== undefined) return `${name}=… ${EXPECTED}; write -J${name}=…`
  if (letter === '') return `an entry ${EXPECTED}`
  const instead = INSTEAD[letter]
  return `-${letter} ${EXPECTED}${instead === undefined ? '; remove it' : `: it is ${instead}`}`
}
