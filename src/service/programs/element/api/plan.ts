import { readFileSync } from 'node:fs'
import type { Browser } from './browser.js'
import type { TestSettings } from './settings.js'
import { findUploaded } from './element-handle.js'

export type Row = unknown
export type StepFunction = (browser: Browser, data: Row) => unknown
export type Condition = (browser: Browser) => unknown

export interface Step {
  readonly name: string
  readonly options: TestSettings
  readonly run: StepFunction
  readonly isOnce?: boolean
  readonly isSkipped?: boolean
  readonly predicate?: Condition
  readonly repeat?: number
  readonly loop?: Condition
}

export const HOOKS = ['beforeAll', 'afterAll', 'beforeEach', 'afterEach'] as const
export type Hook = (typeof HOOKS)[number]

/** Everything that one user's instance of the script declares. */
export class Plan {
  readonly steps: Step[] = []
  /** By the name of the step; `global` is for all the others. */
  readonly recoveries = new Map<string, { readonly run: StepFunction; readonly tries: number }>()
  readonly hooks: Record<Hook, { readonly run: StepFunction; readonly waitTimeout: unknown }[]> = {
    ...{ beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] }
  }
  readonly sources: DataSource[] = []
  settings: TestSettings = {}
  /** What the script declares without effect, one sentence each. */
  readonly warnings: string[] = []

  /** The row of each source for the next loop; `end` if one of them is exhausted. */
  nextData(): { readonly row: Row } | 'end' {
    const rows = this.sources.map((source) => source.next())
    if (rows.includes(undefined)) return 'end'
    const named = this.sources.map(({ name }, at) => (name === undefined ? rows[at] : { [name]: rows[at] }))
    return { row: named.length === 1 ? (named[0] ?? {}) : (Object.assign({}, ...named) as Row) }
  }
}

type Filter = (row: Row, index: number, browserId: number) => unknown

/** One source of test data; every loop of a user gets the next row. */
export class DataSource {
  name: string | undefined
  #isCircular = true
  #isShuffled = false
  readonly #filters: Filter[] = []
  #rows: Row[] | undefined
  #next = 0

  constructor(
    private readonly read: () => Row[],
    private readonly browserId: number
  ) {}

  as(name: string): this {
    this.name = name
    return this
  }

  circular(isOn = true): this {
    this.#isCircular = isOn
    return this
  }

  shuffle(isOn = true): this {
    this.#isShuffled = isOn
    return this
  }

  filter(filter: Filter): this {
    this.#filters.push(filter)
    return this
  }

  /** Reads the data, so that a missing file is found before the load starts. */
  open(): Row[] {
    this.#rows ??= this.#arrange(this.read())
    return this.#rows
  }

  next(): Row {
    const rows = this.open()
    if (this.#next >= rows.length && this.#isCircular) this.#next = 0
    return rows[this.#next++]
  }

  #arrange(all: Row[]): Row[] {
    const rows = this.#filters.reduce(
      (rest, filter) => rest.filter((row, index) => filter(row, index, this.browserId)),
      all
    )
    return this.#isShuffled ? shuffle(rows) : rows
  }
}

/** `TestData` as a script imports it. */
export function createTestData(plan: Plan, place: { folder: string; browserId: number }): unknown {
  const add = (read: () => Row[]): DataSource => {
    const source = new DataSource(read, place.browserId)
    plan.sources.push(source)
    return source
  }
  const readText = (name: string): string => {
    try {
      return readFileSync(findUploaded(place.folder, name), 'utf8')
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException
      throw new Error(
        code === 'ENOENT'
          ? `the data file ${name} is missing: upload it with the script`
          : `the data file ${name} could not be read: ${(thrown as Error).message}`,
        { cause: thrown }
      )
    }
  }
  return {
    fromCSV: (name: string, separator?: string) => add(() => parseCsv(readText(name), separator)),
    fromJSON: (name: string) => add(() => readJson(name, readText(name))),
    fromData: (rows: readonly Row[]) => add(() => [...rows])
  }
}

function readJson(name: string, text: string): Row[] {
  try {
    const value = JSON.parse(text) as unknown
    return Array.isArray(value) ? value : [value]
  } catch (thrown) {
    throw new Error(`the data file ${name} is not JSON: ${(thrown as Error).message}`, { cause: thrown })
  }
}

function shuffle(rows: readonly Row[]): Row[] {
  const drawn = rows.map((row) => ({ row, lot: Math.random() }))
  return drawn.sort((one, other) => one.lot - other.lot).map(({ row }) => row)
}

/** Reads CSV with a header line into one object per line; quoted fields may contain the separator, quotes and line ends. */
export function parseCsv(text: string, separator = ','): Record<string, string>[] {
  const [header, ...lines] = splitFields(text.replace(/^\uFEFF/, ''), separator)
  const names = (header ?? []).map((name) => name.trim())
  return lines.map((fields) => Object.fromEntries(names.map((name, index) => [name, fields[index] ?? ''])))
}

/** A field is any mixture of plain and quoted text; what is quoted up to the end of the file counts, too. */
function splitFields(text: string, separator: string): string[][] {
  const ends = separator.replace(/[^\w\s]/g, '\\$&')
  const field = new RegExp(`((?:"(?:[^"]|"")*(?:"|$)|[^"\\n${ends}])*)(${ends}|\\n|$)`, 'g')
  const rows: string[][] = [[]]
  for (const [, raw = '', end = ''] of text.matchAll(field)) {
    const plain = raw.replace(
      /"((?:[^"]|"")*)(?:"|$)|\r/g,
      (_, quoted?: string) => quoted?.replaceAll('""', '"') ?? ''
    )
    rows.at(-1)?.push(plain)
    if (end === '') break
    if (end === '\n') rows.push([])
  }
  // An empty line is not a row.
  return rows.filter((row) => row.length > 1 || row[0] !== '')
}
