import { isObject } from './setting-values.js'
import { INPUTS, INPUT_NAMES, mayBeInFile, type InputFacts, type InputName } from './inputs.js'
import { suggestName } from './nearest.js'
import { readYaml } from './yaml-text.js'

/** A key without a value is an error: ignoring it could silently turn a gate into a report. */
const EMPTY = 'has no value; set one, or remove the key'

/** What is wrong with the value of a key, if anything is: its values are read as those of inputs, so as text only. */
function problemOf(
  { inFile, elsewhere = 'set it in the workflow' }: InputFacts,
  given: unknown
): string | undefined {
  if (given === null) return EMPTY
  // Secrets and what the job sets never come from a committed file, and a config file cannot name another.
  if (inFile === 'refused') return `cannot be set in a file; ${elsewhere}`
  const values: unknown[] = [given].flat()
  const areTexts = values.every((value) => typeof value === 'string')
  if (inFile === undefined && (Array.isArray(given) || !areTexts)) return 'must be a plain value'
  if (inFile === 'list' && !areTexts) return 'must be text or a list of text'
  return values.every((value) => typeof value === 'string' && value.trim() === '') ? EMPTY : undefined
}

/** A list is one text, a line each; structures are left to their own readers. */
function valueOf({ inFile }: InputFacts, given: unknown): unknown {
  if (inFile === 'structure') return given
  return Array.isArray(given) ? given.join('\n') : String(given).trim()
}

type Structured = 'grids' | 'regions' | 'results'

interface ConfigFile {
  /** As text, and `grids`, `regions` and `results` also as a list or a map. */
  readonly values: Readonly<
    Partial<Record<Exclude<InputName, Structured>, string> & Record<Structured, unknown>>
  >
  readonly problems: readonly string[]
}

/** Reads a config file whose keys are the inputs. */
export function readConfigFile(yaml: string): ConfigFile {
  const { value, problems: syntax } = readYaml(yaml)
  const advice = (problem: string): string => (problem.startsWith('Tabs') ? '; indent with spaces' : '')
  const odd = syntax.map((problem) => `is not YAML: ${problem}${advice(problem)}`)
  // An empty file is nothing, or an empty text.
  if (odd.length > 0 || value === null || value === '') return { values: {}, problems: odd }
  if (!isObject(value)) return { values: {}, problems: ['must be a map whose keys are the inputs'] }
  const problems: string[] = []
  const values: Record<string, unknown> = {}
  for (const [key, given] of Object.entries(value)) {
    const facts = Object.hasOwn(INPUTS, key) ? INPUTS[key as InputName] : undefined
    const words = facts && problemOf(facts, given)
    if (facts === undefined) problems.push(describeUnknown(key))
    else if (words !== undefined) problems.push(`${key} ${words}`)
    else values[key] = valueOf(facts, given)
  }
  return { values, problems }
}

function describeUnknown(key: string): string {
  const meant = suggestName(key, INPUT_NAMES.filter(mayBeInFile))
  return `unknown key ${key}; ${meant === undefined ? 'keys must be names of inputs' : `did you mean ${meant}?`}`
}
