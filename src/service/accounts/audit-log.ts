import { normalizeIP } from '@fastify/rate-limit'
import type { FastifyInstance, FastifyRequest } from 'fastify'
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
  /** Why it was refused, or why somebody could not log in. */
  readonly reason?: string | undefined
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

/** The person who runs a command beside the service. */
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
    ...(entry.reason !== undefined && { reason: textOf(entry.reason) }),
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

declare module 'fastify' {
  interface FastifyRequest {
    /** For the audit log: how the caller signed in and why not, what was created, and what else than the id in the path was changed. */
    audited: { login?: 'right' | 'wrong'; reason?: string; created?: string; target?: string }
  }
}

/** Records every request with an effect, every login and every refusal: by what the routes declare, so none is forgotten. */
export function auditRequests(app: FastifyInstance, { audit, clock }: { audit: AuditLog; clock: Clock }) {
  const frequent = new FrequentLines(audit, clock)
  app.addHook('preClose', (done) => {
    frequent.close()
    done()
  })
  app.decorateRequest('audited')
  app.addHook('onRequest', (request, _reply, done) => {
    request.audited = {}
    done()
  })
  // Before the reply is sent: otherwise a caller that hangs up would not be recorded.
  app.addHook('onSend', (request, reply, _payload, done) => {
    const status = reply.statusCode
    const described = describe(request, status)
    if (described) {
      const entry = { address: request.ip, requestId: request.id, status, ...described }
      const isRefusal = ['login.failed', 'refused'].includes(entry.action)
      ;(isRefusal ? frequent : audit).write(entry)
    }
    done()
  })
}

/** Undefined if it is not worth a line. Without address and headers, which may contain a token. */
function describe(request: FastifyRequest, status: number) {
  const { effect } = request.routeOptions.config
  // Absent if the request was refused before any guard saw it.
  const { login, reason, created, target } = (request.audited as FastifyRequest['audited'] | undefined) ?? {}
  const user = request.user as FastifyRequest['user'] | undefined
  const { id } = (request.params ?? {}) as { id?: string }
  const isRefused = (status === 429 && user === undefined) || (effect === 'login' && status >= 400)
  if (isRefused || login === 'wrong') return { action: 'login.failed', user, reason }
  if (login === 'right') return { action: 'login', user }
  if (status === 403) return { action: 'refused', user, target: describeTarget(request, id), reason }
  if (effect === undefined || user === undefined) return undefined
  return { action: effect, user, target: target ?? id ?? created, ...(id !== undefined && { created }) }
}

function describeTarget({ method, routeOptions }: FastifyRequest, id: string | undefined): string {
  const what = routeOptions.config.effect ?? `${method} ${routeOptions.url ?? 'an unknown path'}`
  return id === undefined ? what : `${what} ${id}`
}

/** In a minute, a caller gets at most this many lines, and then one with the number of the others. */
const MINUTE_MS = 60_000
const MOST_LINES_OF_A_USER = 60
const MOST_LINES_OF_NOBODY = 5
/** Further ones count as one. */
const MOST_CALLERS = 1000

/** For what anybody may send as often as they like: it must not fill the disk, nor hide the other lines. */
export class FrequentLines {
  readonly #lines = new Map<string, number>()
  /** Those without a line of their own, by the caller and what they are. */
  readonly #others = new Map<string, AuditEntry & { readonly more: number }>()
  #cancel: (() => void) | undefined

  constructor(
    private readonly audit: AuditLog,
    private readonly clock: Clock
  ) {}

  write(entry: AuditEntry): void {
    const { action, status, user } = entry
    const address = normalizeIP(entry.address ?? '')
    const wanted = `${user?.name ?? ''} ${address}`
    const isKnown = this.#lines.has(wanted) || this.#lines.size < MOST_CALLERS
    const key = isKnown ? wanted : ''
    const lines = this.#lines.get(key) ?? 0
    this.#cancel ??= this.clock.after(MINUTE_MS, () => this.close())
    // Guesses that were turned away are covered by the lines before them.
    if (status !== 429 && lines < (user ? MOST_LINES_OF_A_USER : MOST_LINES_OF_NOBODY)) {
      this.#lines.set(key, lines + 1)
      this.audit.write(entry)
      return
    }
    const kind = `${key} ${action} ${status ?? ''}`
    const more = (this.#others.get(kind)?.more ?? 0) + 1
    this.#others.set(kind, { action, status, ...(isKnown && { user, address }), more })
  }

  /** Writes what has no line yet. */
  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
    for (const entry of this.#others.values()) this.audit.write(entry)
    this.#others.clear()
    this.#lines.clear()
  }
}
