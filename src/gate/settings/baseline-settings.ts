import { suggestWord } from '../../contract/nearest.js'
import { isBaselineThreshold, type Threshold } from '../../analysis/thresholds/grammar/threshold.js'
import { formatDuration } from '../../contract/text.js'
import type { GateInputs, SettingsSources } from './inputs.js'
import { changesParameters, findNoParameter, splitParameters } from './override-parameters.js'

export type BaselineSettings = Readonly<Awaited<ReturnType<typeof readBaseline>>>

export type BaselineSource =
  | { readonly kind: 'auto' }
  | { readonly kind: 'off' }
  /** A baseline document; the path is absolute. */
  | { readonly kind: 'file'; readonly path: string }
  /** The parameters overlay `override-parameters` in the base segments. */
  | { readonly kind: 'side-by-side'; readonly parameters: string; readonly rounds: number }

export interface RunRules {
  /** Without a token other variables may be empty too, so only inputs that were given are checked. */
  readonly isSkipped: boolean
  readonly isLocal: boolean
  readonly wait: boolean
  readonly stopEarly: boolean
  readonly durationSeconds: number | undefined
  readonly timeoutSeconds: number
  readonly thresholds: readonly Threshold[]
  readonly warmUpMs: number
}

const KEYWORDS = ['auto', 'off', 'side-by-side'] as const
/** Other words for these; suggested, not accepted. */
const SYNONYMS: Readonly<Record<(typeof KEYWORDS)[number], readonly string[]>> = {
  auto: ['automatic', 'on', 'true', 'yes', 'default', 'recorded'],
  off: ['false', 'no', 'none', 'never', 'disabled', 'skip'],
  'side-by-side': ['sidebyside', 'side', 'ab', 'pairs']
}
const BRANCHES = ['main', 'master', 'develop', 'trunk']
const REMOVE = 'remove one of the two'

export async function readBaseline(inputs: GateInputs, sources: SettingsSources, rules: RunRules) {
  const source = await readSource(inputs, sources, inputs.take('baseline-rounds'))
  const settings = {
    source,
    /** Undefined: the base of the pull request or merge group, else the default branch. */
    branch: inputs.take('baseline-branch'),
    /** The assumed noise from run to run: 0.05 for `5%`. */
    noise: inputs.take('noise'),
    /** Parameters that do not count where runs are compared, besides those that say where the target is. */
    ignoredParameters: readIgnored(inputs),
    onMissing: inputs.take('on-missing-baseline'),
    onUnsure: inputs.take('on-unsure'),
    /** Further runs (side by side: further blocks of rounds) when a line is broken or unsure. */
    confirm: inputs.take('confirm')
  }
  if (source.kind === 'side-by-side') checkSideBySide(inputs, source.rounds, rules)
  if (source.kind === 'off') checkOff(inputs, rules)
  if (settings.confirm > 0) checkConfirm(inputs, source, rules)
  return settings
}

function readIgnored(inputs: GateInputs): readonly string[] {
  const names = inputs.lines('ignore-parameters', /[,\n]/)
  for (const name of names.filter((name) => !/^[A-Za-z_][\w.-]*$/.test(name))) {
    const meant = /^-[JD]([\w.-]+)/.exec(name)?.[1]
    const ask = meant === undefined ? '' : `: did you mean ${meant}?`
    // What follows a name may be its value, which may be secret.
    const shown = name.replace(/=[^]*/, '=…')
    inputs.complain(
      'ignore-parameters',
      `"${shown}" is invalid; expected the names of parameters, separated by commas or newlines${ask}`
    )
  }
  return names
}

/** How long the load lasts at most: side by side, all segments one after the other, confirming ones too; grids have to last as long. */
export function totalSeconds(
  { source, confirm }: BaselineSettings,
  segmentSeconds: number,
  timeoutSeconds: number
): number {
  if (source.kind !== 'side-by-side') return segmentSeconds
  // Rounds beyond the timeout have been refused already, and further blocks beyond it are not started.
  if (secondsOf(source.rounds, segmentSeconds) > timeoutSeconds) return segmentSeconds
  return Math.min(timeoutSeconds, secondsOf(source.rounds * (1 + confirm), segmentSeconds))
}

/** Each side has one further segment to warm up. */
function secondsOf(rounds: number, segmentSeconds: number): number {
  return 2 * (rounds + 1) * segmentSeconds
}

async function readSource(
  inputs: GateInputs,
  sources: SettingsSources,
  rounds: number
): Promise<BaselineSource> {
  const text = inputs.text('baseline')
  const keyword = KEYWORDS.find((known) => known === text)
  if (keyword === 'side-by-side')
    return { kind: keyword, parameters: inputs.text('baseline-parameters'), rounds }
  if (keyword !== undefined) return { kind: keyword }
  const problem = describeNoPath(text)
  const found = problem === undefined ? await sources.resolveBaseline(text) : { problem }
  const misspelt = 'problem' in found || found.exists ? undefined : describeMisspelt(text)
  if ('path' in found && misspelt === undefined) return { kind: 'file', path: found.path }
  inputs.complain('baseline', 'problem' in found ? found.problem : (misspelt ?? ''))
  return { kind: 'auto' }
}

