import { readDetails } from '../../analysis/details/read-details.js'
import type { Outcome } from '../../analysis/outcome.js'
import type { AbsoluteThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { OnStall } from '../../analysis/thresholds/judge/judgement.js'
import type { Clock } from '../../contract/clock.js'
import { conclude } from '../verdict/conclude.js'
import type { EarlierVerdict } from './earlier-verdict.js'
import { readResultFiles } from './read-result-files.js'
import type { ResultSource } from './result-sources.js'

interface Options {
  readonly thresholds: readonly AbsoluteThreshold[]
  readonly apdexTargetMs: number
  readonly onStall: OnStall
  /** 0 if there is no warm-up. */
  readonly warmUpMs: number
  readonly earlier: EarlierVerdict
  /** What people should know besides. */
  readonly notes: readonly string[]
  /** Where to write what has to be translated first. */
  readonly folder: string
  readonly signal: AbortSignal
  readonly clock: Clock
}

/** The verdict on files by themselves: no run, nothing to compare with, and nothing is published. */
export async function judgeFiles(sources: readonly ResultSource[], options: Options): Promise<Outcome> {
  const { earlier, notes, folder, signal, clock, ...given } = options
  const settings = {
    ...given,
    ...{ name: '', tool: '', threads: undefined, durationSeconds: undefined, toolExitCode: undefined },
    ...({ origin: { kind: 'results', files: sources }, target: { kind: 'none' } } as const),
    ...{ regions: undefined, wait: true, stopEarly: false, unused: [], baseline: NO_BASELINE }
  }
  const reading = { settings, folder, isCopied: false, signal, earlier, clock }
  const findings = await readResultFiles(sources, reading)
  const outcome = conclude(settings, findings)
  const { collection: { countedFiles = [], measurements } = {} } = findings
  // The verdict does not depend on them.
  const details = await readDetails(countedFiles, { measurements, thresholds: given.thresholds })
  return {
    ...outcome,
    ...(typeof details === 'object' && { details }),
    run: undefined,
    notes: [...notes, ...outcome.notes]
  }
}

const NO_BASELINE = {
  ...({ source: { kind: 'off' }, onMissing: 'warn', onUnsure: 'warn' } as const),
  ...{ branch: undefined, noise: 0, confirm: 0, ignoredParameters: [] }
}
