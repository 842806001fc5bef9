import type { FastifyRequest } from 'fastify'
import { RequestError } from './errors.js'
import type { RunStatus } from './store/records.js'
import type { RunFilter } from './store/store.js'

export const RUN_STATUSES: readonly RunStatus[] = ['queued', 'running', 'stopping', 'finished', 'problem']
const KEYS = ['name', 'project', 'tag', 'user', 'status'] as const
const LONGEST = 300

/** Reads `?name=&project=&tag=&user=&status=`; what is empty does not limit the list. */
export function readRunFilter(request: FastifyRequest): RunFilter {
  const query = request.query as Readonly<Record<string, unknown>>
  const filter: Record<string, string> = {}
  for (const key of KEYS) {
    const value = query[key]
    if (value === undefined || value === '') continue
    if (typeof value !== 'string') throw new RequestError(400, `${key} is given more than once`)
    if (value.length > LONGEST)
      throw new RequestError(400, `${key} must not be longer than ${LONGEST} characters`)
    filter[key] = value
  }
  const { status } = filter
  if (status !== undefined && !RUN_STATUSES.some((known) => known === status))
    throw new RequestError(
      400,
      `There is no status ${JSON.stringify(status)}; runs are ${RUN_STATUSES.join(', ')}.`
    )
  return filter
}

/** The filter and the page as the end of an address: nothing for the first page of all runs. */
export function queryOf(filter: RunFilter, page?: number): string {
  const query = new URLSearchParams()
  for (const key of KEYS) {
    const value = filter[key]
    if (value !== undefined) query.set(key, value)
  }
  if (page !== undefined) query.set('page', String(page))
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}
