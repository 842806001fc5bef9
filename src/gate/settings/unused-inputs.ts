import type { InputName } from './inputs.js'
import type { Settings } from './settings.js'

/** Inputs that describe the run to be made from files. */
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
/** Inputs for what happens once the run is started. */
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

/** Inputs that were given and have no effect together with the others. */
export function listUnused(isGiven: (name: InputName) => boolean, situation: Situation): InputName[] {
  return [...inputsForRun(situation), ...inputsForWaiting(situation)].filter(isGiven)
}

/** One sentence for each reason, with the inputs it concerns; undefined where everything has its effect. */
export function describeUnused({
  unused,
  ...situation
}: Situation & Pick<Settings, 'unused'>): string | undefined {
  const { origin } = situation
  const named = (names: readonly string[]): string => unused.filter((name) => names.includes(name)).join(', ')
  const forRun = named(inputsForRun(situation))
  const forWaiting = named(inputsForWaiting(situation))
  const sentences = [
    ...(forRun === ''
      ? []
      : [
          origin.kind === 'existing'
            ? `run-id judges a run that exists and is left as it is, so these inputs do not change it: ${forRun}.`
            : `repeat starts a run again as it was, so these inputs do not change it: ${forRun}.`
        ]),
    ...(forWaiting === ''
      ? []
      : [
          `wait: false leaves the run once it is started, so these inputs have no effect then: ${forWaiting}.`
        ])
  ]
  return sentences.length === 0 ? undefined : `${sentences.join(' ')} Remove what is not meant for this step.`
}

function inputsForRun({ origin }: Situation): readonly InputName[] {
  if (origin.kind === 'files') return []
  // What exists already is stopped by nobody here.
  return origin.kind === 'existing' ? [...FOR_NEW_RUNS, 'stop-on-cancel'] : FOR_NEW_RUNS
}

function inputsForWaiting({ wait }: Situation): readonly InputName[] {
  return wait ? [] : FOR_WAITING
}
