import type { DatabaseSync, StatementSync } from 'node:sqlite'
import {
  type GridRecord,
  isGridRecord,
  isRunRecord,
  isSettled,
  type RunRecord
} from '../../contract/records.js'
import { attempt } from '../errors.js'
import { columnsOf, ownedOf, ownedOfGrid, seenCondition, type Visibility } from './visibility.js'
import { isActive, type LikeRequest, type Project, type RunFilter, type SeenSlice } from './store.js'

/** Records in the database: what is asked for in columns, the whole as JSON. */
class RecordTable<T extends { readonly id: string }> {
  readonly #statements = new Map<string, StatementSync>()
  readonly #told = new Set<string>()

  constructor(
    private readonly database: DatabaseSync,
    private readonly log: (line: string) => void,
    private readonly kind: { readonly name: string; readonly isRecord: (value: unknown) => value is T }
  ) {}

  protected sql(text: string): StatementSync {
    const statement = this.#statements.get(text) ?? this.database.prepare(text)
    this.#statements.set(text, statement)
    return statement
  }

  /** A record that someone else wrote is logged once, and does not make the whole request fail. */
  protected read(rows: readonly Record<string, unknown>[]): T[] {
    const { name, isRecord } = this.kind
    return rows.flatMap(({ id, record }) => {
      const found = parseRecord(record)
      if (isRecord(found) && found.id === id) return found
      if (!this.#told.has(String(id)))
        this.log(`the record of ${name} ${String(id)} was not written by this service, and is ignored`)
      this.#told.add(String(id))
      return []
    })
  }
}

export class RunTable extends RecordTable<RunRecord> {
  constructor(database: DatabaseSync, log: (line: string) => void) {
    super(database, log, { name: 'run', isRecord: isRunRecord })
  }

  insert(run: RunRecord): void {
    const { sequence, request } = run
    this.sql(
      `INSERT INTO runs (sequence, id, status, is_unsettled, name, project, user_name, user_id, is_public, created_ms)
       VALUES (:sequence, :id, :status, :isUnsettled, :name, :project, :user, :userId, :isPublic, :createdMs)`
    ).run({
      ...{ sequence, id: run.id, status: run.status, isUnsettled: isSettled(run) ? 0 : 1 },
      ...{ name: foldName(request.name ?? ''), user: run.user?.name ?? null, ...columnsOf(ownedOf(run)) },
      createdMs: Math.trunc(run.createdMs)
    })
    this.sql('INSERT INTO run_records (sequence, record) VALUES (?, ?)').run(sequence, JSON.stringify(run))
    for (const tag of request.tags)
      this.sql('INSERT OR IGNORE INTO run_tags (tag, sequence) VALUES (?, ?)').run(tag, sequence)
  }

  /** A run that was deleted meanwhile stays deleted. It ends for its gate when its results are complete, whenever its load ended. */
  update(run: RunRecord, nowMs = Date.now()): void {
    const row = this.sql(
      `UPDATE runs SET status = :status, is_unsettled = :isUnsettled, is_pinned = :isPinned,
       ended_ms = CASE WHEN :isUnsettled THEN NULL ELSE coalesce(ended_ms, :nowMs) END
       WHERE id = :id RETURNING sequence`
    ).get({
      ...{ id: run.id, status: run.status, isUnsettled: isSettled(run) ? 0 : 1 },
      ...{ isPinned: run.isPinned ? 1 : 0, nowMs: Math.trunc(nowMs) }
    })
    if (row)
      this.sql('UPDATE run_records SET record = ? WHERE sequence = ?').run(
        JSON.stringify(run),
        row.sequence as number
      )
  }

  find(id: string): RunRecord | undefined {
    const rows = this.sql('SELECT id, record FROM runs JOIN run_records USING (sequence) WHERE id = ?')
    return this.read(rows.all(id))[0]
  }

  /** Oldest first. */
  unsettled(): RunRecord[] {
    const rows = this.sql(
      'SELECT id, record FROM runs JOIN run_records USING (sequence) WHERE is_unsettled = 1 ORDER BY runs.sequence'
    )
    return this.read(rows.all())
  }

  highestSequence(): number {
    return Number(this.sql('SELECT max(sequence) AS highest FROM runs').get()?.highest ?? 0)
  }

  count(filter: RunFilter, seenBy: Visibility): number {
    const { from, where, values } = choose(filter, seenBy)
    return Number(this.sql(`SELECT count(*) AS total FROM ${from} ${where}`).get(values)?.total)
  }

  /** The page's rows, newest first; a run that the caller has in memory is taken from there, and not even read. */
  page(
    filter: RunFilter,
    { offset, limit, seenBy, known }: Required<SeenSlice> & { known: ReadonlyMap<string, RunRecord> }
  ): RunRecord[] {
    const { from, where, order, values } = choose(filter, seenBy)
    const sql = `SELECT runs.id FROM ${from} ${where} ${order} LIMIT :limit OFFSET :offset`
    // A negative limit is none.
    const rows = this.sql(sql).all({ ...values, limit: limit === Infinity ? -1 : limit, offset })
    return rows.flatMap(({ id }) => known.get(String(id)) ?? this.find(String(id)) ?? [])
  }

