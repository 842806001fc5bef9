import type { GridChoice } from '../../client/documents/requests.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import type { Threshold } from '../../analysis/thresholds/grammar/threshold.js'
import { LONGEST_NAME } from '../../contract/vocabulary.js'
import { shorten } from '../../contract/text.js'
import type { Regions } from '../../contract/regions/regions.js'
import { readBaseline, totalSeconds, type RunRules } from './baseline-settings.js'
import { readGridList, SERVICE_RULES } from './grid-list.js'
import { APDEX_PROPERTY, readParameters } from './override-parameters.js'
import { openInputs, type GateInputs, type SettingsSources } from './inputs.js'
import type { PlanFiles } from './plan-files.js'
import type { ResultSource } from '../results/result-sources.js'
import type { Occasion } from '../ports.js'
import { readResultSources } from './results-input.js'
import {
  readRegions,
  chooseService,
  readTarget,
  parseWaitFor,
  refuseService,
  type Target
} from './target-settings.js'
import { missingToken } from './token-settings.js'
import { listUnused } from './unused-inputs.js'

/** Where the run comes from. */
export type Origin =
  | { readonly kind: 'files'; readonly paths: readonly string[]; readonly grids: readonly GridChoice[] }
  | { readonly kind: 'existing'; readonly runId: string }
  | { readonly kind: 'repeat'; readonly runId: string }
  /** Nothing is run: another step has measured. */
  | { readonly kind: 'results'; readonly files: readonly ResultSource[] }

export type Settings = Readonly<Exclude<Awaited<ReturnType<typeof readAll>>, Skip>>

/** There is no token, and the workflow says to skip the gate then. */
export interface Skip {
  readonly skip: string
}

/** Collects every problem, so that a workflow can be fixed in one push. */
export async function readSettings(sources: SettingsSources): Promise<Settings | Skip> {
  const inputs = await openInputs(sources)
  return inputs.checked(await readAll(inputs, sources))
}

async function readAll(inputs: GateInputs, sources: SettingsSources) {
  const onMissingToken = inputs.take('on-missing-token')
  const service = chooseService(inputs, sources)
  const isOfFiles = inputs.isGiven('results')
  const isLocal = service.isLocal && !isOfFiles
  const isSkippable = onMissingToken === 'skip' && !isLocal && !isOfFiles
  const skip = isSkippable ? missingToken(inputs, sources) : undefined
  const isSkipped = skip !== undefined
  const target = isOfFiles
    ? refuseService(inputs, service)
    : isSkipped
      ? undefined
      : readTarget(inputs, service, sources)
  const durationSeconds = inputs.take('duration')
  const timeoutSeconds = inputs.take('timeout')
  const wait = inputs.take('wait')
  const thresholds = readThresholds(inputs)
  const stopEarly = readStopEarly(inputs, { isSkipped })
  const warmUpMs = (inputs.take('warm-up') ?? 0) * 1000
  const rules = { isLocal, isSkipped, wait, stopEarly, durationSeconds, timeoutSeconds, thresholds, warmUpMs }
  const baseline = await readBaseline(inputs, sources, rules)
  const loadSeconds = durationSeconds && totalSeconds(baseline, durationSeconds, timeoutSeconds)
  const regions = isOfFiles ? undefined : await readRegions(inputs, service)
  const origin = await readOrigin(inputs, sources, { ...rules, regions, loadSeconds })
  checkApdexTarget(inputs)
  const settings = {
    /** Where the nodes of the embedded service run; undefined if every region is this machine. */
    regions,
    serviceName: inputs.take('service-name'),
    tool: inputs.take('tool') as string,
    name: inputs.text('name') || sources.defaultName,
    notes: inputs.optional('notes') ?? sources.defaultNotes,
    project: inputs.optional('project'),
    tags: inputs.lines('tags', /[,\n]/),
    privacy: inputs.take('privacy'),
    threads: inputs.take('threads'),
    rampupSeconds: inputs.take('rampup'),
    // An existing or repeated run keeps its own duration.
    durationSeconds: ['files', 'results'].includes(origin.kind) ? durationSeconds : undefined,
    overrideHosts: inputs.optional('override-hosts'),
    overrideParameters: inputs.optional('override-parameters'),
    parameterVariables: inputs.variables as readonly string[],
    thresholds,
    baseline,
    /** The response time up to which a user is satisfied, where no service says so. */
    apdexTargetMs: inputs.take('apdex-target'),
    /** The exit code of the tool that wrote the results; undefined if it is not given. */
    toolExitCode: inputs.take('tool-exit-code'),
    /** Stop a run whose threshold is broken. */
    stopEarly,
    /** Samples that start within this time after the first one are in no figure; 0 if there is no warm-up. */
    warmUpMs,
    /** What a line does that stalls break. */
    onStall: inputs.take('on-stall'),
    /** What must answer before the load starts. */
    waitFor: inputs.takeAs('wait-for', parseWaitFor),
    wait,
    timeoutMs: timeoutSeconds * 1000,
    pollIntervalMs: inputs.take('poll-interval') * 1000,
    stopOnCancel: inputs.take('stop-on-cancel'),
    failOn: inputs.take('fail-on'),
    artifactName: inputs.take('artifact-name'),
    retentionDays: inputs.take('retention-days'),
    comment: inputs.take('comment'),
    githubToken: inputs.text('github-token'),
    matrix: inputs.text('matrix'),
    /** Inputs that were given and have no effect in combination with the others. */
    unused: listUnused((name) => inputs.isGiven(name), {
      ...{ origin, wait, baseline, thresholds, stopEarly, target }
    })
  }
  if (skip !== undefined) return { skip } as Skip
  return { ...settings, origin, target: target ?? ({ kind: 'local' } satisfies Target) }
}

