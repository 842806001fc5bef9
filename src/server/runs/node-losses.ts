import type { NodeEnd } from './run-on-grids.js'
import type { NodeFile } from './run-report.js'

/** The load that was asked for and not made, although the tools ended as if nothing had happened. */
export function findLosses(nodes: readonly NodeEnd[], files: readonly NodeFile[]): string[] {
  const hasSamples = files.some(({ hasRows }) => hasRows)
  return nodes.flatMap((node) => {
    const file = files.find(({ grid, index }) => grid.id === node.grid.id && index === node.index)
    const said = node.outcome.losses ?? []
    const isExplained = node.isIdle || said.length > 0 || endedBadly(node)
    return [
      ...said,
      ...(file && hasSamples && !file.hasRows && !isExplained ? [`${nameOf(node)} took no sample`] : []),
      ...(file ? flawsOf(node, file) : [])
    ]
  })
}

/** A row may well be cut when its tool was ended; one without an end is never right. */
function flawsOf(node: NodeEnd, file: NodeFile): string[] {
  const isCut = file.restBytes > 0 && (file.isBroken || !endedBadly(node))
  return [
    ...(isCut ? [`the results of ${nameOf(node)} end within a row`] : []),
    ...(file.hasOtherColumns
      ? [`the results of ${nameOf(node)} have other columns than those of the other nodes, and are left out`]
      : [])
  ]
}

function endedBadly({ interruption, outcome }: NodeEnd): boolean {
  return interruption !== undefined || outcome.problem !== null
}

function nameOf({ grid, index }: NodeEnd): string {
  return `node ${index + 1} of ${grid.spec.instanceQuantity} in ${grid.spec.region}`
}
