import type { FastifyInstance } from 'fastify'
import type { Clock } from '../clock.js'

/** Requests that change something and have not been answered: an upload takes minutes. */
export class BegunRequests {
  /** What each calls when it has ended. */
  readonly #begun = new Set<Promise<void>>()

  watch(app: FastifyInstance): void {
    app.addHook('onRequest', (request, reply, done) => {
      if (request.routeOptions.config.effect !== undefined) {
        const ended = new Promise<void>((resolve) => reply.raw.once('close', resolve))
        this.#begun.add(ended)
        void ended.then(() => this.#begun.delete(ended))
      }
      done()
    })
  }

  /** Resolves when those that have begun by now have their reply, or after this time. */
  async settle(withinMs: number, clock: Clock): Promise<void> {
    let cancel = (): void => undefined
    const limit = new Promise<void>((resolve) => (cancel = clock.after(withinMs, resolve)))
    await Promise.race([Promise.all(this.#begun), limit])
    cancel()
  }
}
