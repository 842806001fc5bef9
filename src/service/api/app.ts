import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import multipart from '@fastify/multipart'
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply } from 'fastify'
import type { Front } from '../http/front.js'
import { MAX_PARAMS, tooManyParams } from './nested-params.js'
import { FormFields, MAX_FIELDS_BYTES } from './request-body.js'
import { refuseDeleted, RequestError } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import { isPageRequest } from '../pages/page-access.js'
import { PAGE_HEADERS } from '../pages/send-page.js'
import { explainStorage } from '../store/database-errors.js'
import { readPackageVersion, VERSION_HEADER } from '../version.js'

const REQUEST_ID = 'x-request-id'
/** The caller's own id is kept if it is harmless in logs and headers, so that a request can be followed through a proxy. */
const HARMLESS = /^[\w-]{1,64}$/

export function createApp(front: Front): FastifyInstance {
  const version = readPackageVersion()
  const app = fastify({
    ...front.settings,
    bodyLimit: MAX_FIELDS_BYTES,
    requestIdHeader: REQUEST_ID,
    forceCloseConnections: true,
    // An address that cannot be decoded never reaches a route. Its query, which may have a token, is not repeated.
    frameworkErrors: (thrown, _request, reply) => {
      const error = thrown.message.replace(/\?.*(?=' is not a valid url component$)/s, '')
      void (reply as FastifyReply).code(thrown.statusCode ?? 400).send({ error })
    },
    // Links have the prefix, the API document's paths do not: both work.
    rewriteUrl: (request) => (request.url ?? '/').replace(/^\/api(?=\/)/, ''),
    routerOptions: { ignoreTrailingSlash: true }
  })
  // Also for replies that come from no route.
  app.server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const given = request.headers[REQUEST_ID]
    const id = typeof given === 'string' && HARMLESS.test(given) ? given : randomUUID()
    request.headers[REQUEST_ID] = id
    response.setHeaders(
      new Map([
        [VERSION_HEADER, version],
        [REQUEST_ID, id]
      ])
    )
  })
  front.prepare(app)
  void app.register(multipart, {
    limits: { fields: MAX_PARAMS, fieldSize: MAX_FIELDS_BYTES, files: 1000, fileSize: Infinity, parts: 3000 }
  })
  const text = { parseAs: 'string' } as const
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(/^application\/([\w.-]+\+)?json/, text, (_request, body, done) => {
    try {
      done(null, body === '' ? undefined : JSON.parse(String(body)))
    } catch (thrown) {
      done(new RequestError(400, `the body is not JSON: ${messageOf(thrown)}`))
    }
  })
  app.addContentTypeParser('application/x-www-form-urlencoded', text, (_request, body, done) => {
    const isTooMany = String(body).split('&', MAX_PARAMS + 1).length > MAX_PARAMS
    if (isTooMany) done(tooManyParams())
    else done(null, new FormFields([...new URLSearchParams(String(body))]))
  })
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    // A run that is being read may be deleted meanwhile.
    const thrown = explainStorage(error) ?? (request.method === 'GET' ? refuseDeleted(error) : error)
    const statusCode = thrown.statusCode ?? 500
    // What a route refuses on purpose, as while the service drains, is not a failure.
    const isMeant = error instanceof RequestError && error.cause === undefined
    if (statusCode >= 500 && isMeant) request.log.info({ reason: error.message }, 'the request was refused')
    else if (statusCode >= 500) request.log.error({ err: error }, 'the request failed')
    // The rest of a rejected upload is not read, so the connection cannot be reused.
    if (statusCode >= 400) void reply.header('connection', 'close')
    if (thrown instanceof RequestError && thrown.retryAfterSec !== undefined)
      void reply.header('retry-after', thrown.retryAfterSec)
    // A file that could not be sent has described itself already.
    for (const name of ['content-disposition', 'accept-ranges', 'etag']) void reply.removeHeader(name)
    if (!isPageRequest(request))
      return reply.code(statusCode).type('application/json; charset=utf-8').send({ error: thrown.message })
    return reply.code(statusCode).headers(PAGE_HEADERS).type('text/plain; charset=utf-8').send(thrown.message)
  })
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: 'Sorry, we cannot find that resource.' })
  )
  return app
}
