import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { isGridRecord } from './check-records.js'
import type { GridRecord } from './records.js'
import { parseRecord } from './run-table.js'

/** Grids in the database. */
export class GridTable {
  readonly #database: DatabaseSync
  readonly #log: (line: string) => void
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #find: StatementSync
  readonly #told = new Set<string>()

  constructor(database: DatabaseSync, log: (line: string) => void) {
    this.#database = database
    this.#log = log
    this.#insert = database.prepare('INSERT INTO grids (id, is_active, record) VALUES (?, ?, ?)')
    this.#update = database.prepare('UPDATE grids SET is_active = ?, record = ? WHERE id = ?')
    this.#find = database.prepare('SELECT id, record FROM grids WHERE id = ?')
  }

  insert(grid: GridRecord): void {
    this.#insert.run(grid.id, isActive(grid) ? 1 : 0, JSON.stringify(grid))
  }

  /** A grid that was deleted meanwhile, with its run, stays deleted. */
  update(grid: GridRecord): void {
    this.#update.run(isActive(grid) ? 1 : 0, JSON.stringify(grid), grid.id)
  }

  remove(id: string): void {
    this.#database.prepare('DELETE FROM grids WHERE id = ?').run(id)
  }

  find(id: string): GridRecord | undefined {
    const row = this.#find.get(id)
    return row && this.#read(row)
  }

  active(): GridRecord[] {
    const rows = this.#database
      .prepare('SELECT id, record FROM grids WHERE is_active = 1 ORDER BY rowid')
      .all()
    return rows.flatMap((row) => this.#read(row) ?? [])
  }

  #read({ id, record }: Record<string, unknown>): GridRecord | undefined {
    const grid = parseRecord(record)
    if (isGridRecord(grid) && grid.id === id) return grid
    if (!this.#told.has(String(id)))
      this.#log(`the record of grid ${String(id)} was not written by this service, and is ignored`)
    this.#told.add(String(id))
    return undefined
  }
}

export function isActive({ status }: GridRecord): boolean {
  return status !== 'stopped'
}
