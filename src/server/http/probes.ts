import type { FastifyInstance } from 'fastify'

/** For whatever restarts the service, and whatever sends callers to it. */
export function addProbes(app: FastifyInstance, whyNotReady: () => string | undefined): void {
  const config = { open: 'probe' } as const
  app.get('/healthz', { config }, () => ({ status: 'ok' }))
  app.get('/readyz', { config }, (_request, reply) => {
    const reason = whyNotReady()
    if (reason === undefined) return { status: 'ready' }
    return reply.code(503).header('retry-after', '10').send({ error: reason })
  })
}