  /** Those of the same project, or without any, newest first. */
  like(
    { request }: RunRecord,
    { upTo, limit, seenBy = 'all', known }: LikeRequest & { known: ReadonlyMap<string, RunRecord> }
  ): RunRecord[] {
    const seen = seenCondition(seenBy, 'runs')
    const rows = this.sql(
      `SELECT id FROM runs WHERE project IS :project AND sequence <= :upTo ${seen ? `AND ${seen.condition}` : ''} ORDER BY sequence DESC LIMIT :limit`
    ).all({ project: request.project, upTo: upTo ?? Number.MAX_SAFE_INTEGER, limit, ...seen?.values })
    return rows.flatMap(({ id }) => known.get(String(id)) ?? this.find(String(id)) ?? [])
  }

  /** By name. */
  projects({ seenBy = 'all', offset, limit }: SeenSlice): { projects: Project[]; total: number } {
    const { condition = 'TRUE', values } = seenCondition(seenBy, 'runs') ?? {}
    const { total } =
      this.sql(`SELECT count(DISTINCT project) AS total FROM runs WHERE ${condition}`).get({ ...values }) ??
      {}
    const rows = this.sql(
      `SELECT project, count(*) AS runs FROM runs WHERE project IS NOT NULL AND ${condition} GROUP BY project ORDER BY project LIMIT :limit OFFSET :offset`
    ).all({ ...values, limit, offset })
    const projects = rows.map(({ project, runs }) => ({ name: String(project), runs: Number(runs) }))
    return { projects, total: Number(total) }
  }
}

/** As names are compared: by a part of them, whatever their case. */
function foldName(name: string): string {
  return name.toLowerCase()
}

/** The tables and conditions for a filter: one text for each set of keys. */
export function choose(filter: RunFilter, seenBy: Visibility) {
  const { tag, name = '', project, user, status } = filter
  const parts: [condition: string, key: string, value: string | undefined][] = [
    ['run_tags.tag = :tag', 'tag', tag],
    ['runs.project = :project', 'project', project],
    ['runs.user_name = :user', 'user', user],
    ['runs.status = :status', 'status', status],
    ['instr(runs.name, :name) > 0', 'name', name === '' ? undefined : foldName(name)]
  ]
  const given = parts.filter(([, , value]) => value !== undefined)
  const seen = seenCondition(seenBy, 'runs')
  const conditions = [...given.map(([condition]) => condition), ...(seen ? [seen.condition] : [])]
  return {
    from: tag === undefined ? 'runs' : 'run_tags CROSS JOIN runs USING (sequence)',
    where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`,
    // Newest first, by the table that is read first.
    order: `ORDER BY ${tag === undefined ? 'runs' : 'run_tags'}.sequence DESC`,
    values: { ...Object.fromEntries(given.map(([, key, value]) => [key, value ?? null])), ...seen?.values }
  }
}

export function parseRecord(text: unknown): unknown {
  return attempt((): unknown => JSON.parse(String(text)))
}

export class GridTable extends RecordTable<GridRecord> {
  constructor(database: DatabaseSync, log: (line: string) => void) {
    super(database, log, { name: 'grid', isRecord: isGridRecord })
  }

  insert(grid: GridRecord): void {
    const values = { id: grid.id, isActive: isActive(grid) ? 1 : 0, record: JSON.stringify(grid) }
    this.sql(
      'INSERT INTO grids (id, is_active, record, user_id, is_public, project) VALUES (:id, :isActive, :record, :userId, :isPublic, :project)'
    ).run({ ...values, ...columnsOf(ownedOfGrid(grid)) })
  }

  /** A grid that was deleted meanwhile stays deleted. */
  update(grid: GridRecord): void {
    const values = [isActive(grid) ? 1 : 0, JSON.stringify(grid), grid.id]
    this.sql('UPDATE grids SET is_active = ?, record = ? WHERE id = ?').run(...values)
  }

  find(id: string): GridRecord | undefined {
    return this.read(this.sql('SELECT id, record FROM grids WHERE id = ?').all(id))[0]
  }

  count({ seenBy = 'all' }: Pick<SeenSlice, 'seenBy'>): number {
    const { condition = 'TRUE', values } = seenCondition(seenBy, 'grids') ?? {}
    return Number(
      this.sql(`SELECT count(*) AS total FROM grids WHERE ${condition}`).get({ ...values })?.total
    )
  }

  /** Newest first; one that the caller has in memory is taken from there. */
  page({ seenBy = 'all', offset, limit }: SeenSlice, known: ReadonlyMap<string, GridRecord>): GridRecord[] {
    const { condition = 'TRUE', values } = seenCondition(seenBy, 'grids') ?? {}
    const rows = this.sql(
      `SELECT id FROM grids WHERE ${condition} ORDER BY rowid DESC LIMIT :limit OFFSET :offset`
    ).all({ ...values, limit, offset })
    return rows.flatMap(({ id }) => known.get(String(id)) ?? this.find(String(id)) ?? [])
  }

  active(): GridRecord[] {
    return this.read(this.sql('SELECT id, record FROM grids WHERE is_active = 1 ORDER BY rowid').all())
  }
}

export class Facts {
  constructor(private readonly database: DatabaseSync) {}

  get(key: string): string | undefined {
    const value = this.database.prepare('SELECT value FROM facts WHERE key = ?').get(key)?.value
    return value === undefined ? undefined : String(value)
  }

  set(key: string, value: string): void {
    this.database.prepare('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)').run(key, value)
  }

  delete(key: string): void {
    this.database.prepare('DELETE FROM facts WHERE key = ?').run(key)
  }
}
