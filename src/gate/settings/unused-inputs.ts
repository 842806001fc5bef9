import type { InputName } from './inputs.js'
import type { Settings } from './settings.js'

/** Inputs that describe a run created from files. */
const FOR_NEW_RUNS: readonly InputName[] = [
  'grids',
  'name',
  'notes',
  'project',
  'tags',
  'privacy',
  'threads',
  'rampup',
  'duration',
  'override-hosts',
  'override-parameters',
  'tool'
]
/** Inputs for what happens after the run has started. */
const FOR_WAITING: readonly InputName[] = [
  'thresholds',
  'poll-interval',
  'stop-on-cancel',
  'fail-on',
  'artifact-name',
  'retention-days',
  'comment'
]

type Situation = Pick<Settings, 'origin' | 'wait'>

/** Inputs that were given and have no effect in combination with the others. */
export function listUnused(isGiven: (name: InputName) => boolean, situation: Situation): InputName[] {
  return [...inputsForRun(situation), ...inputsForWaiting(situation)].filter(isGiven)
}

/** The ignored inputs with the reason for each group; undefined if there are none. */
export function describeUnused({
  unused,
  ...situation
}: Situation & Pick<Settings, 'unused'>): string | undefined {
  const { origin } = situation
  const named = (names: readonly string[]): string => unused.filter((name) => names.includes(name)).join(', ')
  const forRun = named(inputsForRun(situation))
  const forWaiting = named(inputsForWaiting(situation))
  const reasonForRun =
    origin.kind === 'existing'
      ? 'run-id judges an existing run as it is'
      : 'repeat starts a run again unchanged'
  const ignored = [
    ...(forRun === '' ? [] : [`${forRun} (${reasonForRun})`]),
    ...(forWaiting === '' ? [] : [`${forWaiting} (wait: false does not wait for the run)`])
  ]
  return ignored.length === 0
    ? undefined
    : `Ignored inputs: ${ignored.join('; ')}. Remove them from this step.`
}

function inputsForRun({ origin }: Situation): readonly InputName[] {
  if (origin.kind === 'files') return []
  // The gate never stops a run that it did not start.
  return origin.kind === 'existing' ? [...FOR_NEW_RUNS, 'stop-on-cancel'] : FOR_NEW_RUNS
}

function inputsForWaiting({ wait }: Situation): readonly InputName[] {
  return wait ? [] : FOR_WAITING
}