/** Whether a word that is no file is probably meant as a branch. */
export function isBranchWord(text: string): boolean {
  return BRANCHES.includes(text.toLowerCase())
}

function describeNoPath(text: string): string | undefined {
  if (/[\r\n\0]/.test(text)) return 'is more than one line; expected auto, off, side-by-side or one path'
  if (/^[a-z][a-z\d+.-]+:\/\//i.test(text))
    return 'is an address; expected auto, off, side-by-side or the path of a document, which an earlier step can download'
  return undefined
}

/** A word that is probably meant as one of the keywords, and not as the path of a document that is yet to come. */
function describeMisspelt(text: string): string | undefined {
  const word = text.toLowerCase()
  if (isBranchWord(text))
    return `"${text}" is not a file; to compare with the runs of that branch, set baseline-branch: ${text} and leave baseline at auto`
  const synonym = KEYWORDS.find((keyword) => SYNONYMS[keyword].includes(word))
  const meant = synonym ?? (/[./\\]/.test(text) ? undefined : suggestWord(text, KEYWORDS))
  return meant === undefined
    ? undefined
    : `"${text}" is invalid; expected auto, off, side-by-side or the path of a baseline document: did you mean "${meant}"? (For a file of that name, write ./${text})`
}

function checkSideBySide(inputs: GateInputs, rounds: number, rules: RunRules): void {
  const refuse = (other: string, why: string): void =>
    inputs.complain('baseline', `side-by-side cannot be combined with ${other}, ${why}; ${REMOVE}`)
  if (inputs.isGiven('run-id')) refuse('run-id', 'which judges an existing run and starts none')
  if (inputs.isGiven('repeat')) refuse('repeat', 'because its runs are created from files')
  if (inputs.isGiven('results')) refuse('results', 'which starts no run')
  if (!rules.wait) refuse('wait: false', 'because its runs follow one another within this step')
  if (rules.stopEarly) refuse('stop-early: true', 'because each of its runs must last as long as the others')
  checkParameters(inputs, rules)
  const { durationSeconds: seconds, timeoutSeconds, warmUpMs } = rules
  const needsDuration = 'needs it; give how long one of its runs lasts, such as 30s'
  if (!inputs.isGiven('duration') && !rules.isSkipped)
    inputs.complain('duration', `is empty, but baseline: side-by-side ${needsDuration}`)
  if (seconds === undefined) return
  const each = formatDuration(seconds * 1000)
  if (warmUpMs >= seconds * 1000)
    inputs.complain(
      'warm-up',
      `${formatDuration(warmUpMs)} leaves nothing of a run of baseline: side-by-side, which lasts ${each} (duration); make warm-up shorter, or duration longer`
    )
  const needed = secondsOf(rounds, seconds)
  if (needed > timeoutSeconds)
    inputs.complain(
      'timeout',
      `${formatDuration(timeoutSeconds * 1000)} is too short for baseline: side-by-side, whose 2 × (${rounds} rounds + 1 to warm up) × ${each} take ${formatDuration(needed * 1000)}; raise timeout, or lower baseline-rounds or duration`
    )
}

const SUCH_AS =
  'give the override-parameters that lead the plan to the server of the base, such as -Jport=8081'

/** If they change nothing, the head would be compared with itself, and every line would hold. */
function checkParameters(inputs: GateInputs, { isSkipped }: RunRules): void {
  const parameters = inputs.text('baseline-parameters')
  const complain = (problem: string): void => inputs.complain('baseline-parameters', `${problem}; ${SUCH_AS}`)
  const odd = findNoParameter(parameters)
  if (odd > 0) complain(`entry ${odd} is not -Jname=value or -Dname=value`)
  else if (isSkipped) return
  else if (splitParameters(parameters).length === 0)
    complain(`${parameters === '' ? 'is empty' : 'has no parameter'}, but baseline: side-by-side needs it`)
  else if (!changesParameters(inputs.text('override-parameters'), parameters))
    complain(
      'changes nothing in override-parameters, so the runs of the base would be the same as those of the head'
    )
}

function checkOff(inputs: GateInputs, { thresholds }: RunRules): void {
  const [first, ...others] = thresholds.filter(isBaselineThreshold)
  if (first === undefined) return
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  inputs.complain(
    'baseline',
    `off leaves nothing to compare with, but thresholds has lines that name baseline (line ${first.line}: ${first.text}${more}); set baseline: auto, or remove these lines`
  )
}

function checkConfirm(inputs: GateInputs, source: BaselineSource, { isLocal, wait }: RunRules): void {
  const refuse = (why: string): void => inputs.complain('confirm', `cannot be ${why}`)
  if (isLocal && source.kind !== 'side-by-side')
    refuse(
      'used with base-url: local, where further runs on the same machine would only confirm the machine; remove it, or set baseline: side-by-side'
    )
  if (inputs.isGiven('run-id'))
    refuse(`combined with run-id, which judges an existing run and starts none; ${REMOVE}`)
  if (inputs.isGiven('results'))
    refuse(`combined with results, which judges files that exist and starts no run; ${REMOVE}`)
  if (!wait) refuse(`combined with wait: false, which leaves nothing to confirm; ${REMOVE}`)
}
