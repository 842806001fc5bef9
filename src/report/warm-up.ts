import type { Source } from '../analysis/results/figures/measurements.js'
import type { Outcome } from '../analysis/outcome.js'
import { formatDuration } from '../contract/text.js'

/** The figures of what counts are always shown; this says what is not among them. Undefined without a warm-up. */
export function warmUpSentence({
  warmUp,
  measurements
}: Partial<Pick<Outcome, 'warmUp' | 'measurements'>>): string | undefined {
  if (warmUp === undefined) return undefined
  const { ms, samples } = warmUp
  const start = `Warm-up: ${formatDuration(ms)};`
  if (samples === 0) return `${start} there were no samples to leave out.`
  const isAll = measurements?.figures({}) === undefined
  const those = `${isAll ? 'all ' : ''}${describeCounts(warmUp)}`
  return isAll
    ? `${start} ${those} left out, so there are no figures.`
    : `${start} ${those} left out of all figures.`
}

/** The CSVs with all of their rows, and with what keeps them from being evidence, the warm-up included. */
export function listSources({ warmUp, measurements }: Pick<Outcome, 'warmUp' | 'measurements'>): Source[] {
  const all = warmUp?.whole.sources ?? []
  return (measurements?.sources ?? all).map((source, i) => {
    const whole = all[i]
    return whole?.grid === source.grid ? { ...source, rows: whole.rows } : source
  })
}

function describeCounts({ samples, failures }: { samples: number; failures: number }): string {
  const noun = samples === 1 ? 'sample' : 'samples'
  const failed = failures === 0 ? 'none failed' : `${failures.toLocaleString('en-US')} failed`
  return `${samples.toLocaleString('en-US')} ${noun} (${failed})`
}

/** More than anyone reads; verdict.json has all of them. */
const MOST_SHOWN = 10

/** Warnings besides the verdict: load that was not reached, and the service's own error messages. */
export function listWarnings({
  warnings,
  remoteErrors
}: Pick<Outcome, 'warnings' | 'remoteErrors'>): string[] {
  const all = [...warnings, ...remoteErrors.map((line) => `The service says: ${line}`)]
  if (all.length <= MOST_SHOWN) return all
  return [...all.slice(0, MOST_SHOWN), `${all.length - MOST_SHOWN} more are in verdict.json.`]
}
