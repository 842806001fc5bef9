import { statSync } from 'node:fs'
import type { SqliteStore } from '../store/sqlite-store.js'

/** How much of the disk runs take. Of those that have not ended it is the uploads: nobody knows yet how large the results will be. */
export class DiskUse {
  /** The uploads of runs whose folders were not measured yet; they do not change. */
  readonly #uploaded = new Map<string, number>()

  constructor(private readonly store: SqliteStore) {
    store.onSettled(({ id }) => this.#uploaded.delete(id))
  }

  ofUser(id: number): number {
    return this.#of('user_id IS ?', [id])
  }

  /** Of one user's runs in it, if the user is given. */
  ofProject(name: string | null, creator?: number): number {
    return creator === undefined
      ? this.#of('project IS ?', [name])
      : this.#of('project IS ? AND user_id IS ?', [name, creator])
  }

  ofAll(): number {
    return this.#of('TRUE', [])
  }

  #of(where: string, values: (string | number | null)[]): number {
    const { database } = this.store
    const { bytes } =
      database.prepare(`SELECT sum(bytes) AS bytes FROM runs WHERE ${where}`).get(...values) ?? {}
    const unmeasured = database.prepare(`SELECT id FROM runs WHERE bytes IS NULL AND ${where}`).all(...values)
    return unmeasured.reduce((sum, { id }) => sum + this.ofUploads(String(id)), Number(bytes ?? 0))
  }

  ofUploads(runId: string): number {
    const known = this.#uploaded.get(runId)
    if (known !== undefined) return known
    const { folder } = this.store
    const sizes = (this.store.run(runId)?.files ?? []).map(
      ({ name }) => statSync(folder.uploadedFile(runId, name), { throwIfNoEntry: false })?.size ?? 0
    )
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    this.#uploaded.set(runId, bytes)
    return bytes
  }
}
