import type { Browser } from './browser.js'
import type { DataSource } from './test-data.js'
import type { TestSettings } from './settings.js'

export type Row = unknown
export type StepFunction = (browser: Browser, data: Row) => unknown
export type Condition = (browser: Browser) => unknown

/** A step as the script declares it. */
export interface Step {
  readonly name: string
  readonly options: TestSettings
  readonly run: StepFunction
  readonly isOnce?: boolean
  readonly isSkipped?: boolean
  /** Whether it runs at all in this loop. */
  readonly predicate?: Condition
  /** How often it runs. */
  readonly repeat?: number
  /** It runs as long as this is true. */
  readonly loop?: Condition
}

export interface Recovery {
  readonly run: StepFunction
  readonly tries: number
}

export const HOOKS = ['beforeAll', 'afterAll', 'beforeEach', 'afterEach'] as const
export type Hook = (typeof HOOKS)[number]

/** Everything that one user's instance of the script declares. */
export class Plan {
  readonly steps: Step[] = []
  /** By the name of the step; `global` is for all the others. */
  readonly recoveries = new Map<string, Recovery>()
  readonly hooks: Record<Hook, { readonly run: StepFunction; readonly waitTimeout: unknown }[]> = {
    ...{ beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] }
  }
  readonly sources: DataSource[] = []
  settings: TestSettings = {}
  /** What the script declares without effect, one sentence each. */
  readonly warnings: string[] = []

  /** The row of each source for the next loop; `end` if one of them is exhausted. */
  nextData(): { readonly row: Row } | 'end' {
    const rows = this.sources.map((source) => ({ name: source.name, row: source.next() }))
    if (rows.some(({ row }) => row === undefined)) return 'end'
    const [only] = rows
    if (rows.length <= 1) return { row: nameRow(only?.name, only?.row ?? {}) }
    return { row: Object.assign({}, ...rows.map(({ name, row }) => nameRow(name, row))) as Row }
  }
}

function nameRow(name: string | undefined, row: Row): Row {
  return name === undefined ? row : { [name]: row }
}
