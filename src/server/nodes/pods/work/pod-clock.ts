import type { Clock } from '../../../clock.js'
import { readTimeMs } from './turn-state.js'

/** A pod's clock minus this machine's; the truth is within the error. */
export interface ClockReading {
  readonly offsetMs: number
  readonly errorMs: number
}

const ROUND_TRIPS = 10
/** Of this machine's clock, which counts whole milliseconds. */
const RESOLUTION_MS = 0.5
const HALF_SECOND_MS = 500

/** The quickest of ten round trips: the slower ones waited somewhere, and nobody knows on which way. */
export async function readPodClock(clock: Clock, askTime: () => Promise<string>): Promise<ClockReading> {
  let best: ClockReading | undefined
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const sentMs = clock.now()
    const { ms, isWholeSecond } = readTimeMs(await askTime())
    const arrivedMs = clock.now()
    const reading = {
      offsetMs: ms + (isWholeSecond ? HALF_SECOND_MS : 0) - (sentMs + arrivedMs) / 2,
      errorMs: (arrivedMs - sentMs) / 2 + RESOLUTION_MS + (isWholeSecond ? HALF_SECOND_MS : 0)
    }
    if (best === undefined || reading.errorMs < best.errorMs) best = reading
  }
  return best ?? { offsetMs: 0, errorMs: Infinity }
}

/**
 * What to subtract from the pod's times: 0 if that is within the error. If the clock moved meanwhile, what is right in the middle of
 * the run.
 */
export function offsetOf(readings: readonly ClockReading[]): number {
  const [first, ...others] = readings
  if (first === undefined) return 0
  if (driftOf(readings) > 0)
    return Math.round(readings.reduce((sum, { offsetMs }) => sum + offsetMs, 0) / readings.length)
  const best = others.reduce((found, next) => (next.errorMs < found.errorMs ? next : found), first)
  return Math.abs(best.offsetMs) > best.errorMs ? Math.round(best.offsetMs) : 0
}

/** How far the clock moved between the first and the last reading, beyond their errors. */
export function driftOf(readings: readonly ClockReading[]): number {
  const [first] = readings
  const last = readings.at(-1)
  if (first === undefined || last === undefined) return 0
  const movedMs = Math.abs(last.offsetMs - first.offsetMs)
  return movedMs > first.errorMs + last.errorMs ? movedMs : 0
}
