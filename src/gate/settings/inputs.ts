import { readConfigFile } from './config-file.js'
import type { ConfigFile } from './config-file.js'
import { INPUT_TABLE } from './input-table.js'
import type { InputName } from './input-table.js'
import type { BaselinePath } from './baseline-path.js'
import type { PlanFiles } from './plan-files.js'
import type { Parsed } from '../../values/setting-values.js'
import { messageOf } from '../../contract/text.js'

export type { InputName } from './input-table.js'

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
