import { INPUTS, type InputFacts, type InputName, type ValueOf } from '../../contract/inputs.js'
import type { Parsed } from '../../contract/setting-values.js'
import { messageOf } from '../../contract/text.js'
import { SettingsError } from '../errors.js'
import { fillFromEnvironment } from './environment-values.js'
import type { BaselinePath, PlanFiles } from './plan-files.js'
import type { FoundResults } from './result-files.js'

export interface SettingsSources {
  /** The trimmed value of an input; empty if it was not given. */
  read(name: InputName): string
  readConfig(path: string): Promise<string>
  resolveFiles(lines: readonly string[]): Promise<PlanFiles>
  resolveResults(lines: readonly string[]): Promise<FoundResults>
  /** For a `baseline` that is not one of the keywords. */
  resolveBaseline(path: string): Promise<BaselinePath>
  readonly defaultName: string
  /** Where nobody gave any: what the run is for, if that is known. */
  readonly defaultNotes?: string | undefined
  readonly platform: string
  /** Only on the command line, where an empty base-url is not an error: LOADGATE_BASE_URL, or the embedded service if that is empty. */
  readonly environment?: {
    readonly baseUrl: string
    /** The config file is one that nobody named: it may be somebody else's, and does not say where the token goes. */
    readonly isConfigFound?: boolean
    /** LOADGATE_ID_TOKEN_FILE is set; and what is wrong with the file, if anything is. */
    readonly idTokenFile?: { readonly problem: string | undefined } | undefined
  }
  /** In the action: whether GitHub gives the job ID tokens. */
  readonly offersIdTokens?: boolean
  /** Of the environment, for parameters that name one. */
  variable?(name: string): string | undefined
}

/** The inputs of the gate, with its config file if there is one. */
export async function openInputs(sources: SettingsSources): Promise<Inputs<typeof INPUTS>> {
  const inputs = await openSources(sources)
  for (const name of ['override-parameters', 'baseline-parameters'] as const) {
    const { text, problems, variables } = fillFromEnvironment(inputs.text(name), (of) =>
      sources.variable?.(of)
    )
    inputs.replace(name, text)
    inputs.variables.push(...variables)
    for (const problem of problems) inputs.complain(name, problem)
  }
  return inputs
}

async function openSources(sources: SettingsSources): Promise<Inputs<typeof INPUTS>> {
  const read = (name: InputName): string => sources.read(name)
  const path = read('config')
  if (path === '') return new Inputs(INPUTS, read)
  try {
    const text = await sources.readConfig(path)
    const { readConfigFile } = await import('../../contract/config-file.js')
    const { values, problems } = readConfigFile(text)
    const inputs = new Inputs(INPUTS, read, values)
    for (const problem of problems)
      inputs.complain('config', `${path}${/^(is|must) /.test(problem) ? '' : ':'} ${problem}`)
    return inputs
  } catch (thrown) {
    const inputs = new Inputs(INPUTS, read)
    inputs.complain('config', `"${path}" cannot be read: ${messageOf(thrown)}`)
    return inputs
  }
}

type Facts = Readonly<Record<string, InputFacts>>

/** Inputs override the config file, which overrides the defaults; also collects the problems found so far. */
export class Inputs<T extends Facts> {
  readonly problems: string[] = []
  /** Of the environment, that parameters have their values from. */
  readonly variables: string[] = []
  readonly #replaced = new Map<string, string>()

  constructor(
    private readonly table: T,
    private readonly read: (name: keyof T & string) => string,
    private readonly config: Readonly<Record<string, unknown>> = {}
  ) {}

  /** What was given stands for another value. */
  replace(name: keyof T & string, text: string): void {
    this.#replaced.set(name, text)
  }

  complain(name: keyof T & string, problem: string): void {
    this.problems.push(`${name}: ${problem}`)
  }

  isGiven(name: keyof T & string): boolean {
    return this.structured(name) !== ''
  }

  text(name: keyof T & string): string {
    const given = this.structured(name)
    return (typeof given === 'string' ? given : '') || (this.table[name]?.byDefault ?? '')
  }

  optional(name: keyof T & string): string | undefined {
    return this.text(name) || undefined
  }

  lines(name: keyof T & string, separator?: RegExp): string[] {
    return splitLines(this.text(name), separator)
  }

  /** Text, or the value in the config file; empty if it was not given. */
  structured(name: keyof T & string): unknown {
    return this.#replaced.get(name) ?? (this.read(name) || (this.config[name] ?? ''))
  }

  /** What was given, or the default; an invalid value is added to the problems. Undefined if there is neither. */
  take<N extends keyof T & string>(name: N): ValueOf<T[N]> {
    const facts: InputFacts | undefined = this.table[name]
    const { byDefault = '' } = facts ?? {}
    const parse = (text: string): Parsed<unknown> => facts?.kind.parse(text) ?? { ok: true, value: text }
    const value = this.takeAs(name, parse)
    const parsed = value === undefined && byDefault !== '' ? parse(byDefault) : undefined
    return (parsed?.ok ? parsed.value : value) as ValueOf<T[N]>
  }

  /** The same with a reader of its own. */
  takeAs<V>(name: keyof T & string, parse: (text: string) => Parsed<V>): V | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    this.complain(name, `"${parsed.shown ?? text}" is invalid; expected ${parsed.accepted}`)
    return undefined
  }

  checked<S>(settings: S): S {
    if (this.problems.length > 0) throw new SettingsError(this.problems)
    return settings
  }
}

/** Without empty lines and the spaces around them. */
export function splitLines(text: string, separator = /\r?\n/): string[] {
  return text
    .split(separator)
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

export type GateInputs = Inputs<typeof INPUTS>
