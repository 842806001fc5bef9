export { stackOf } from './thrown.js'
import type { Rows } from './rows.js'
import type { Schedule } from './schedule.js'
import { toError } from './thrown.js'

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
