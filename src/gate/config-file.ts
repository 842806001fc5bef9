import { parse } from 'yaml'

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
    else if (key === 'grids') grids = value
    else if (typeof value === 'string') values.set(key, value.trim())
    else if (LIST_KEYS.includes(key) && isListOfText(value)) values.set(key, value.join('\n'))
    else
      problems.push(`${key} must be ${LIST_KEYS.includes(key) ? 'text or a list of text' : 'a plain value'}`)
  }
  return { values, grids, problems }
}

function entriesOf(text: string, problems: string[]): [string, unknown][] {
  try {
    const parsed: unknown = parse(text, { schema: 'failsafe' })
    // An empty file parses to nothing, or to an empty text.
    if (parsed === null || parsed === undefined || parsed === '') return []
    if (typeof parsed === 'object' && !Array.isArray(parsed)) return Object.entries(parsed)
    problems.push('must be a map whose keys are the inputs')
  } catch (thrown) {
    problems.push(
      `is not YAML: ${thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown)}`
    )
  }
  return []
}

function isListOfText(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string')
}
