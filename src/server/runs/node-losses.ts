import { nameOfNode } from './node-book.js'
import type { NodeEnd } from './run-on-grids.js'
import type { NodeFile } from './run-report.js'

/** Load that was requested but not generated, although the tools exited as if all was well. */
export function findLosses(nodes: readonly NodeEnd[], files: readonly NodeFile[]): string[] {
  const hasSamples = files.some(({ hasRows }) => hasRows)
  return nodes.flatMap((node) => {
    const file = files.find(({ grid, index }) => grid.id === node.grid.id && index === node.index)
    const said = node.outcome.losses ?? []
    const isExplained = node.isIdle || said.length > 0 || endedBadly(node)
    return [
      ...said,
      ...(file && hasSamples && !file.hasRows && !isExplained ? [`${nameOf(node)} recorded no samples`] : []),
      ...(file ? flawsOf(node, file) : [])
    ]
  })
}

/** The last row may be truncated if its tool was ended; a row that never ends is always an error. */
function flawsOf(node: NodeEnd, file: NodeFile): string[] {
  const isCut = file.restBytes > 0 && (file.isBroken || !endedBadly(node))
  return [
    ...(isCut ? [`the results of ${nameOf(node)} end in the middle of a row`] : []),
    ...(file.hasOtherColumns
      ? [`the results of ${nameOf(node)} have different columns from the other nodes' and are left out`]
      : [])
  ]
}

function endedBadly({ interruption, outcome }: NodeEnd): boolean {
  return interruption !== undefined || outcome.problem !== null
}

function nameOf({ grid, index }: NodeEnd): string {
  return nameOfNode(grid, index)
}
