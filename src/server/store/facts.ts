import type { DatabaseSync } from 'node:sqlite'

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
