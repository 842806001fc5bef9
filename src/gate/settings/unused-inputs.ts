import {
  isAbsoluteThreshold,
  isBaselineThreshold,
  type Threshold
} from '../../analysis/thresholds/grammar/threshold.js'
import type { BaselineSettings } from './baseline-settings.js'
import { INPUT_NAMES, onlyFor, type InputName } from '../../contract/inputs.js'

const FOR_NEW_RUNS = INPUT_NAMES.filter((name) => onlyFor(name) === 'new run')
const FOR_WAITING = INPUT_NAMES.filter((name) => onlyFor(name) === 'waiting')
/** A name tells gates apart, and threads and duration are what the files are compared with. */
const UNUSED_BY_RESULTS: readonly InputName[] = [
  ...FOR_NEW_RUNS.filter((name) => !['name', 'threads', 'duration'].includes(name)),
  ...(['regions', 'service-name', 'on-missing-token', 'wait-for', 'timeout'] as const),
  ...(['poll-interval', 'stop-on-cancel'] as const)
]
/** Inputs for the judgement on lines that name `baseline`. */
const FOR_BASELINE_LINES: readonly InputName[] = ['on-missing-baseline', 'on-unsure', 'confirm']

/** What decides it, of the settings. */
interface Situation {
  readonly origin: { readonly kind: 'files' | 'existing' | 'repeat' | 'results' }
  readonly target?: { readonly kind: 'remote' | 'local' | 'none' } | undefined
  readonly wait: boolean
  readonly baseline: Pick<BaselineSettings, 'source'>
  readonly thresholds: readonly Threshold[]
  readonly stopEarly: boolean
}

interface UnusedGroup {
  readonly names: readonly InputName[]
  readonly reason: string
  /** The reason in terms of flags, after "would have no effect". */
  readonly onCommandLine: string
}

/** Inputs that were given and have no effect in combination with the others. */
export function listUnused(isGiven: (name: InputName) => boolean, situation: Situation): InputName[] {
  return groupUnused(situation).flatMap(({ names }) => names.filter(isGiven))
}

/** The ignored inputs with the reason for each group; undefined if there are none. */
export function describeUnused({
  unused,
  ...situation
}: Situation & { readonly unused: readonly string[] }): string | undefined {
  const ignored = groupUnused(situation).flatMap(({ names, reason }) => {
    const named = unused.filter((name) => names.some((known) => known === name))
    return named.length === 0 ? [] : [`${named.join(', ')} (${reason})`]
  })
  return ignored.length === 0
    ? undefined
    : `Ignored inputs: ${ignored.join('; ')}. Remove them from this step.`
}

/** What would have no effect, by reason; each input once. */
export function groupUnused(situation: Situation): UnusedGroup[] {
  const { origin, wait, baseline, thresholds, stopEarly, target } = situation
  const { kind } = baseline.source
  const hasBaselineLines = thresholds.some(isBaselineThreshold)
  const hasLimits = thresholds.some(
    (threshold) => isAbsoluteThreshold(threshold) && threshold.level === 'fail'
  )
  const groups: (UnusedGroup | false)[] = [
    // The gate never stops a run that it did not start.
    origin.kind === 'existing' && {
      names: [...FOR_NEW_RUNS, 'stop-on-cancel', 'wait-for'],
      reason: 'run-id judges an existing run as it is',
      onCommandLine: 'together with --run-id; remove one of the two'
    },
    origin.kind === 'repeat' && {
      names: FOR_NEW_RUNS,
      reason: 'repeat starts a run again unchanged',
      onCommandLine: 'together with --repeat; remove one of the two'
    },
    origin.kind === 'results' && {
      names: UNUSED_BY_RESULTS,
      reason: 'results judges files that exist, and runs nothing',
      onCommandLine: 'together with --results; remove one of the two'
    },
    origin.kind !== 'results' && {
      names: ['tool-exit-code'],
      reason: 'it is about the tool that wrote the files of results',
      onCommandLine: 'without --results; add it, or remove it'
    },
    target?.kind === 'remote' && {
      names: ['apdex-target'],
      reason: 'the service has a target of its own',
      onCommandLine: 'with a service, which has a target of its own; remove it'
    },
    !wait && {
      names: FOR_WAITING,
      reason: 'wait: false does not wait for the run',
      onCommandLine: 'together with --wait false; remove one of the two'
    },
    kind !== 'side-by-side' && {
      names: ['baseline-parameters', 'baseline-rounds'],
      reason: 'they are for baseline: side-by-side',
      onCommandLine: 'without --baseline side-by-side; add it, or remove them'
    },
    kind === 'side-by-side' && {
      names: ['baseline-branch', 'noise', 'ignore-parameters'],
      reason: 'baseline: side-by-side compares with no recorded runs',
      onCommandLine: 'together with --baseline side-by-side; remove one of the two'
    },
    kind === 'off' && {
      names: ['baseline-branch', 'noise', 'ignore-parameters', ...FOR_BASELINE_LINES],
      reason: 'baseline: off compares nothing',
      onCommandLine: 'together with --baseline off; remove one of the two'
    },
    !hasBaselineLines && {
      names: FOR_BASELINE_LINES,
      reason: 'no line of thresholds names baseline',
      onCommandLine: 'without a line of --thresholds that names baseline; add one, or remove them'
    },
    stopEarly &&
      !hasLimits && {
        names: ['stop-early'],
        reason: 'no line of thresholds that can fail the gate has an absolute limit',
        onCommandLine: 'without a line of --thresholds with an absolute limit; add one, or remove it'
      }
  ]
  const seen = new Set<InputName>()
  return groups
    .filter((group) => group !== false)
    .map((group) => {
      const names = group.names.filter((name) => !seen.has(name))
      for (const name of names) seen.add(name)
      return { ...group, names }
    })
}
