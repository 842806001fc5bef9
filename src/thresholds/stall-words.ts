import type { Stall } from '../results/stalls/find-stalls.js'
import { quoteIfNeeded } from './quoting.js'
import { writeNumber } from './write-number.js'

/** A time of the run, from its start: `0:08`, `12:40`, `1:02:03`. */
export function formatMoment(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  const [minutes, hours] = [Math.floor(seconds / 60) % 60, Math.floor(seconds / 3600)]
  const twoDigits = (count: number): string => String(count).padStart(2, '0')
  const before = hours === 0 ? String(minutes) : `${hours}:${twoDigits(minutes)}`
  return `${before}:${twoDigits(seconds % 60)}`
}

/** How long somebody waited, rounded down: `174 ms`, `4.8 s`. With a limit, on its own side of it. */
export function formatWait(ms: number, limitMs?: number): string {
  if (ms < 1000) return `${writeNumber(Math.floor(ms), 0)} ms`
  for (const stepMs of [100, 10]) {
    const shownMs = Math.floor(ms / stepMs) * stepMs
    if (limitMs === undefined || Math.sign(shownMs - limitMs) === Math.sign(ms - limitMs))
      return `${writeNumber(shownMs / 1000, 2)} s`
  }
  return `${writeNumber(ms / 1000, 3)} s`
}

/** A limit in the same units, as exact as it was written. */
export function formatWaitLimit(ms: number): string {
  return ms < 1000 ? `${writeNumber(ms, 12)} ms` : `${writeNumber(ms / 1000, 12)} s`
}

/** `at 0:08 nothing was answered for 4.8 s while 12 users waited`; of a label alone, `nothing of checkout was answered` */
export function describeStall(
  { startMs, ms, waiting, label }: Stall,
  runStartMs: number | undefined
): string {
  const at = runStartMs === undefined ? '' : `at ${formatMoment(startMs - runStartMs)} `
  return `${at}nothing ${label === undefined ? '' : `of ${quoteIfNeeded(label)} `}was answered for ${formatWait(ms)} while ${writeNumber(waiting, 0)} users waited`
}
