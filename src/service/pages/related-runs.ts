import type { Trend, TrendPoint } from '../../analysis/baseline/build-trend.js'
import type { RunChoice } from '../../report/page/served/served-pages.js'
import { hasEnded, type RunRecord } from '../../contract/records.js'
import { readSource } from '../../contract/api/run-source.js'
import { formatDuration, formatMinute, shorten } from '../../contract/text.js'
import { describeTool, type ServiceFacts } from '../service-facts.js'
import type { SeenRuns } from '../store/seen-runs.js'
import type { RunData } from '../store/store.js'
import { describeNodes, isAfterChange, isUsable, partsOf } from '../runs/run-differences.js'

/** Earlier runs in a trend. */
const MOST_POINTS = 30
const MOST_CHOICES = 50
/** A project may have several plans, and runs that failed. */
const MOST_LOOKED_AT = 200

/** The newest runs of the same project, newest first. An old run needs those before it too. */
export function findRelated(run: RunRecord, seen: Pick<SeenRuns, 'runsLike'>): readonly RunRecord[] {
  const newest = seen.runsLike(run, { limit: MOST_LOOKED_AT })
  const later = newest.filter(({ sequence }) => sequence > run.sequence)
  if (newest.length < MOST_LOOKED_AT || later.length < MOST_LOOKED_AT / 2) return newest
  return [...later, ...seen.runsLike(run, { upTo: run.sequence - 1, limit: MOST_LOOKED_AT })]
}

/**
 * The runs of the same plan up to this one, by all of their samples; undefined if there is no earlier one. A run that failed or lost load is
 * no point, not even as the last one.
 */
export async function buildProjectTrend(
  run: RunRecord,
  related: readonly RunRecord[],
  store: RunData
): Promise<Trend | undefined> {
  const earlier = related
    .filter((other) => other.sequence < run.sequence && isSamePlan(run, other) && isUsable(other))
    .slice(0, MOST_POINTS)
  if (earlier.length === 0) return undefined
  const runs = [...earlier].reverse().concat(isUsable(run) ? run : [])
  const parts = await Promise.all(runs.map((each) => partsOf(each, store)))
  const { project } = run.request
  const plan = planOf(run)
  return {
    branch: project === null ? `${plan} without a project` : `${plan} in ${project}`,
    points: runs.map((each, index) => ({
      ...pointOf(each, each === run),
      isAfterChange: isAfterChange(parts[index - 1], parts[index])
    })),
    bands: {}
  }
}

function planOf({ files }: RunRecord): string {
  return files[0]?.name ?? 'no plan'
}

/** What a rehearsal made up is not the past of what was measured. */
function isSamePlan(run: RunRecord, other: RunRecord): boolean {
  const [one, two] = [run, other].map((each) =>
    JSON.stringify([planOf(each), each.request.tool, each.report?.rehearsal ?? false])
  )
  return one === two
}

function pointOf(run: RunRecord, isHead: boolean): Omit<TrendPoint, 'isAfterChange'> {
  const { report } = run
  const throughput = report?.mean_throughput
  const errorRate = report?.mean_error_rate
  return {
    atMs: run.startedMs ?? run.createdMs,
    commit: commitOf(run) ?? '–',
    runId: run.id,
    unusable: undefined,
    isHead,
    p95Ms: run.p95Ms,
    throughput: throughput == null ? undefined : throughput / 60,
    errorRate: errorRate == null ? undefined : errorRate / 100
  }
}

function commitOf({ request }: RunRecord): string | undefined {
  return readSource(request.notes ?? '').parts.find(({ key }) => key === 'commit')?.word
}

/** Those that have ended: of the same plan first, and those before this one before later ones. */
export function listChoices(run: RunRecord, related: readonly RunRecord[]): RunChoice[] {
  const rank = (other: RunRecord): number =>
    (isSamePlan(run, other) ? 0 : 2) + (other.sequence < run.sequence ? 0 : 1)
  return related
    .filter((other) => hasEnded(other) && other.id !== run.id)
    .sort((one, other) => rank(one) - rank(other) || other.sequence - one.sequence)
    .slice(0, MOST_CHOICES)
    .map((other) => ({ id: other.id, words: describeChoice(other) }))
}

function describeChoice(run: RunRecord): string {
  const state = run.thresholds?.verdict?.verdict ?? run.status
  return `${nameOf(run)} · ${formatMinute(run.createdMs)} · ${state}`
}

export function nameOf({ id, request }: RunRecord): string {
  const name = shorten(request.name ?? '', 60)
  return name === '' ? id : name
}

/** Facts besides the figures: the same names for every run. */
export function factsToCompare(run: RunRecord, facts: ServiceFacts): [string, string][] {
  const { request, thresholds, startedMs, createdMs } = run
  const seconds = (given: number | null): string => (given === null ? '–' : formatDuration(given * 1000))
  return [
    ['Id', run.id],
    ['Started', formatMinute(startedMs ?? createdMs)],
    ['Status', run.status],
    ['Verdict', thresholds?.verdict?.verdict ?? '–'],
    ['Commit', commitOf(run) ?? '–'],
    ['Project', request.project ?? '–'],
    ['Plan', planOf(run)],
    ['Tool', describeTool(run, facts)],
    ['Threads', request.threads?.toString() ?? '–'],
    ['Ramp-up', seconds(request.rampupSec)],
    ['Requested duration', seconds(request.durationSec)],
    ['Nodes', describeNodes(run, facts.store)]
  ]
}
