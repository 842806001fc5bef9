import { inspect } from 'node:util'
import type { Rows } from './rows.js'
import type { Schedule } from './run-order.js'

/** What running a part of the script needs. */
export interface StepPorts {
  readonly user: number
  readonly rows: Rows
  readonly schedule: Schedule
  /** False once the browser is gone: what fails then is not the target's fault. */
  readonly isBrowserAlive: () => boolean
  /** Ends with the run: what has not ended by then is cut. */
  readonly cut: Promise<'cut'>
  readonly onCut: (label: string, ms: number) => void
  readonly log: (text: string) => void
}

export type Attempt = { readonly startMs: number; readonly wallMs: number } & (
  | { readonly kind: 'done'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'cut' }
)

type Result = { readonly value: unknown } | { readonly error: Error }

/** Runs a part of the script to its end, or to the end of the run. */
export async function attempt(label: string, act: () => unknown, ports: StepPorts): Promise<Attempt> {
  const startMs = Date.now()
  const from = performance.now()
  const result = await Promise.race([settle(act), ports.cut])
  const time = { startMs, wallMs: performance.now() - from }
  if (result !== 'cut' && 'value' in result) return { ...time, kind: 'done', value: result.value }
  if (result !== 'cut' && !ports.schedule.isStopped && ports.isBrowserAlive())
    return { ...time, kind: 'failed', error: result.error }
  ports.onCut(label, time.wallMs)
  return { ...time, kind: 'cut' }
}

/** Anything can be thrown, even undefined. */
async function settle(act: () => unknown): Promise<Result> {
  try {
    return { value: await act() }
  } catch (thrown) {
    return { error: toError(thrown) }
  }
}

/** Anything can be thrown, even what cannot be turned into a text. */
export function textOf(thrown: unknown): string {
  try {
    if (typeof thrown !== 'object' || thrown === null) return String(thrown)
    const { message } = thrown as { message?: unknown }
    return typeof message === 'string'
      ? message
      : inspect(message ?? thrown, { depth: 1, breakLength: Infinity })
  } catch {
    return 'something that has no text'
  }
}

/** An error whose name, message and stack can be relied on. */
export function toError(thrown: unknown): Error {
  return isPlainError(thrown) ? thrown : new Error(textOf(thrown))
}

export function stackOf(thrown: unknown): string {
  return isPlainError(thrown) ? (thrown.stack ?? thrown.message) : textOf(thrown)
}

function isPlainError(thrown: unknown): thrown is Error {
  try {
    if (!(thrown instanceof Error)) return false
    const { name, message, stack } = thrown as { name: unknown; message: unknown; stack?: unknown }
    return (
      typeof name === 'string' &&
      typeof message === 'string' &&
      (stack === undefined || typeof stack === 'string')
    )
  } catch {
    return false
  }
}

/** Waits this long at most. */
export async function within<T>(
  promise: Promise<T>,
  ms: number,
  explain: (limit: string) => string
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(explain(`${ms / 1000} s`))), ms)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}

/** Some calls to a browser have no time limit of their own, and a browser under load may never answer. */
export function unanswered(what: string): (limit: string) => string {
  return (limit) => `the browser did not answer within ${limit}: ${what}`
}
