import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const HARMLESS = /^[\w-]{1,64}$/

/** The caller's own id if it is harmless in logs and headers, so that a request can be followed through a proxy; else a new one. */
export class RequestIds {
  readonly #ids = new WeakMap<object, string>()

  of(request: Pick<IncomingMessage, 'headers'>): string {
    const known = this.#ids.get(request)
    if (known !== undefined) return known
    const given = request.headers['x-request-id']
    const id = typeof given === 'string' && HARMLESS.test(given) ? given : randomUUID()
    this.#ids.set(request, id)
    return id
  }
}
