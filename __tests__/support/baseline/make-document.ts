import type { BaselineDocument, RecordedRun } from '../../../src/contract/baseline.js'
import { encodeBaseline } from '../../../src/analysis/baseline/document/baseline-document.js'
import { makeZip } from '../step/make-zip.js'

/** A commit: forty times the digit. */
export function shaOf(digit: string): string {
  return digit.repeat(40)
}

function makeRecordedRun(changes: Partial<RecordedRun> = {}): RecordedRun {
  return {
    commit: shaOf('1'),
    runId: 'run1',
    atMs: Date.UTC(2026, 0, 1),
    unusable: null,
    fingerprint: { plan: 'aa' },
    apdex: null,
    scopes: [
      { samples: 10, failures: 0, meanMs: 100, apdex: null, throughput: 1, percentilesMs: { '95': 200 } }
    ],
    ...changes
  }
}

export function makeDocument(
  runs: readonly Partial<RecordedRun>[] = [{}],
  branch = 'main'
): BaselineDocument {
  return { schema: 1, branch, runs: runs.map(makeRecordedRun) }
}

/** The artifact that holds the document. */
export function zipDocument(document: BaselineDocument): Buffer {
  return makeZip({ 'baseline.json.gz': encodeBaseline(document) })
}
