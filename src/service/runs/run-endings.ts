import { RequestError } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import { joinNodeLines } from '../node-lines.js'
import type { RunRecord } from '../../contract/records.js'
import type { RunPorts } from './make-ready.js'
import { cutLogs } from './keep-logs.js'
import { type Findings, formatDoubts, formatFindings } from './findings.js'
import { findNode, nameOfNode } from './node-book.js'
import type { NodeEnd } from './run-on-grids.js'
import { describeResults, mergeResults, type Results, type NodeFile } from './run-report.js'

export interface RunEnd extends Findings {
  /** What may be a mistake or intended. */
  readonly doubts?: readonly string[]
  readonly nodes: readonly NodeEnd[]
  readonly endedMs: number | undefined
}

/** Turns the nodes' samples into the run's results and sets its final status. */
export class RunEndings {
  private readonly merges = new Map<string, Promise<void>>()
  /** Aborted when there is no time left to merge results. */
  private readonly limit = new AbortController()

  constructor(private readonly ports: Pick<RunPorts, 'store' | 'engines' | 'clock' | 'log'>) {}

  /** Everything can be downloaded before the status says that the run is over. Whatever fails on the way, the run gets its final status. */
  async conclude(run: RunRecord, end: RunEnd): Promise<void> {
    let status: RunRecord['status'] = 'problem'
    try {
      status = await this.makeResults(run, end)
    } catch (thrown) {
      const problem = `the results could not be summarized: ${messageOf(thrown)}`
      run.remoteErrors = formatFindings({ ...end, problems: [...end.problems, problem] })
    }
    run.status = status
    this.ports.store.saveRun(run)
  }

  /** Merges the results of a run that had no space or no time for it when it ended. */
  async settle(run: RunRecord): Promise<void> {
    if (!run.unmerged) return
    const merge = this.merges.get(run.id) ?? this.mergeAgain(run)
    this.merges.set(run.id, merge)
    await merge.finally(() => this.merges.delete(run.id))
  }

  /** Results not merged in time are left for the next start. Returns a function that cancels the limit. */
  limitTo(withinMs: number): () => void {
    return this.ports.clock.after(withinMs, () =>
      this.limit.abort(new Error('there was no time left before the service closed'))
    )
  }

  private async makeResults(run: RunRecord, end: RunEnd): Promise<'finished' | 'problem'> {
    const results = await this.merge(run)
    const isMerged = !('problem' in results)
    const said = end.nodes.flatMap(({ outcome }) => outcome.problem ?? [])
    const merged = isMerged ? results.nodes.flatMap(describeOddity) : [results.problem]
    const problems = [...end.problems, ...said, ...merged]
    const losses = [...end.losses, ...findLosses(end.nodes, isMerged ? results.nodes : [])]
    const doubts = [...end.nodes.flatMap(({ outcome }) => outcome.doubts ?? []), ...(end.doubts ?? [])]
    const hasProblem = problems.length > 0
    run.remoteErrors = formatFindings({ problems, losses })
    run.warnings = formatDoubts(doubts)
    const told = end.nodes.map(({ outcome }) => outcome.lines ?? [])
    const lines = joinNodeLines(told, !hasProblem && losses.length === 0)
    if (lines.length > 0) run.toolLines = lines
    Object.assign(run, spanOf(run, end, isMerged ? results : undefined))
    if (isMerged) await this.keep(run, results, hasProblem)
    else run.unmerged = true
    return hasProblem ? 'problem' : 'finished'
  }

  private async mergeAgain(run: RunRecord): Promise<void> {
    const results = await this.merge(run)
    if ('problem' in results) throw new RequestError(503, `run ${run.id}: ${results.problem}`)
    await this.keep(run, results, true)
    this.ports.store.saveRun(run)
  }

  private async merge(run: RunRecord): Promise<Results | { problem: string }> {
    const { store, log } = this.ports
    await cutLogs(store, run).catch((thrown: unknown) =>
      log(`run ${run.id}: a log of its nodes could not be cut: ${messageOf(thrown)}`)
    )
    try {
      const results = await mergeResults(run, { store, signal: this.limit.signal })
      await store.secure(store.folder.resultsDir(run.id))
      return results
    } catch (thrown) {
      const problem = `the results could not be written: ${messageOf(thrown)}; the nodes' samples are kept and merged as soon as possible`
      log(`run ${run.id}: ${problem}`)
      return { problem }
    }
  }

  private async keep(run: RunRecord, results: Results, hasProblem: boolean): Promise<void> {
    const { store, engines, log } = this.ports
    for (const { grid, index, rows, span } of results.nodes) {
      const node = findNode(run, grid.id, index)
      if (node && rows !== undefined) node.rows = rows
      if (node && span) Object.assign(node, { firstSampleMs: span.startMs, lastSampleMs: span.endMs })
    }
    Object.assign(run, describeResults(run, results, { isSynthetic: engines.synthetic, hasProblem }))
    delete run.unmerged
    await store.folder
      .discardNodes(run.id)
      .catch((thrown: unknown) =>
        log(`could not remove the nodes' folder of run ${run.id}: ${messageOf(thrown)}`)
      )
  }
}

/** Where its samples should be is something that nobody can read safely. */
function describeOddity({ grid, index, oddity }: NodeFile): string[] {
  if (oddity === undefined) return []
  return [
    `the results of ${nameOfNode(grid, index)} are ${oddity}, not a regular file: the plan replaced them, so they were not read`
  ]
}

/** By the nodes' own time spans if they have any, else by the work, or by the last sample if the end was not observed. */
function spanOf(run: RunRecord, { nodes, endedMs }: RunEnd, results: Results | undefined) {
  const spans = nodes.flatMap(({ outcome }) => outcome.span ?? [])
  if (spans.length > 0) {
    return {
      startedMs: Math.min(...spans.map((span) => span.startMs)),
      stoppedMs: Math.max(...spans.map((span) => span.endMs))
    }
  }
  const { startedMs, createdMs } = run
  const stoppedMs = endedMs ?? results?.measurements.endMs ?? startedMs ?? createdMs
  // The wall clock may have been set back meanwhile.
  return { startedMs, stoppedMs: Math.max(stoppedMs, startedMs ?? stoppedMs) }
}

/** Load that was requested but not generated, although the tools exited as if all was well. */
export function findLosses(nodes: readonly NodeEnd[], files: readonly NodeFile[]): string[] {
  const hasSamples = files.some(({ hasRows }) => hasRows)
  return nodes.flatMap((node) => {
    const file = files.find(({ grid, index }) => grid.id === node.grid.id && index === node.index)
    const said = node.outcome.losses ?? []
    const isExplained = node.isIdle || said.length > 0 || endedBadly(node)
    return [
      ...said,
      ...(file && hasSamples && !file.hasRows && !isExplained
        ? [`${nameOfNode(node.grid, node.index)} recorded no samples`]
        : []),
      ...(file ? flawsOf(node, file) : [])
    ]
  })
}

/** The last row may be truncated if its tool was ended; a row that never ends is always an error. */
function flawsOf(node: NodeEnd, file: NodeFile): string[] {
  const isCut = file.restBytes > 0 && (file.isBroken || !endedBadly(node))
  return [
    ...(isCut ? [`the results of ${nameOfNode(node.grid, node.index)} end in the middle of a row`] : []),
    ...(file.hasOtherColumns
      ? [
          `the results of ${nameOfNode(node.grid, node.index)} have different columns from the other nodes' and are left out`
        ]
      : [])
  ]
}

function endedBadly({ interruption, outcome }: NodeEnd): boolean {
  return interruption !== undefined || outcome.problem !== null
}
