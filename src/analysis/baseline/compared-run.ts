import type { Figures, Scope } from '../results/figures/measurements.js'

/** The figures of one run, just measured or recorded earlier. */
export interface ComparedRun {
  /** The service's own figure, or the one computed from all samples. */
  readonly apdex: { readonly score: number; readonly targetMs: number } | undefined
  /** Epoch ms of its first start, if that is known. */
  readonly startMs?: number | undefined
  readonly labels: readonly string[]
  readonly regions: readonly string[]
  /** Undefined if the scope has no samples, or none were recorded for it. */
  figures(scope: Scope): Figures | undefined
}
