import { appendFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Role } from '../config/config.js'
import type { Clock } from '../../contract/clock.js'
import { attempt, clauseOf } from '../errors.js'

export interface AuditEntry {
  readonly action: string
  /** Undefined if nobody was recognized. */
  readonly user?: { readonly name: string; readonly role?: Role | 'operator' } | undefined
  readonly target?: string | undefined
  /** What came of it, for example the run that repeats another one. */
  readonly created?: string | undefined
  readonly address?: string | undefined
  readonly requestId?: string | undefined
  readonly status?: number | undefined
  /** How many more of the same there were, where not each has a line. */
  readonly more?: number | undefined
}

export interface AuditLog {
  /** Never throws: a full disk does not stop the service. */
  write(entry: AuditEntry): void
}

export const noAudit: AuditLog = { write: () => undefined }

const FILE = 'audit.jsonl'
const LONGEST_TEXT = 300

/** The file of JSON lines in the data folder. It is opened for each line, so that it can be moved away at any time. */
export function openAuditLog(
  dataDir: string,
  { clock, log }: { clock: Clock; log: (line: string) => void }
): AuditLog {
  const file = join(dataDir, FILE)
  let isFailing = false
  return {
    write: (entry) => {
      // A line that was cut off by a full disk must not swallow the next one.
      const line = `${isFailing ? '\n' : ''}${lineOf(entry, clock.now())}\n`
      try {
        appendFileSync(file, line, { mode: 0o600 })
        isFailing = false
      } catch (thrown) {
        if (!isFailing)
          log(`the audit log cannot be written: ${clauseOf(thrown)}; what happens is not recorded`)
        isFailing = true
      }
    }
  }
}

/** Who types a command beside the service. */
export function findOperator(): NonNullable<AuditEntry['user']> {
  // A container may run under a number that has no name.
  const name = attempt(() => userInfo().username) ?? `uid ${process.getuid?.() ?? 'unknown'}`
  return { name, role: 'operator' }
}

function lineOf(entry: AuditEntry, nowMs: number): string {
  const fields = {
    time: new Date(nowMs).toISOString(),
    user: textOf(entry.user?.name),
    role: entry.user?.role ?? null,
    action: entry.action,
    target: textOf(entry.target),
    ...(entry.created !== undefined && { created: textOf(entry.created) }),
    address: textOf(entry.address),
    request_id: textOf(entry.requestId),
    status: entry.status ?? null,
    ...(entry.more !== undefined && { more: entry.more })
  }
  // JSON escapes line feeds; some readers take these for ends of lines as well.
  return JSON.stringify(fields).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
}

function textOf(text: string | undefined): string | null {
  return text === undefined ? null : text.slice(0, LONGEST_TEXT)
}
