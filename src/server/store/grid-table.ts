import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type GridRecord, isGridRecord } from './records.js'
import { createRecordReader } from './record-reader.js'

/** Grids in the database. */
export class GridTable {
  readonly #database: DatabaseSync
  readonly #read: (row: Record<string, unknown>) => GridRecord | undefined
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #find: StatementSync

  constructor(database: DatabaseSync, log: (line: string) => void) {
    this.#database = database
    this.#read = createRecordReader('grid', isGridRecord, log)
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
}

export function isActive({ status }: GridRecord): boolean {
  return status !== 'stopped'
}
