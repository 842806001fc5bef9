import type { FastifyRequest } from 'fastify'
import { RequestError } from '../errors.js'

/** What a form of one of our pages sends. The guard has rejected foreign pages; one of ours always has its origin. */
export function readForm({ headers, body }: FastifyRequest, what: string): Map<string, string> {
  if (headers.origin === undefined) throw new RequestError(403, `${what} with the form on its page.`)
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')
  const { fields } = (body ?? {}) as { fields?: readonly (readonly [string, string])[] }
  if (!isForm || fields === undefined) throw new RequestError(422, `${what} with a form, not with JSON.`)
  // Of a field that is there twice, the first counts.
  return new Map(fields.toReversed())
}
