import { shorten } from '../../../contract/text.js'
import type { BaselineDocument, RecordedRun } from '../../../contract/baseline.js'
import type { NoBase } from '../judge/sides.js'
import { type Fingerprint, findDifference, isSameFingerprint } from './fingerprint.js'

const MOST_BASE_RUNS = 20

export interface BaseQuery {
  readonly fingerprint: Fingerprint
  /** Commits before the base commit, newest first; undefined if they are not known. */
  readonly ancestors: readonly string[] | undefined
  /** Only the newest ones are known. */
  readonly isHistoryCut?: boolean
  readonly baseCommit: string | undefined
  /** The run that is compared, if it was recorded already. */
  readonly excludeRunId?: string | undefined
}

interface SelectedBase {
  /** Usable and comparable, oldest first. */
  readonly runs: readonly RecordedRun[]
  /** The base commit, or the one that was used instead of it. */
  readonly commit: string
  readonly notes: readonly string[]
}

export function selectBase(document: BaselineDocument, query: BaseQuery): SelectedBase | NoBase {
  const branch = shorten(document.branch)
  const recorded = document.runs.filter(({ runId }) => runId !== query.excludeRunId)
  const usable = recorded.filter(({ unusable }) => unusable === null)
  const newest = usable.at(-1)
  if (newest === undefined) return noUsableRun(recorded, branch)
  const comparable = usable.filter((run) => isSameFingerprint(run.fingerprint, query.fingerprint))
  if (comparable.length === 0) {
    const difference = findDifference(newest.fingerprint, query.fingerprint)
    const advice = difference?.hasParameter
      ? '; a parameter that does not change the load can be listed in ignore-parameters'
      : ''
    return {
      outcome: 'not comparable',
      reason: `${difference?.words ?? ''}, compared with the newest run on ${branch} (${short(newest.commit)}); the next run on ${branch} with these settings starts a new baseline${advice}`
    }
  }
  return chooseRuns(comparable, query, { branch, recorded })
}

function chooseRuns(
  comparable: readonly RecordedRun[],
  { ancestors, baseCommit, isHistoryCut = false }: BaseQuery,
  { branch, recorded }: { branch: string; recorded: readonly RecordedRun[] }
): SelectedBase {
  if (ancestors === undefined)
    return take(comparable, undefined, [
      `the history of ${branch} is unknown here (no git clone, or one without the commits of its runs), so its newest comparable runs were used; other changes may be in between`
    ])
  const related = listRelated(comparable, [...(baseCommit === undefined ? [] : [baseCommit]), ...ancestors])
  const base = baseCommit === undefined ? undefined : lower(baseCommit)
  if (related.length > 0) {
    const used = take(related, base, [])
    if (base === undefined || used.commit === base) return used
    return { ...used, notes: [`${whyNot(base, recorded, branch)}, so ${short(used.commit)} was used`] }
  }
  const { commit = '' } = comparable.at(-1) ?? {}
  const of = base === undefined ? 'the base commit' : short(base)
  const why = isHistoryCut
    ? `no run on ${branch} is of ${of} or one of the last ${ancestors.length} commits before it`
    : `no run on ${branch} is of ${of} or an ancestor of it (was ${branch} force-pushed?)`
  return take(
    comparable.filter((run) => run.commit === commit),
    undefined,
    [`${why}, so ${short(commit)} was used; other changes may be in between`]
  )
}

/** By the age of their commits, oldest first, not by time: an old commit may run again, and pushes do not always end in their order. */
function listRelated(runs: readonly RecordedRun[], newestFirst: readonly string[]): RecordedRun[] {
  const ages = new Map<string, number>()
  for (const [age, commit] of newestFirst.map(lower).entries()) if (!ages.has(commit)) ages.set(commit, age)
  return runs
    .flatMap((run) => {
      const age = ages.get(lower(run.commit))
      return age === undefined ? [] : [{ run, age }]
    })
    .sort((a, b) => b.age - a.age || a.run.atMs - b.run.atMs)
    .map(({ run }) => run)
}

/** Those of the base commit, and the newest others. The last one stands for all of them, unless the base commit is among them. */
function take(
  runs: readonly RecordedRun[],
  base: string | undefined,
  notes: readonly string[]
): SelectedBase {
  const ofBase = runs.filter((run) => lower(run.commit) === base).slice(-MOST_BASE_RUNS)
  const others = runs.filter((run) => lower(run.commit) !== base)
  const dropped = new Set(others.slice(0, Math.max(0, others.length + ofBase.length - MOST_BASE_RUNS)))
  const taken = runs.filter((run) => !dropped.has(run)).slice(-MOST_BASE_RUNS)
  const { commit = '' } = ofBase[0] ?? taken.at(-1) ?? {}
  return { runs: taken, commit: lower(commit), notes }
}

function whyNot(base: string, recorded: readonly RecordedRun[], branch: string): string {
  const run = recorded.findLast(({ commit }) => lower(commit) === base)
  if (run === undefined) return `no run on ${branch} for ${short(base)}`
  const reason = run.unusable === null ? 'it is not comparable' : shorten(run.unusable)
  return `the run on ${branch} for ${short(base)} cannot be used (${reason})`
}

function noUsableRun(recorded: readonly RecordedRun[], branch: string): NoBase {
  const newest = recorded.at(-1)
  const reason =
    newest === undefined
      ? `no run on ${branch} was recorded yet; the next one there is the first`
      : `none of the recorded runs on ${branch} (${recorded.length}) can be used; the newest, of ${short(newest.commit)}: ${shorten(newest.unusable ?? '')}`
  return { outcome: 'no baseline', reason }
}

function lower(commit: string): string {
  return commit.toLowerCase()
}

function short(commit: string): string {
  return commit.slice(0, 7)
}
