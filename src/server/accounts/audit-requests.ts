import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Clock } from '../clock.js'
import type { AuditEntry, AuditLog } from './audit-log.js'

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
  const turnedAway = new TurnedAway(audit, clock)
  app.addHook('preClose', (done) => {
    turnedAway.close()
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
    if (status === 429) turnedAway.count(request.ip)
    const entry = describe(request, status)
    if (entry) audit.write({ address: request.ip, requestId: request.id, status, ...entry })
    done()
  })
}

const TOLD_AFTER_MS = 60_000

/** Guesses that come too fast for a line each have one line per address and minute. */
class TurnedAway {
  readonly #counts = new Map<string, { more: number; cancel: () => void }>()

  constructor(
    private readonly audit: AuditLog,
    private readonly clock: Clock
  ) {}

  count(address: string): void {
    const known = this.#counts.get(address)
    if (known) known.more++
    else {
      const cancel = this.clock.after(TOLD_AFTER_MS, () => this.#tell(address))
      this.#counts.set(address, { more: 1, cancel })
    }
  }

  close(): void {
    for (const address of [...this.#counts.keys()]) this.#tell(address)
  }

  #tell(address: string): void {
    const { more = 0, cancel } = this.#counts.get(address) ?? {}
    cancel?.()
    this.#counts.delete(address)
    this.audit.write({ action: 'login.failed', address, status: 429, more })
  }
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
  if (status === 429) return undefined
  if (login === 'wrong') return { action: 'login.failed' }
  if (login === 'right') return { action: 'login', user }
  if (status === 403) return { action: 'refused', user, target: describeTarget(request, id) }
  if (effect === undefined || (user === undefined && effect !== 'logout')) return undefined
  return { action: effect, user, target: id ?? created, ...(id !== undefined && { created }) }
}

function describeTarget({ method, routeOptions }: FastifyRequest, id: string | undefined): string {
  const what = routeOptions.config.effect ?? `${method} ${routeOptions.url ?? 'an unknown path'}`
  return id === undefined ? what : `${what} ${id}`
}