/** Repository, ref and short commit: enough to find the run on the service. */
export function defaultName({ repository, ref, commit }: Occasion): string {
  const parts = [repository, ref, commit.slice(0, 7)].filter((part) => part !== '')
  // A branch may have a name of any length.
  return shorten(parts.join(' '), LONGEST_NAME) || 'loadgate'
}

interface OriginRules extends RunRules {
  readonly regions: Regions | undefined
  /** The duration, or side by side that of all segments together. */
  readonly loadSeconds: number | undefined
}

async function readOrigin(inputs: GateInputs, sources: SettingsSources, rules: OriginRules): Promise<Origin> {
  if (inputs.isGiven('results')) return readResults(inputs, sources, rules)
  const runId = readRunId(inputs, 'run-id', rules.isLocal)
  const repeat = readRunId(inputs, 'repeat', rules.isLocal)
  const lines = inputs.lines('files')
  if (rules.isLocal && !rules.wait)
    inputs.complain('wait', 'cannot be false with base-url: local, whose service ends with the step')
  if (runId !== undefined && repeat !== undefined)
    inputs.complain('repeat', 'cannot be combined with run-id; set only one of the two')
  if (runId !== undefined && !rules.wait)
    inputs.complain('wait', 'cannot be false with run-id, which waits for a run and judges it')
  const given = runId === undefined ? 'repeat' : 'run-id'
  if (runId !== undefined || repeat !== undefined) {
    const words = `cannot be combined with ${given}, which uses an existing run; remove one of the two`
    if (lines.length > 0) inputs.complain('files', words)
    return runId === undefined ? { kind: 'repeat', runId: repeat ?? '' } : { kind: 'existing', runId }
  }
  // A config file that cannot be read may well have the files.
  const isUnread = inputs.problems.some((problem) => problem.startsWith('config: '))
  const isSpared = (rules.isSkipped || isUnread) && lines.length === 0
  const { paths, problems } = await resolveLines(lines, sources)
  for (const problem of isSpared ? [] : problems) inputs.complain('files', problem)
  return { kind: 'files', paths, grids: await readGrids(inputs, rules) }
}

async function readResults(
  inputs: GateInputs,
  sources: SettingsSources,
  { wait }: OriginRules
): Promise<Origin> {
  for (const other of ['files', 'run-id', 'repeat'] as const)
    if (inputs.isGiven(other))
      inputs.complain(
        other,
        'cannot be combined with results, which judges files that exist and runs nothing; remove one of the two'
      )
  if (!wait) inputs.complain('wait', 'cannot be false with results, which has nothing to wait for')
  return { kind: 'results', files: await readResultSources(inputs, sources) }
}

