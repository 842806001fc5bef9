import type { Clock } from '../../contract/clock.js'
import { attempt, RequestError } from '../errors.js'
import type { Quotas } from '../config/config.js'
import type { RunOwner } from '../queue/queue.js'
import type { SqliteStore } from '../store/sqlite-store.js'
import { describeUse, describeWho, type Quota, quotasOf } from './limits.js'

const MS_A_DAY = 24 * 60 * 60 * 1000
/** Nobody asks for earlier days. */
const KEPT_DAYS = 31

type User = NonNullable<RunOwner['user']>

/** An upload that is being received. */
export interface Upload {
  /** Throws if these bytes are too many. */
  readonly take: (bytes: number) => void
  /** Its project is known now; throws if that has uploaded too much. */
  readonly chargeTo: (project: string | null) => void
  /** Whatever has become of it, what has arrived counts. */
  readonly end: () => void
}

/** Who has uploaded how much today. All that arrives counts, also where the run is refused later. */
export class UploadBook {
  #day = ''
  /** Of users, today, with what is arriving now. */
  readonly #received = new Map<number, number>()

  constructor(private readonly parts: { quotas: Quotas; store: SqliteStore; clock: Clock }) {}

  /** Throws if the upload, which is about this long, is too much for the user. */
  begin(user: User, announcedBytes: number): Upload {
    // Only its user is known for now.
    const [quota] = this.#quotasOf({ user, project: null }).filter(({ of }) => of === 'user')
    let received = 0
    let isCharged = false
    const take = (bytes: number): void => {
      const used = this.#receivedBy(user.id)
      if (quota && used + bytes > quota.limit) throw tooMuch(quota, used)
      received += bytes
      this.#received.set(user.id, used + bytes)
    }
    const used = this.#receivedBy(user.id)
    if (quota && used + announcedBytes > quota.limit) throw tooMuch(quota, used)
    return {
      take,
      chargeTo: (project) => {
        for (const ofProject of this.#quotasOf({ user, project }).filter(({ of }) => of === 'project')) {
          const before =
            ofProject.creator === undefined
              ? this.#sum('project = ?', project ?? '')
              : this.#sum('project = ? AND user_id = ?', project ?? '', user.id)
          if (before + received > ofProject.limit) throw tooMuch(ofProject, before)
        }
        this.#write(user, project ?? '', received)
        isCharged = true
      },
      end: () => {
        if (!isCharged && received > 0) this.#write(user, '', received)
      }
    }
  }

  #quotasOf(owner: RunOwner): Quota[] {
    return quotasOf(this.parts.quotas, owner, 'upload-per-day')
  }

  #receivedBy(userId: number): number {
    this.#turnPage()
    const known = this.#received.get(userId) ?? this.#sum('user_id = ?', userId)
    this.#received.set(userId, known)
    return known
  }

  #sum(where: string, ...values: (string | number)[]): number {
    this.#turnPage()
    const sql = `SELECT sum(bytes) AS bytes FROM uploads WHERE day = ? AND ${where}`
    return Number(this.parts.store.database.prepare(sql).get(this.#day, ...values)?.bytes ?? 0)
  }

  #write({ id }: User, project: string, bytes: number): void {
    this.#turnPage()
    const sql = `INSERT INTO uploads (day, user_id, project, bytes) VALUES (?, ?, ?, ?)
      ON CONFLICT (day, user_id, project) DO UPDATE SET bytes = bytes + excluded.bytes`
    // On a full disk it stays in memory.
    attempt(() => this.parts.store.database.prepare(sql).run(this.#day, id, project, bytes))
  }

  #turnPage(): void {
    const { clock, store } = this.parts
    const day = dayOf(clock.now())
    if (day === this.#day) return
    this.#day = day
    this.#received.clear()
    const old = dayOf(clock.now() - KEPT_DAYS * MS_A_DAY)
    attempt(() => store.database.prepare('DELETE FROM uploads WHERE day < ?').run(old))
  }
}

/** It passes by itself, but not while a gate waits for it. */
function tooMuch(quota: Quota, used: number): RequestError {
  const advice = `try again after 00:00 UTC, or ${describeWho(quota)}`
  return new RequestError(
    413,
    `the run was not created, and this upload would be too much: ${describeUse(quota, used)}; ${advice}`
  )
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
