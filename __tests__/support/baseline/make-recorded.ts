import type { BaselineDocument, RecordedRun, RecordedScope } from '../../../src/contract/baseline.js'

export const FINGERPRINT = { plan: 'aa11', threads: '5', CPU: 'Zen 3' }

/** The full id of a commit that starts with the given characters. */
export function makeCommit(start: string): string {
  return start.padEnd(40, '0')
}

export function makeScope(changes: Partial<RecordedScope> = {}): RecordedScope {
  return {
    samples: 1000,
    failures: 10,
    meanMs: 120,
    apdex: 0.9,
    throughput: 50,
    percentilesMs: { '50': 100, '75': 120, '90': 150, '95': 200, '99': 300, '99.9': 400 },
    ...changes
  }
}

export function makeRun(changes: Partial<RecordedRun> = {}): RecordedRun {
  return {
    commit: makeCommit('a1'),
    runId: 'run1',
    atMs: 1_700_000_000_000,
    unusable: null,
    fingerprint: FINGERPRINT,
    apdex: { score: 0.91, targetMs: 500 },
    scopes: [makeScope()],
    ...changes
  }
}

/** Runs at intervals of an hour: run `i` is of commit `c<i>`. */
export function makeRuns(
  count: number,
  change: (i: number) => Partial<RecordedRun> = () => ({})
): RecordedRun[] {
  return Array.from({ length: count }, (_, i) =>
    makeRun({
      commit: makeCommit(`c${i}e`),
      runId: `run${i}`,
      atMs: 1_700_000_000_000 + i * 3_600_000,
      ...change(i)
    })
  )
}

export function makeDocument(runs: readonly RecordedRun[] = [makeRun()], branch = 'main'): BaselineDocument {
  return { schema: 1, branch, runs }
}
