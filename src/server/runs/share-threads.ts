import type { GridSpec } from '../store/records.js'

/**
 * The threads of each node: divided among the nodes of an on-demand grid, the full number for each node of a hosted one.
 * Null leaves them to the plan.
 */
export function shareThreads(spec: GridSpec, threads: number | null): (number | null)[] {
  const nodes = spec.instanceQuantity
  return Array.from({ length: nodes }, (_, index) => {
    if (threads === null || spec.infrastructure === 'hosted') return threads
    return Math.floor(threads / nodes) + (index < threads % nodes ? 1 : 0)
  })
}
