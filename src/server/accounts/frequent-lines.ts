import type { Clock } from '../clock.js'
import type { AuditEntry, AuditLog } from './audit-log.js'
import { networkOf } from './failed-logins.js'

/** In which a caller has so many lines at most, and then one with the number of the others. */
const MINUTE_MS = 60_000
const MOST_LINES_OF_A_USER = 60
const MOST_LINES_OF_NOBODY = 5
/** Further ones count as one. */
const MOST_CALLERS = 1000

interface Caller extends Pick<AuditEntry, 'user' | 'address'> {
  lines: number
  /** Those without a line of their own, by what they are. */
  readonly others: Map<string, { readonly entry: AuditEntry; more: number }>
  readonly cancel: () => void
}

/** For what anybody may send as often as they like: it must not fill the disk, nor hide the other lines. */
export class FrequentLines {
  readonly #callers = new Map<string, Caller>()

  constructor(
    private readonly audit: AuditLog,
    private readonly clock: Clock
  ) {}

  write(entry: AuditEntry): void {
    const caller = this.#find(entry)
    const most = entry.user ? MOST_LINES_OF_A_USER : MOST_LINES_OF_NOBODY
    // Guesses that were turned away have been answered by what was said of those before.
    if (entry.status !== 429 && caller.lines < most) {
      caller.lines++
      this.audit.write(entry)
      return
    }
    const { action, status } = entry
    const kind = `${action} ${status ?? ''}`
    const known = caller.others.get(kind)
    if (known) known.more++
    else
      caller.others.set(kind, {
        entry: { action, status, user: caller.user, address: caller.address },
        more: 1
      })
  }

  /** Nothing is left untold. */
  close(): void {
    for (const key of [...this.#callers.keys()]) this.#tell(key)
  }

  #find({ user, address }: AuditEntry): Caller {
    const network = networkOf(address ?? '')
    const wanted = `${user?.name ?? ''} ${network}`
    const isKnown = this.#callers.has(wanted) || this.#callers.size < MOST_CALLERS
    const key = isKnown ? wanted : ''
    const caller = this.#callers.get(key) ?? {
      ...(isKnown && { user, address: network }),
      ...{ lines: 0, others: new Map() as Caller['others'] },
      cancel: this.clock.after(MINUTE_MS, () => this.#tell(key))
    }
    this.#callers.set(key, caller)
    return caller
  }

  #tell(key: string): void {
    const caller = this.#callers.get(key)
    this.#callers.delete(key)
    caller?.cancel()
    for (const { entry, more } of caller?.others.values() ?? []) this.audit.write({ ...entry, more })
  }
}
