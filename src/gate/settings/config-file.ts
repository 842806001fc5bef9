import { suggestName } from '../../values/nearest.js'
import { readYaml } from '../../values/yaml-text.js'

/** Secrets and what the job sets never come from a committed file, and a config file cannot name another. */
export const REFUSED_KEYS: readonly string[] = ['token', 'github-token', 'matrix', 'config']
const SET_ELSEWHERE = 'set it in the workflow'
const INSTEAD: Readonly<Record<string, string>> = {
  token: `${SET_ELSEWHERE}, from a secret, or set LOADGATE_TOKEN on the command line`
}
/** Text, or a list of it. */
export const LIST_KEYS: readonly string[] = ['files', 'thresholds', 'tags']

export interface ConfigFile {
  /** The settings with text values. */
  readonly values: ReadonlyMap<string, string>
  /** `grids` as it is in the file, text or a list. */
  readonly grids: unknown
  /** `regions` as it is in the file, text or a map. */
  readonly regions: unknown
  readonly problems: readonly string[]
}

/** Reads a config file whose keys are the inputs. */
export function readConfigFile(text: string, inputNames: readonly string[]): ConfigFile {
  const values = new Map<string, string>()
  const problems: string[] = []
  let grids: unknown
  let regions: unknown
  for (const [key, value] of entriesOf(text, problems)) {
    if (REFUSED_KEYS.includes(key))
      problems.push(`${key} cannot be set in a file; ${INSTEAD[key] ?? SET_ELSEWHERE}`)
    else if (!inputNames.includes(key)) problems.push(describeUnknown(key, inputNames))
    else if (isEmpty(value)) problems.push(`${key} has no value; set one, or remove the key`)
    else if (key === 'grids') grids = value
    else if (key === 'regions') regions = value
    else if (typeof value === 'string') values.set(key, value.trim())
    else if (LIST_KEYS.includes(key) && isListOfText(value)) values.set(key, value.join('\n'))
    else
      problems.push(`${key} must be ${LIST_KEYS.includes(key) ? 'text or a list of text' : 'a plain value'}`)
  }
  return { values, grids, regions, problems }
}

function describeUnknown(key: string, inputNames: readonly string[]): string {
  const meant = suggestName(
    key,
    inputNames.filter((name) => !REFUSED_KEYS.includes(name))
  )
  return `unknown key ${key}; ${meant === undefined ? 'keys must be names of inputs' : `did you mean ${meant}?`}`
}

function entriesOf(text: string, problems: string[]): [string, unknown][] {
  const { value, problems: found } = readYaml(text)
  const advice = (problem: string): string => (problem.startsWith('Tabs') ? '; indent with spaces' : '')
  problems.push(...found.map((problem) => `is not YAML: ${problem}${advice(problem)}`))
  // An empty file parses to nothing, or to an empty text.
  if (value === null || value === undefined || value === '') return []
  if (typeof value === 'object' && !Array.isArray(value)) return Object.entries(value)
  problems.push('must be a map whose keys are the inputs')
  return []
}

/** A key without a value is an error: ignoring it could silently turn a gate into a report. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  const texts = Array.isArray(value) ? value : [value]
  return texts.every((text) => typeof text === 'string' && text.trim() === '')
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string')
}
