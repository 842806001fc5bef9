import type { Clock } from '../../contract/clock.js'
import { attempt } from '../errors.js'
import type { Accounts, User } from './users.js'

const DAY_MS = 24 * 3_600_000
const WARN_BEFORE_MS = 14 * DAY_MS

/** When a token that is made now ends. */
export function endAfter(days: number | undefined, nowMs: number): number | undefined {
  return days === undefined ? undefined : nowMs + days * DAY_MS
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** In the last two weeks before a token ends, for whoever uses it. */
export function warnOfEnd({ name, expiresMs }: Pick<User, 'name' | 'expiresMs'>, nowMs: number) {
  if (expiresMs === undefined || expiresMs - nowMs > WARN_BEFORE_MS) return undefined
  return `the token of ${name} ends on ${dayOf(expiresMs)}; ask an admin to rotate it (loadgate user rotate ${name} --days <days>)`
}

/** For whoever holds the right token, which opens nothing any more. */
export function describeExpired({ name, expiresMs = 0 }: User): string {
  return `the token of ${name} expired on ${dayOf(expiresMs)}; ask an admin for another one (loadgate user rotate ${name} --days <days>)`
}

/** Says at the start, and then once a day, which tokens end soon or have ended. */
export function remindOfEnds(
  accounts: Pick<Accounts, 'users'>,
  { clock, log }: { clock: Clock; log: (line: string) => void }
): { close(): void } {
  const remind = (): void => {
    cancel = clock.after(DAY_MS, remind)
    const nowMs = clock.now()
    for (const { name, expiresMs } of attempt(() => accounts.users()) ?? []) {
      if (expiresMs === null) continue
      const warning = warnOfEnd({ name, expiresMs }, nowMs)
      const how = `loadgate user rotate ${name} --days <days>`
      if (expiresMs <= nowMs) log(`the token of ${name} expired on ${dayOf(expiresMs)}; ${how} makes another`)
      else if (warning !== undefined)
        log(`the token of ${name} ends on ${dayOf(expiresMs)}; ${how} makes another`)
    }
  }
  let cancel: () => void = () => undefined
  remind()
  return { close: () => cancel() }
}
