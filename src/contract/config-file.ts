import * as v from 'valibot'
import { isObject } from './decode.js'
import { INPUTS, INPUT_NAMES, mayBeInFile, type InputFacts, type InputName } from './inputs.js'
import { suggestName } from './nearest.js'
import { readYaml } from './yaml-text.js'

/** A key without a value is an error: ignoring it could silently turn a gate into a report. */
const EMPTY = 'has no value; set one, or remove the key'
const text = v.pipe(v.string('must be a plain value'), v.trim(), v.nonEmpty(EMPTY))
const texts = v.pipe(
  v.array(v.string('must be text or a list of text'), 'must be text or a list of text'),
  v.check((list) => list.some((each) => each.trim() !== ''), EMPTY),
  v.transform((list) => list.join('\n'))
)
const listOrText = v.lazy((given) => (typeof given === 'string' ? text : texts))
/** What its own reader understands. */
const structure = v.pipe(
  v.unknown(),
  v.check((given) => ![given].flat().every((each) => typeof each === 'string' && each.trim() === ''), EMPTY)
)

/** Secrets and what the job sets never come from a committed file, and a config file cannot name another. */
const refused = ({ elsewhere = 'set it in the workflow' }: InputFacts) =>
  v.never(`cannot be set in a file; ${elsewhere}`)

const SHAPES = { text, list: listOrText, structure }

function schemaOf(facts: InputFacts): v.GenericSchema {
  const schema = facts.inFile === 'refused' ? refused(facts) : SHAPES[facts.inFile ?? 'text']
  return v.optional(v.lazy((given) => (given === null ? v.custom(() => false, EMPTY) : schema)))
}

/** The config file, read as text only: its keys are the inputs, whose values are read as those of inputs. */
const configSchema = v.looseObject(
  Object.fromEntries(INPUT_NAMES.map((name) => [name, schemaOf(INPUTS[name])]))
)

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
  const { value, problems } = readYaml(yaml)
  const advice = (problem: string): string => (problem.startsWith('Tabs') ? '; indent with spaces' : '')
  const odd = problems.map((problem) => `is not YAML: ${problem}${advice(problem)}`)
  // An empty file is nothing, or an empty text.
  if (odd.length > 0 || value === null || value === '') return { values: {}, problems: odd }
  if (!isObject(value)) return { values: {}, problems: ['must be a map whose keys are the inputs'] }
  const { issues = [], output } = v.safeParse(configSchema, value)
  const refusals = new Map(issues.map((issue) => [String(issue.path?.[0].key), issue.message]))
  const found = Object.keys(value).flatMap((key) => {
    if (!Object.hasOwn(INPUTS, key)) return [describeUnknown(key)]
    const words = refusals.get(key)
    return words === undefined ? [] : [`${key} ${words}`]
  })
  const values = Object.entries(output as object).filter(([key]) => !refusals.has(key) && key in INPUTS)
  return { values: Object.fromEntries(values), problems: found }
}

function describeUnknown(key: string): string {
  const meant = suggestName(key, INPUT_NAMES.filter(mayBeInFile))
  return `unknown key ${key}; ${meant === undefined ? 'keys must be names of inputs' : `did you mean ${meant}?`}`
}
