import type { Parsed } from '../../contract/setting-values.js'
import { messageOf } from '../../contract/text.js'
import { suggestName } from '../../contract/nearest.js'
import { readYaml } from '../../contract/yaml-text.js'
import { INPUT_TABLE, type InputName } from './input-table.js'
import type { BaselinePath } from './baseline-path.js'
import type { PlanFiles } from './plan-files.js'

export const INPUT_NAMES = Object.keys(INPUT_TABLE) as InputName[]

/** An input that is not listed has no default. */
export const DEFAULTS: Readonly<Partial<Record<InputName, string>>> = Object.fromEntries(
  INPUT_NAMES.flatMap((name) => {
    const { byDefault } = INPUT_TABLE[name]
    return byDefault === undefined ? [] : [[name, byDefault]]
  })
)

/** What reading the settings depends on. */
export interface SettingsSources {
  /** The trimmed value of an input; empty if it was not given. */
  read(name: InputName): string
  readConfig(path: string): Promise<string>
  resolveFiles(lines: readonly string[]): Promise<PlanFiles>
  /** For a `baseline` that is not one of the keywords. */
  resolveBaseline(path: string): Promise<BaselinePath>
  readonly defaultName: string
  readonly platform: string
  /** Of the command line only, where an empty base-url is not an error: LOADGATE_BASE_URL, or the embedded service if that is empty. */
  readonly environment?: { readonly baseUrl: string }
}

const NO_CONFIG = { values: new Map<string, string>(), grids: undefined, regions: undefined }

/** Inputs override the config file, which overrides the defaults; also collects the problems found so far. */
export class Inputs {
  readonly problems: string[] = []

  private constructor(
    private readonly sources: SettingsSources,
    private readonly config: Omit<ConfigFile, 'problems'>
  ) {}

  static async open(sources: SettingsSources): Promise<Inputs> {
    const path = sources.read('config')
    if (path === '') return new Inputs(sources, NO_CONFIG)
    try {
      const { problems, ...config } = readConfigFile(await sources.readConfig(path), INPUT_NAMES)
      const inputs = new Inputs(sources, config)
      for (const problem of problems)
        inputs.complain('config', `${path}${/^(is|must) /.test(problem) ? '' : ':'} ${problem}`)
      return inputs
    } catch (thrown) {
      const inputs = new Inputs(sources, NO_CONFIG)
      inputs.complain('config', `"${path}" cannot be read: ${messageOf(thrown)}`)
      return inputs
    }
  }

  complain(name: InputName, problem: string): void {
    this.problems.push(`${name}: ${problem}`)
  }

  isGiven(name: InputName): boolean {
    if (name === 'grids' || name === 'regions') return this.structured(name) !== ''
    return this.given(name) !== ''
  }

  text(name: InputName): string {
    return this.given(name) || (DEFAULTS[name] ?? '')
  }

  optional(name: InputName): string | undefined {
    return this.text(name) || undefined
  }

  /** Text, or the value in the config file; empty if it was not given. */
  structured(name: 'grids' | 'regions'): unknown {
    return this.sources.read(name) || (this.config[name] ?? '')
  }

  /** Undefined if the input is empty or invalid; an invalid one is added to the problems. */
  take<T>(name: InputName, parse: (text: string) => Parsed<T>): T | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    this.complain(name, `"${parsed.shown ?? text}" is invalid; expected ${parsed.accepted}`)
    return undefined
  }

  private given(name: InputName): string {
    return this.sources.read(name) || (this.config.values.get(name) ?? '')
  }
}

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
