import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../../contract/clock.js'
import type { AuditEntry, AuditLog } from './audit-log.js'
import { networkOf } from './failed-logins.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** For the audit log: how the caller signed in, and what was created. */
    audited: { login?: 'right' | 'wrong'; created?: string }
  }
}

/** Records every request with an effect, every login and every refusal: by what the routes declare, so none is forgotten. */
export function auditRequests(
  app: FastifyInstance,
  { audit, clock }: { audit: AuditLog; clock: Clock }
): void {
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
  // Before the reply is sent: after it, whoever has hung up would have done it unseen.
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

/** Undefined if it is not worth a line. Neither address nor headers are in it: they may have a token. */
function describe(
  request: FastifyRequest,
  status: number
): Pick<AuditEntry, 'action' | 'user' | 'target' | 'created'> | undefined {
  const { effect } = request.routeOptions.config
  // Absent if the request was turned away before any guard saw it.
  const { login, created } = (request.audited as FastifyRequest['audited'] | undefined) ?? {}
  const user = request.user as FastifyRequest['user'] | undefined
  const { id } = (request.params ?? {}) as { id?: string }
  if (status === 429 || login === 'wrong') return { action: 'login.failed' }
  if (login === 'right') return { action: 'login', user }
  if (status === 403) return { action: 'refused', user, target: describeTarget(request, id) }
  if (effect === undefined || user === undefined) return undefined
  return { action: effect, user, target: id ?? created, ...(id !== undefined && { created }) }
}

function describeTarget({ method, routeOptions }: FastifyRequest, id: string | undefined): string {
  const what = routeOptions.config.effect ?? `${method} ${routeOptions.url ?? 'an unknown path'}`
  return id === undefined ? what : `${what} ${id}`
}

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
