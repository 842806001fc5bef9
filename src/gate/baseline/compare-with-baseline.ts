import type { BaselineFacts } from '../../analysis/outcome.js'
import type { ComparisonEvidence } from '../../analysis/baseline/judge/sides.js'
import { asComparedRun } from '../../analysis/baseline/document/compared.js'
import { withoutParameters } from '../../analysis/baseline/document/fingerprint.js'
import { selectBase } from '../../analysis/baseline/document/select-base.js'
import { describeLoadChange } from '../../analysis/baseline/judge-lines.js'
import { buildTrend } from '../../analysis/baseline/build-trend.js'
import { isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { BaselineDocument } from '../../contract/baseline.js'
import { failureOf } from '../errors.js'
import { asSentence, messageOf } from '../../contract/text.js'
import type { Findings } from '../findings.js'
import type { Gate } from '../gate.js'
import { comparedRun, asRecorded, describeRemoteErrors } from '../collect/compared-run.js'
import type { Settings } from '../settings/settings.js'
import { findBaseline, isSearched, type Search } from './find-baseline.js'
import { ignoredBy, withFactsOf } from './run-fingerprint.js'

type Comparing = Pick<Gate, 'ports' | 'settings' | 'asideGroups'>
type Compared = Pick<Findings, 'comparison' | 'baseline' | 'trend' | 'isOnBaselineBranch'>
type Evidence = Extract<ComparisonEvidence, { readonly kind: 'none' }>

/** Adds what the lines that name `baseline` are judged by. Whatever goes wrong here becomes an outcome of those lines. */
export async function compareWithBaseline(gate: Comparing, findings: Findings): Promise<Findings> {
  const { settings, ports } = gate
  const { source } = settings.baseline
  if (source.kind === 'side-by-side' || findings.isDetached || findings.comparison !== undefined)
    return findings
  // There is nothing to compare, and a cancelled step has no time to wait for the search.
  if (findings.run === undefined || findings.failure?.kind === 'cancelled') return findings
  if (source.kind === 'off') return { ...findings, baseline: { ...NO_FACTS, state: 'off' } }
  // The command line keeps nothing, so there is nothing to tell those who did not ask.
  const isAsked = settings.thresholds.some(isBaselineThreshold) || source.kind === 'file'
  if (ports.openBaselines === undefined && !isAsked) return withFingerprint(gate, findings)
  if (!isSearched(settings)) return { ...findings, ...withoutBaseline(REASON_OF_EXISTING) }
  const search = await findBaseline(gate)
  // The search may have ended because of it, and a missing baseline may pass; a cancelled job never does.
  if (ports.cancelled.aborted)
    return { ...findings, failure: findings.failure ?? failureOf(ports.cancelled.reason) }
  try {
    const compared = compare(gate, findings, search)
    if (compared.baseline?.reason !== undefined)
      ports.log.info(`Not compared with a baseline: ${asSentence(compared.baseline.reason)}`)
    const baseline = { ...NO_FACTS, ...compared.baseline, ...fingerprintIn(gate, search, findings) }
    return { ...findings, ...compared, baseline }
  } catch (thrown) {
    const reason = messageOf(thrown)
    ports.log.warning(`The run could not be compared with its baseline: ${reason}`)
    return { ...findings, ...withoutBaseline({ kind: 'none', outcome: 'not comparable', reason }) }
  }
}

/** Nothing is compared; `loadgate baseline record` may add the run to a document later. */
async function withFingerprint(gate: Comparing, findings: Findings): Promise<Findings> {
  if (!isSearched(gate.settings)) return findings
  const known = fingerprintIn(gate, await findBaseline(gate), findings)
  return { ...findings, baseline: { ...NO_FACTS, state: 'off', ...known } }
}

function fingerprintIn(
  { settings }: Comparing,
  { fingerprint }: Search,
  { run }: Findings
): Pick<BaselineFacts, 'fingerprint'> {
  if (fingerprint === undefined || run === undefined) return {}
  return { fingerprint: withFactsOf(run, fingerprint, settings) }
}

const REASON_OF_EXISTING: Evidence = {
  kind: 'none',
  outcome: 'not comparable',
  reason: 'the run of run-id was started elsewhere, so its plan and settings are not known'
}

const NO_FACTS: BaselineFacts = {
  state: 'no baseline',
  kind: 'recorded',
  branch: undefined,
  commit: undefined,
  runs: [],
  reason: undefined,
  notes: []
}

function compare(
  { settings, ports }: Comparing,
  findings: Findings,
  { place, fingerprint, found }: Search
): Compared {
  const isOnBaselineBranch = place.recordedUnder !== undefined && place.recordedUnder === place.branch
  const { run } = findings
  const problem = whyIncomplete(findings)
  if ('reason' in found || fingerprint === undefined || run === undefined || problem !== undefined) {
    const missing: Evidence =
      'reason' in found
        ? { kind: 'none', outcome: 'no baseline', reason: found.reason }
        : { kind: 'none', outcome: 'not comparable', reason: problem ?? 'the run is unknown' }
    return { ...withoutBaseline(missing, place.branch), isOnBaselineBranch }
  }
  const whole = withFactsOf(run, fingerprint, settings)
  const { document: recordedRuns, ...history } = found
  const document = withoutIgnored(recordedRuns, settings)
  const base = selectBase(document, { fingerprint: whole, ...history, excludeRunId: run.id })
  const recorded = asRecorded(settings, findings, {
    fingerprint: whole,
    commit: ports.occasion.commit,
    nowMs: ports.clock.now(),
    unusable: null
  })
  const trend = buildTrend(document, recorded, { noise: settings.baseline.noise })
  const shown = { isOnBaselineBranch, ...(trend !== undefined && { trend }) }
  if ('outcome' in base) return { ...withoutBaseline({ kind: 'none', ...base }, document.branch), ...shown }
  const errors = describeRemoteErrors(run)
  const doubts = errors === undefined ? [] : [`${errors}; part of this run's load may be missing`]
  const { branch } = document
  const { runs, commit } = base
  const compared = runs.map(asComparedRun)
  const comparison = { kind: 'recorded', base: compared, head: [comparedRun(findings)], branch } as const
  const notes = [...base.notes, ...doubts, ...[describeLoadChange(comparison) ?? []].flat()]
  const facts = { state: 'compared', branch, commit, runs: runs.map(({ runId }) => runId), notes } as const
  return { comparison, baseline: { ...NO_FACTS, ...facts }, ...shown }
}

/** Runs that were recorded before a parameter was ignored have it still. */
function withoutIgnored(document: BaselineDocument, { baseline }: Settings): BaselineDocument {
  const isIgnored = ignoredBy(baseline)
  const runs = document.runs.map((run) => ({
    ...run,
    fingerprint: withoutParameters(run.fingerprint, isIgnored)
  }))
  return { ...document, runs }
}

function withoutBaseline(comparison: Evidence, branch?: string): Compared {
  const { outcome: state, reason } = comparison
  return { comparison, baseline: { ...NO_FACTS, state, branch, reason } }
}

/** Part of a run is not compared with whole ones: less load would look like a change. */
function whyIncomplete({ failure, collection, stoppedEarly }: Findings): string | undefined {
  if (failure !== undefined) return 'the run did not finish'
  if (stoppedEarly !== undefined) return 'the run was stopped early'
  const { measurements, missingGrids = [], grids = [], gaps = [] } = collection ?? {}
  if (measurements?.figures({}) === undefined) return 'the run has no results to compare'
  const isWhole =
    missingGrids.length + gaps.length === 0 &&
    grids.every(({ problem }) => problem === undefined) &&
    measurements.sources.every(({ problems }) => problems.length === 0)
  return isWhole ? undefined : 'not all results of the run could be read'
}
