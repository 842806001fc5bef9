import { ColumnRewriter } from './column-rewriter.js'

/**
 * Rewrites the thread names in the complete rows of a node, header first. The nodes of a grid name their threads alike; in one CSV the
 * names begin with the node, as those of JMeter's remote hosts do. A row without a name stays without.
 *
 * @param index The node's in its grid, from 0.
 */
export function createNodeThreads(index: number): ColumnRewriter {
  const prefix = `node${index + 1}-`
  return new ColumnRewriter({
    column: 'threadName',
    mostAddedBytes: prefix.length,
    rewrite: (bytes, start, end) =>
      start === end ? undefined : prefix + bytes.toString('latin1', start, end)
  })
}
