import { readFileSync } from 'node:fs'
import { parseCsv } from './csv.js'
import { findUploaded } from './files.js'
import type { Plan, Row } from './plan.js'

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

  /** The next row; undefined if there is none. */
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

/** Fisher and Yates. */
function shuffle(rows: readonly Row[]): Row[] {
  const mixed = [...rows]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1))
    ;[mixed[last], mixed[other]] = [mixed[other], mixed[last]]
  }
  return mixed
}
