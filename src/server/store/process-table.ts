import type { DatabaseSync } from 'node:sqlite'
import type { ProcessGroup } from '../nodes/machine/processes.js'
import { isProcessGroup } from './records.js'

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
