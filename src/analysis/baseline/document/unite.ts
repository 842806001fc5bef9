import { shorten } from '../../../contract/text.js'
import { BASELINE_SCHEMA, MOST_RUNS } from '../../../contract/baseline.js'
import type { BaselineDocument, RecordedRun } from '../../../contract/baseline.js'
import {
  BaselineDocumentError,
  MOST_RUNS_WITH_HISTOGRAMS,
  withoutHistogram,
  readRun
} from './baseline-document.js'

/** The documents of recorders that raced as one: each run once, by time. The order of the documents does not matter. */
export function uniteBaselines(documents: readonly BaselineDocument[]): BaselineDocument {
  const [first] = documents
  if (first === undefined) throw new BaselineDocumentError('there is no baseline document to unite')
  const other = documents.find(({ branch }) => branch !== first.branch)
  if (other !== undefined) throw differentBranches(first.branch, other.branch)
  const runs = new Map<string, RecordedRun>()
  for (const run of documents.flatMap((document) => document.runs)) {
    const known = runs.get(keyOf(run))
    runs.set(keyOf(run), known === undefined ? run : choose(known, run))
  }
  return arrange(first.branch, [...runs.values()])
}

/** Adds a run to the document of its branch, or makes a new one. A run that was recorded before is replaced. */
export function addRun(
  document: BaselineDocument | undefined,
  run: RecordedRun,
  branch: string
): BaselineDocument {
  if (document !== undefined && document.branch !== branch) throw differentBranches(document.branch, branch)
  const others = (document?.runs ?? []).filter((known) => keyOf(known) !== keyOf(run))
  // What is written must be accepted when it is read again.
  return arrange(branch, [...others, readRun(run, others.length)])
}

function arrange(branch: string, runs: readonly RecordedRun[]): BaselineDocument {
  const kept = [...runs].sort(byTime).slice(-MOST_RUNS)
  const firstDetailed = kept.length - MOST_RUNS_WITH_HISTOGRAMS
  return {
    schema: BASELINE_SCHEMA,
    branch,
    runs: kept.map((run, i) =>
      i < firstDetailed ? { ...run, scopes: run.scopes.map(withoutHistogram) } : run
    )
  }
}

function keyOf({ runId, commit }: RecordedRun): string {
  return JSON.stringify([runId, commit])
}

function byTime(a: RecordedRun, b: RecordedRun): number {
  return a.atMs - b.atMs || (keyOf(a) < keyOf(b) ? -1 : 1)
}

/** Documents are trimmed by their size, so one may know more of a run than another. What speaks against a run is never lost. */
function choose(a: RecordedRun, b: RecordedRun): RecordedRun {
  if ((a.unusable === null) !== (b.unusable === null)) return a.unusable === null ? b : a
  const [one, other] = [a, b].map((run) => JSON.stringify(run)) as [string, string]
  const order = other.length - one.length || (one <= other ? -1 : 1)
  return order <= 0 ? a : b
}

function differentBranches(one: string, other: string): BaselineDocumentError {
  return new BaselineDocumentError(
    `baseline documents of different branches, ${shorten(one)} and ${shorten(other)}, do not belong together; use one document per branch`
  )
}
