import type { DatabaseSync } from 'node:sqlite'
import type { ProcessGroup } from '../nodes/machine/processes.js'
import { isProcessGroup } from '../../contract/records.js'

/** The tools at work, in the database: whoever finds them there after a crash ends them. */
export class ProcessTable {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  save({ pid, startTime }: ProcessGroup): void {
    this.#database
      .prepare('INSERT OR REPLACE INTO processes (pid, start_time) VALUES (?, ?)')
      .run(pid, startTime)
  }

  remove(pid: number): void {
    this.#database.prepare('DELETE FROM processes WHERE pid = ?').run(pid)
  }

  all(): ProcessGroup[] {
    const rows = this.#database
      .prepare('SELECT pid, start_time AS startTime FROM processes ORDER BY pid')
      .all()
    return rows.map((row): unknown => ({ ...row })).filter(isProcessGroup)
  }
}

/** Single facts about a data folder. */
export class Facts {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  get(key: string): string | undefined {
    const value = this.#database.prepare('SELECT value FROM facts WHERE key = ?').get(key)?.value
    return value === undefined ? undefined : String(value)
  }

  set(key: string, value: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO facts (key, value) VALUES (?, ?)').run(key, value)
  }

  remove(key: string): void {
    this.#database.prepare('DELETE FROM facts WHERE key = ?').run(key)
  }
}
