import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import {
  isRunRecord,
  isSettled,
  type RunRecord,
  type GridRecord,
  isGridRecord
} from '../../contract/records.js'
import type { RunFilter } from './store.js'

/** Runs in the database: what lists ask for in columns, the whole as JSON. */
export class RunTable {
  readonly #database: DatabaseSync
  readonly #read: (row: Record<string, unknown>) => RunRecord | undefined
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #insertRecord: StatementSync
  readonly #updateRecord: StatementSync
  readonly #insertTag: StatementSync
  readonly #find: StatementSync
  readonly #lists = new Map<string, StatementSync>()

  constructor(database: DatabaseSync, log: (line: string) => void) {
    this.#database = database
    this.#read = createRecordReader('run', isRunRecord, log)
    this.#insert = database.prepare(
      `INSERT INTO runs (sequence, id, status, is_unsettled, name, project, user_name, created_ms)
       VALUES (:sequence, :id, :status, :isUnsettled, :name, :project, :user, :createdMs)`
    )
    this.#update = database.prepare(
      'UPDATE runs SET status = :status, is_unsettled = :isUnsettled WHERE id = :id RETURNING sequence'
    )
    this.#insertRecord = database.prepare('INSERT INTO run_records (sequence, record) VALUES (?, ?)')
    this.#updateRecord = database.prepare('UPDATE run_records SET record = ? WHERE sequence = ?')
    this.#insertTag = database.prepare('INSERT OR IGNORE INTO run_tags (tag, sequence) VALUES (?, ?)')
    this.#find = database.prepare(
      'SELECT id, record FROM runs JOIN run_records USING (sequence) WHERE id = ?'
    )
  }

  insert(run: RunRecord): void {
    const { sequence, request } = run
    this.#insert.run({
      ...{ sequence, id: run.id, status: run.status, isUnsettled: isSettled(run) ? 0 : 1 },
      ...{ name: foldName(request.name ?? ''), project: request.project, user: run.user?.name ?? null },
      createdMs: Math.trunc(run.createdMs)
    })
    this.#insertRecord.run(sequence, JSON.stringify(run))
    for (const tag of request.tags) this.#insertTag.run(tag, sequence)
  }

  /** A run that was deleted meanwhile stays deleted. */
  update(run: RunRecord): void {
    const row = this.#update.get({ id: run.id, status: run.status, isUnsettled: isSettled(run) ? 0 : 1 })
    if (row) this.#updateRecord.run(JSON.stringify(run), row.sequence as number)
  }

  find(id: string): RunRecord | undefined {
    const row = this.#find.get(id)
    return row && this.#read(row)
  }

  /** Oldest first. */
  unsettled(): RunRecord[] {
    const rows = this.#database
      .prepare(
        'SELECT id, record FROM runs JOIN run_records USING (sequence) WHERE is_unsettled = 1 ORDER BY runs.sequence'
      )
      .all()
    return rows.flatMap((row) => this.#read(row) ?? [])
  }

  highestSequence(): number {
    return Number(this.#database.prepare('SELECT max(sequence) AS highest FROM runs').get()?.highest ?? 0)
  }

  count(filter: RunFilter): number {
    const { from, where, values } = choose(filter)
    return Number(this.#list(`SELECT count(*) AS total FROM ${from} ${where}`).get(values)?.total)
  }

  /** The page's rows, newest first; a run that the caller has in memory is taken from there, and not even read. */
  page(
    filter: RunFilter,
    { offset, limit, known }: { offset: number; limit: number; known: (id: string) => RunRecord | undefined }
  ): RunRecord[] {
    const { from, where, order, values } = choose(filter)
    const sql = `SELECT runs.id FROM ${from} ${where} ${order} LIMIT :limit OFFSET :offset`
    // A negative limit is none.
    const rows = this.#list(sql).all({ ...values, limit: limit === Infinity ? -1 : limit, offset })
    return rows.flatMap((row) => known(String(row.id)) ?? this.find(String(row.id)) ?? [])
  }

  /** Whether the run's columns match. */
  matches(id: string, filter: RunFilter): boolean {
    const { from, where, values } = choose(filter)
    const sql = `SELECT 1 FROM ${from} ${where === '' ? 'WHERE' : `${where} AND`} runs.id = :id`
    return this.#list(sql).get({ ...values, id }) !== undefined
  }

  #list(sql: string): StatementSync {
    const known = this.#lists.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    this.#lists.set(sql, statement)
    return statement
  }
}

/** As names are compared: by a part of them, whatever their case. */
function foldName(name: string): string {
  return name.toLowerCase()
}

/** The tables and conditions for a filter: one text for each set of keys. */
export function choose(filter: RunFilter): {
  from: string
  where: string
  /** Newest first, by the table that is read first. */
  order: string
  values: Record<string, SQLInputValue>
} {
  const { tag, name = '', project, user, status } = filter
  const parts: [condition: string, key: string, value: string | undefined][] = [
    ['run_tags.tag = :tag', 'tag', tag],
    ['runs.project = :project', 'project', project],
    ['runs.user_name = :user', 'user', user],
    ['runs.status = :status', 'status', status],
    ['instr(runs.name, :name) > 0', 'name', name === '' ? undefined : foldName(name)]
  ]
  const given = parts.filter(([, , value]) => value !== undefined)
  return {
    from: tag === undefined ? 'runs' : 'run_tags CROSS JOIN runs USING (sequence)',
    where: given.length === 0 ? '' : `WHERE ${given.map(([condition]) => condition).join(' AND ')}`,
    order: `ORDER BY ${tag === undefined ? 'runs' : 'run_tags'}.sequence DESC`,
    values: Object.fromEntries(given.map(([, key, value]) => [key, value ?? null]))
  }
}

/** Reads records from the database. One that somebody else wrote is logged once, and is no reason to answer nothing at all. */
function createRecordReader<T extends { readonly id: string }>(
  kind: 'run' | 'grid',
  isRecord: (value: unknown) => value is T,
  log: (line: string) => void
): (row: Record<string, unknown>) => T | undefined {
  const told = new Set<string>()
  return ({ id, record }) => {
    const found = parseRecord(record)
    if (isRecord(found) && found.id === id) return found
    if (!told.has(String(id)))
      log(`the record of ${kind} ${String(id)} was not written by this service, and is ignored`)
    told.add(String(id))
    return undefined
  }
}

export function parseRecord(text: unknown): unknown {
  try {
    return JSON.parse(String(text))
  } catch {
    return undefined
  }
}

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
