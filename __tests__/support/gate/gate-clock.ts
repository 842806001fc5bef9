import { setImmediate as nextTurn } from 'node:timers/promises'
import { reasonOf } from '../../../src/service/clock.js'
import type { Clock } from '../../../src/service/clock.js'

interface Sleeper {
  readonly atMs: number
  wake(): void
}

const QUIET_TURNS = 10
/** Work in flight that time must not overtake: sockets and files. */
const WORK = /^(TCP|FSReq|CloseReq|FileHandle|GetAddrInfo)/i

/** A clock that only moves when it is told to, or while `run` is waiting and nothing else is going on. */
export class ManualClock implements Clock {
  readonly #sleepers = new Set<Sleeper>()
  readonly #startMs: number
  #nowMs: number
  /** Every sleep that was asked for, in order. */
  readonly sleeps: number[] = []

  constructor(startMs = Date.UTC(2026, 0, 5, 12)) {
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  get elapsedMs(): number {
    return this.#nowMs - this.#startMs
  }

  get sleeperCount(): number {
    return this.#sleepers.size
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms)
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#sleepers.delete(sleeper)
        reject(reasonOf(signal))
      }
      const sleeper: Sleeper = {
        atMs: this.#nowMs + Math.max(0, ms),
        wake: () => {
          signal?.removeEventListener('abort', abort)
          resolve()
        }
      }
      if (signal?.aborted) {
        abort()
        return
      }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', abort, { once: true })
    })
  }

  /** Lets this much time pass, waking sleepers in their order. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      this.#wake(next)
      await settle()
    }
    this.#nowMs = untilMs
  }

  /** Moves from sleeper to sleeper until the work is done; no time passes while a socket or a file is busy. */
  async run<T>(work: Promise<T>): Promise<T> {
    const running = new Set([work])
    const end = (): boolean => running.delete(work)
    work.then(end, end)
    for (let quiet = 0; running.size > 0;) {
      await nextTurn()
      quiet = isBusy() ? 0 : quiet + 1
      const next = this.#next()
      if (quiet < QUIET_TURNS || next === undefined) continue
      this.#wake(next)
      quiet = 0
    }
    return work
  }

  #next(): Sleeper | undefined {
    return [...this.#sleepers].reduce<Sleeper | undefined>(
      (first, sleeper) => (first === undefined || sleeper.atMs < first.atMs ? sleeper : first),
      undefined
    )
  }

  #wake(sleeper: Sleeper): void {
    this.#sleepers.delete(sleeper)
    this.#nowMs = Math.max(this.#nowMs, sleeper.atMs)
    sleeper.wake()
  }
}

function isBusy(): boolean {
  return process.getActiveResourcesInfo().some((name) => WORK.test(name) && name !== 'TCPServerWrap')
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn++) await nextTurn()
}
