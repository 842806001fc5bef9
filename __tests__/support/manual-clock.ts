import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { type Clock, sleepBy } from '../../src/contract/clock.js'
import { underWay } from './under-way.js'

interface Timer {
  readonly atMs: number
  act(): void
}

const QUIET_TURNS = 10
/** After so many turns of waiting for the world outside, it is looked at every millisecond: others may need the processor. */
const EAGER_TURNS = 50
/** Work in flight that time must not overtake: sockets and files. */
const WORK = /^(TCP|FSReq|CloseReq|FileHandle|GetAddrInfo)/i

/** The clock of all tests, for gate and server. It only moves when it is told to, or while `run` is waiting and nothing else is going on. */
export class ManualClock implements Clock {
  readonly #timers = new Set<Timer>()
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

  /** How many timers and sleeps have not ended yet. */
  get pendingCount(): number {
    return this.#timers.size
  }

  after(delayMs: number, act: () => void): () => void {
    const timer = { atMs: this.#nowMs + Math.max(0, delayMs), act }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms)
    return sleepBy((delayMs, act) => this.after(delayMs, act))(ms, signal)
  }

  /** Lets this much time pass; timers fire in their order, and what they start gets its turn before the next one. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await settle()
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      this.#fire(next)
      await settle()
    }
    this.moveTo(untilMs)
  }

  /** Moves from timer to timer until the work is done; no time passes while a socket or a file is busy. */
  async run<T>(work: Promise<T>): Promise<T> {
    const running = new Set([work])
    const end = (): boolean => running.delete(work)
    work.then(end, end)
    for (let quiet = 0, turns = 0; running.size > 0; turns++) {
      await (turns < EAGER_TURNS ? nextTurn() : delay(1))
      quiet = isBusy() ? 0 : quiet + 1
      if (quiet === 1) turns = 0
      const next = this.#next()
      if (quiet < QUIET_TURNS || next === undefined) continue
      this.#fire(next)
      quiet = 0
      turns = 0
    }
    return work
  }

  protected moveTo(ms: number): void {
    this.#nowMs = Math.max(this.#nowMs, ms)
  }

  #next(): Timer | undefined {
    return [...this.#timers].reduce<Timer | undefined>(
      (first, timer) => (first === undefined || timer.atMs < first.atMs ? timer : first),
      undefined
    )
  }

  #fire(timer: Timer): void {
    this.#timers.delete(timer)
    this.moveTo(timer.atMs)
    timer.act()
  }
}

/** Jumps over every sleep at once: for code that sleeps in one place at a time. */
export class JumpingClock extends ManualClock {
  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.sleeps.push(ms)
    this.moveTo(this.now() + ms)
  }
}

function isBusy(): boolean {
  return (
    underWay.size > 0 ||
    process.getActiveResourcesInfo().some((name) => WORK.test(name) && name !== 'TCPServerWrap')
  )
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn++) await nextTurn()
}