async function resolveLines(lines: readonly string[], sources: SettingsSources): Promise<PlanFiles> {
  const [first] = lines
  const no = (problem: string): PlanFiles => ({ paths: [], problems: [problem] })
  if (first === undefined) return no('is empty; give the path of the plan, then its data files, one per line')
  if (first.startsWith('!')) return no(`the first line must be the plan, found "${first}"`)
  return sources.resolveFiles(lines)
}

function readRunId(inputs: GateInputs, name: 'run-id' | 'repeat', isLocal: boolean): string | undefined {
  const id = inputs.take(name)
  if (inputs.text(name) !== '' && isLocal)
    inputs.complain(name, 'cannot be used with base-url: local, whose runs end with the step')
  // An invalid id was still given: what is wrong is the id, not missing files and grids.
  return inputs.isGiven(name) ? (id ?? '') : undefined
}

async function readGrids(
  inputs: GateInputs,
  { regions, isLocal, isSkipped, durationSeconds, loadSeconds, timeoutSeconds }: OriginRules
): Promise<readonly GridChoice[]> {
  const names = regions === undefined ? ['local'] : [...regions.keys()]
  const [first = ''] = names
  const defaults = {
    ...SERVICE_RULES.defaults,
    stop_after: String(Math.min(2880, Math.max(1, Math.ceil(timeoutSeconds / 60))))
  }
  const localDefaults = {
    ...defaults,
    region: names.length === 1 ? first : '',
    instance_type: 'local'
  }
  const given = inputs.structured('grids')
  if (given === '' && isSkipped) return []
  if (given === '' && isLocal && names.length > 1) {
    const words = `say where to run, for example \`- region: ${first}\`: regions has ${names.join(', ')}`
    inputs.complain('grids', `is empty; ${words}`)
    return []
  }
  const { grids, problems } = await readGridList(given === '' ? [{}] : given, {
    defaults: isLocal ? localDefaults : defaults,
    // A service of our own has a default for every key; which one it is, only the service says.
    mayLeaveOut: !isLocal,
    regions: isLocal && regions !== undefined ? names : undefined,
    durationSeconds,
    loadSeconds
  })
  for (const problem of problems) inputs.complain('grids', problem)
  return grids
}

function readThresholds(inputs: GateInputs): readonly Threshold[] {
  const { thresholds, problems } = parseThresholds(inputs.text('thresholds'))
  for (const problem of problems) inputs.complain('thresholds', problem)
  // A gate whose lines are all commented out would always pass.
  const words = 'contains only comments; add a threshold, or remove the input for a report without a gate'
  if (inputs.isGiven('thresholds') && thresholds.length + problems.length === 0)
    inputs.complain('thresholds', words)
  return thresholds
}

/** The parameter is the older way to say it. */
function checkApdexTarget(inputs: GateInputs): void {
  const parameters = readParameters(inputs.text('override-parameters'))
  if (inputs.isGiven('apdex-target') && parameters.some(({ name }) => name === APDEX_PROPERTY))
    inputs.complain('apdex-target', `override-parameters has ${APDEX_PROPERTY} too; remove one of the two`)
}

/** Whether to stop a run whose threshold is broken. Only a run of this step whose end is known can be. */
function readStopEarly(inputs: GateInputs, { isSkipped }: { readonly isSkipped: boolean }): boolean {
  const stopEarly = inputs.take('stop-early')
  if (!stopEarly) return false
  const problem = inputs.isGiven('run-id')
    ? 'cannot be combined with run-id: a run that this step did not start is never stopped; remove one of the two'
    : inputs.isGiven('results')
      ? 'cannot be combined with results, whose load is over; remove one of the two'
      : inputs.isGiven('repeat')
        ? 'cannot be combined with repeat, which keeps the duration of the earlier run; remove one of the two'
        : 'needs duration, without which nobody knows how much of the run is left; set duration, or remove stop-early'
  const isOther = (['run-id', 'repeat', 'results'] as const).some((name) => inputs.isGiven(name))
  if (isOther || (!inputs.isGiven('duration') && !isSkipped)) inputs.complain('stop-early', problem)
  return true
}
