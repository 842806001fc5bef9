import type { Answered } from './one-run-service.js'

/** What undici's `request` hands to a dispatcher. */
export interface Handler {
  onConnect(abort: (reason?: Error) => void): void
  onHeaders(status: number, headers: readonly Buffer[], resume: () => void, text: string): void
  onData(chunk: Buffer): void
  onComplete(trailers: readonly Buffer[]): void
  onError(error: Error): void
}

/** The process that asks: it may be killed at any moment, and neither hears nor does anything from then on. */
export class Life {
  #leftMoments: number
  #die: () => void = () => undefined
  readonly death = new Promise<'killed'>((resolve) => {
    this.#die = () => resolve('killed')
  })
  isOver = false

  /** Ends at this moment; Infinity for never. */
  constructor(moments: number) {
    this.#leftMoments = moments
  }

  /** A moment at which it may be killed; true while it lives. */
  goesOn(): boolean {
    if (!this.isOver && this.#leftMoments-- <= 0) {
      this.isOver = true
      this.#die()
    }
    return !this.isOver
  }
}

/** One request from the side of who sent it: it hears one thing, unless it is dead by then or has hung up. */
export class Caller {
  #hasHungUp = false

  constructor(
    readonly handler: Handler,
    readonly life: Life
  ) {}

  /** False where the request never leaves. */
  connect(): boolean {
    if (!this.life.goesOn()) return false
    this.handler.onConnect((reason?: Error) => {
      if (this.#hasHungUp) return
      this.#hasHungUp = true
      this.handler.onError(reason ?? new Error('aborted'))
    })
    return !this.#hasHungUp
  }

  answer({ status, body }: Answered, location?: string): void {
    if (!this.#hears()) return
    const headers = location === undefined ? [] : [Buffer.from('location'), Buffer.from(location)]
    this.handler.onHeaders(status, headers, () => undefined, '')
    if (this.#hasHungUp) return
    if (body !== '') this.handler.onData(Buffer.from(body))
    this.#complete()
  }

  /** Half of it, and then the connection is gone. */
  cut({ status, body }: Answered): void {
    if (!this.#hears()) return
    this.handler.onHeaders(status, [], () => undefined, '')
    if (this.#hasHungUp) return
    this.handler.onData(Buffer.from(body.slice(0, body.length / 2)))
    this.fail(systemError('ECONNRESET', 'read'))
  }

  fail(error: Error): void {
    if (!this.#hears()) return
    this.#hasHungUp = true
    this.handler.onError(error)
  }

  #complete(): void {
    if (!this.#hasHungUp) this.handler.onComplete([])
    this.#hasHungUp = true
  }

  #hears(): boolean {
    return !this.#hasHungUp && this.life.goesOn()
  }
}

/** As the system tells it. */
export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${syscall} ${code}`), { code, syscall })
}
