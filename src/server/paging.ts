import type { FastifyRequest } from 'fastify'
import { RequestError } from './errors.js'

/** Reads `?page=`; defaults to the first page. */
export function readPageNumber(request: FastifyRequest): number {
  const { page } = request.query as { page?: unknown }
  if (page === undefined) return 1
  if (typeof page === 'string' && /^[1-9]\d{0,8}$/.test(page)) return Number(page)
  throw new RequestError(400, `page must be a whole number from 1, not ${JSON.stringify(page)}`)
}
