import { formatElapsed } from '../format-elapsed.js'

const FRACTIONS: readonly (readonly [share: number, words: string])[] = [
  [1, 'all'],
  [1 / 2, 'half'],
  [1 / 3, 'a third'],
  [2 / 3, 'two thirds'],
  [1 / 4, 'a quarter'],
  [3 / 4, 'three quarters']
]

/** What is gone with a node: `5 of 20 threads, a quarter of the load, were lost after 32 s`. */
export function describeLostShare(loss: {
  /** Those of the node and of all nodes; null where the plan decides. */
  readonly threads: number | null
  readonly allThreads: number | null
  /** All nodes with work. */
  readonly nodeCount: number
  /** Undefined if it had not started. */
  readonly elapsedMs: number | undefined
}): string {
  const { threads, allThreads, nodeCount, elapsedMs } = loss
  const isKnown = threads !== null && allThreads !== null
  const [lost, all, noun] = isKnown ? [threads, allThreads, 'thread'] : [1, nodeCount, 'node']
  const when = elapsedMs === undefined ? 'before the start' : `after ${formatElapsed(elapsedMs)}`
  const verb = lost === 1 ? 'was' : 'were'
  return `${lost} of ${all} ${noun}${all === 1 ? '' : 's'}, ${describeShare(lost / all)} of the load, ${verb} lost ${when}`
}

function describeShare(share: number): string {
  const known = FRACTIONS.find(([fraction]) => Math.abs(fraction - share) < 1e-9)
  const percent = Math.floor(share * 100)
  return known?.[1] ?? (percent === 0 ? 'less than 1%' : `${percent}%`)
}
