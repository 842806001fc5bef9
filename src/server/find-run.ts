import type { FastifyRequest } from 'fastify'
import type { ServiceFacts } from './service-facts.js'
import { RequestError } from './errors.js'
import type { RunRecord } from './store/records.js'

/** The run that the address names. */
export function findRun(request: FastifyRequest, facts: ServiceFacts): RunRecord {
  const run = facts.store.run((request.params as { id: string }).id)
  if (!run) throw cannotFind()
  return run
}

export function cannotFind(): RequestError {
  return new RequestError(404, 'Sorry, we cannot find that resource.')
}
