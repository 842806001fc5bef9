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
async function settle(act: () => unknown): Promise<{ value: unknown } | { error: Error }> {
  try {
    return { value: await act() }
  } catch (thrown) {
    return { error: toError(thrown) }
  }
}

export function textOf(thrown: unknown): string {
  const { message } = (thrown ?? {}) as { message?: unknown }
  const said = message ?? thrown
  return typeof said === 'string' ? said : inspect(said, { depth: 1, breakLength: Infinity })
}

/** An error whose message is a text. */
export function toError(thrown: unknown): Error {
  const isPlain = thrown instanceof Error && typeof (thrown.message as unknown) === 'string'
  return isPlain ? thrown : new Error(textOf(thrown))
}

export function stackOf(thrown: unknown): string {
  const { stack, message } = toError(thrown)
  return typeof stack === 'string' ? stack : message
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
