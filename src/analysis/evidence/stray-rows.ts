import type { ScanResult } from '../results/counts/scan-result.js'
import { type Busy, listBusy } from './long-pause.js'

/** Shorter pauses are part of any plan. */
const LEAST_PAUSE_MS = 5_000
/** A pause is unlike the others if it is longer than any of them by this factor. */
const UNLIKE = 5
/** Rows apart from the others are few: at most this share of all of them, or this many. */
const MOST_SHARE = 0.01
const MOST_ROWS = 3
/** Among fewer rows than these for each of them, nothing says which ones are apart. */
const LEAST_OTHERS = 3

export interface Core {
  readonly fromMs: number
  readonly toMs: number
  /** How long nothing was in progress between rows that are apart and the others; 0 if there are none on that side. */
  readonly pauseBeforeMs: number
  readonly pauseAfterMs: number
}

/**
 * When the rows took place without those that are apart: a few, behind a pause that is unlike any other. Where requests are far apart,
 * none is. Undefined without times.
 */
export function findCore(scans: readonly ScanResult[]): Core | undefined {
  const blocks = splitAtPauses(scans.flatMap(listBusy).sort((one, other) => one.fromMs - other.fromMs))
  const most = Math.max(...blocks.map(({ samples }) => samples))
  const at = blocks.findIndex(({ samples }) => samples === most)
  const largest = blocks[at]
  const [first, last] = [blocks[0], blocks.at(-1)]
  if (largest === undefined || first === undefined || last === undefined) return undefined
  const all = blocks.reduce((sum, { samples }) => sum + samples, 0)
  const others = all - most
  const isFew = others <= Math.max(MOST_ROWS, all * MOST_SHARE) && others * LEAST_OTHERS <= most
  if (!isFew) return { fromMs: first.fromMs, toMs: last.toMs, pauseBeforeMs: 0, pauseAfterMs: 0 }
  const unlikeMs = UNLIKE * largest.longestPauseMs
  let [from, to] = [at, at]
  while (pauseAfter(blocks, from - 1) <= unlikeMs) from--
  while (pauseAfter(blocks, to) <= unlikeMs) to++
  return {
    fromMs: blocks[from]?.fromMs ?? first.fromMs,
    toMs: blocks[to]?.toMs ?? last.toMs,
    pauseBeforeMs: from === 0 ? 0 : pauseAfter(blocks, from - 1),
    pauseAfterMs: to === blocks.length - 1 ? 0 : pauseAfter(blocks, to)
  }
}

interface Block extends Busy {
  readonly longestPauseMs: number
}

function splitAtPauses(busy: readonly Busy[]): Block[] {
  const blocks: Block[] = []
  for (const { fromMs, toMs, samples } of busy) {
    const last = blocks.at(-1)
    const pauseMs = last === undefined ? Infinity : fromMs - last.toMs
    if (last === undefined || pauseMs >= LEAST_PAUSE_MS) {
      blocks.push({ fromMs, toMs, samples, longestPauseMs: 0 })
      continue
    }
    blocks[blocks.length - 1] = {
      fromMs: last.fromMs,
      toMs: Math.max(last.toMs, toMs),
      samples: last.samples + samples,
      longestPauseMs: Math.max(last.longestPauseMs, pauseMs)
    }
  }
  return blocks
}

/** Infinity before the first block and after the last one. */
function pauseAfter(blocks: readonly Block[], at: number): number {
  const [before, after] = [blocks[at], blocks[at + 1]]
  return before === undefined || after === undefined ? Infinity : after.fromMs - before.toMs
}
