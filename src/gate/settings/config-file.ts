import { readYaml } from './yaml-text.js'

/** Never taken from a file that is committed, or that would name itself. */
const REFUSED_KEYS = ['token', 'github-token', 'matrix', 'config']
const LIST_KEYS = ['files', 'thresholds', 'tags']

export interface ConfigFile {
  /** The settings that are text. */
  readonly values: ReadonlyMap<string, string>
  /** `grids` as the file holds it, text or list. */
  readonly grids: unknown
  readonly problems: readonly string[]
}

/** Reads a config file whose keys are the inputs. */
export function readConfigFile(text: string, inputNames: readonly string[]): ConfigFile {
  const values = new Map<string, string>()
  const problems: string[] = []
  let grids: unknown
  for (const [key, value] of entriesOf(text, problems)) {
    if (REFUSED_KEYS.includes(key))
      problems.push(`the key ${key} is not taken from a file; give it in the workflow`)
    else if (!inputNames.includes(key))
      problems.push(`unknown key ${key}; accepted are the names of the inputs`)
    else if (isEmpty(value)) problems.push(`${key} has no value; give one, or remove the key`)
    else if (key === 'grids') grids = value
    else if (typeof value === 'string') values.set(key, value.trim())
    else if (LIST_KEYS.includes(key) && isListOfText(value)) values.set(key, value.join('\n'))
    else
      problems.push(`${key} must be ${LIST_KEYS.includes(key) ? 'text or a list of text' : 'a plain value'}`)
  }
  return { values, grids, problems }
}

function entriesOf(text: string, problems: string[]): [string, unknown][] {
  const { value, problems: found } = readYaml(text)
  problems.push(...found.map((problem) => `is not YAML: ${problem}`))
  // An empty file gives nothing, or an empty text.
  if (value === null || value === undefined || value === '') return []
  if (typeof value === 'object' && !Array.isArray(value)) return Object.entries(value)
  problems.push('must be a map whose keys are the inputs')
  return []
}

/** A key that somebody wrote and left empty: dropping it silently could turn a gate into a report. */
function isEmpty(value: unknown): boolean {
  if (value === null || value === undefined) return true
  const texts = Array.isArray(value) ? value : [value]
  return texts.every((text) => typeof text === 'string' && text.trim() === '')
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string')
}
