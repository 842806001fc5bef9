import type { Clock } from '../../clock.js'

/** Waits; rejects with the signal's reason when it aborts. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      callOff()
      reject(signal?.reason as Error)
    }
    const callOff = clock.after(delayMs, () => {
      signal?.removeEventListener('abort', abort)
      resolve()
    })
    if (signal?.aborted) abort()
    else signal?.addEventListener('abort', abort, { once: true })
  })
}
