import { OddReplyError } from '../comment-failure.js'
import { CallError } from './calls.js'
import type { Calls } from './calls.js'
import { RECORDED_EVENTS, shaOf } from './trigger.js'

/** An artifact that may be a baseline document. */
export interface Candidate {
  readonly id: number
  readonly name: string
  readonly bytes: number
  readonly runId: number
  /** The commit that its workflow run was for, by GitHub's own account; empty if that is unknown. */
  readonly commit: string
  /** When it was uploaded, by GitHub's clock; undefined if that is unknown. */
  readonly createdMs: number | undefined
}

interface Listed {
  readonly id?: unknown
  readonly name?: unknown
  readonly size_in_bytes?: unknown
  readonly expired?: unknown
  readonly created_at?: unknown
  readonly workflow_run?: {
    readonly id?: unknown
    readonly repository_id?: unknown
    readonly head_repository_id?: unknown
    readonly head_branch?: unknown
  } | null
}

interface WorkflowRun {
  readonly id?: unknown
  readonly event?: unknown
  readonly head_branch?: unknown
  readonly head_sha?: unknown
  readonly repository?: { readonly id?: unknown } | null
  readonly head_repository?: { readonly id?: unknown } | null
}

interface Query {
  readonly name: string
  readonly branch: string
  /** The file's name. */
  readonly workflow: string
}

/** GitHub's largest. */
const PAGE = 100
/** So many are united. */
const ENOUGH = 3
/** Where artifacts of others take up the page, the branch's newest runs are asked one by one, but not for ever. */
const MOST_ASKED_RUNS = 20

interface Candidates {
  /** Newest first. */
  readonly candidates: readonly Candidate[]
  readonly ignored: readonly string[]
  /** There are none among those that were looked at, and there may be some among the older ones. */
  readonly isCut: boolean
}

/**
 * The artifacts of this name that the workflow's own runs on the branch have uploaded, newest first. Anyone can upload one of the name: a
 * fork has a branch of the same name, and other events run foreign code on the default branch. So the runs decide, and where those of
 * others fill the list of artifacts, those of the branch's runs are listed run by run.
 */
export async function listCandidates(calls: Calls, query: Query): Promise<Candidates> {
  const artifacts = await listArtifacts(calls, query.name)
  const { sound, ignored } = sortOut(artifacts, query)
  const isFull = artifacts.length >= PAGE
  if (sound.length === 0 && !isFull) return { candidates: [], ignored, isCut: false }
  const commits = await listOwnRuns(calls, query, isFull ? undefined : sound)
  const own = withCommits(sound, commits)
  const runIds = [...commits.keys()].sort((a, b) => b - a)
  const asked = isFull && own.length < ENOUGH ? await askRuns(calls, query, runIds) : []
  const candidates = [
    ...new Map([...own, ...withCommits(asked, commits)].map((each) => [each.id, each])).values()
  ]
  const foreign = sound.length - own.length
  return {
    candidates: candidates.sort(newestFirst),
    ignored: [...ignored, ...Array<string>(foreign).fill('uploaded by another workflow or event')],
    isCut: isFull && candidates.length === 0 && runIds.length > MOST_ASKED_RUNS
  }
}

/** Those of the runs that are known. */
function withCommits(
  candidates: readonly Candidate[],
  commits: ReadonlyMap<number, string>
): readonly Candidate[] {
  return candidates.flatMap((each) => {
    const commit = commits.get(each.runId)
    return commit === undefined ? [] : [{ ...each, commit }]
  })
}

/** The artifacts of the branch's newest runs, until there are enough. */
async function askRuns(calls: Calls, query: Query, runIds: readonly number[]): Promise<Candidate[]> {
  const asked: Candidate[] = []
  for (const runId of runIds.slice(0, MOST_ASKED_RUNS)) {
    if (asked.length >= ENOUGH) break
    const artifacts = await calls.make('list the artifacts of an earlier run', async () => {
      const one = { ...calls.repository, name: query.name, per_page: PAGE, run_id: runId }
      const { data } = await calls.octokit.rest.actions.listWorkflowRunArtifacts(one)
      return listIn<Listed>(data, 'artifacts')
    })
    asked.push(...sortOut(artifacts, query).sound)
  }
  return asked
}

function listArtifacts(calls: Calls, name: string): Promise<Listed[]> {
  return calls.make('list the artifacts of earlier runs', async () => {
    const query = { ...calls.repository, name, per_page: PAGE }
    const { data } = await calls.octokit.rest.actions.listArtifactsForRepo(query)
    return listIn<Listed>(data, 'artifacts')
  })
}

/** By what GitHub says of the artifacts themselves. */
function sortOut(
  artifacts: readonly Listed[],
  { name, branch }: Query
): { readonly sound: Candidate[]; readonly ignored: string[] } {
  const ignored: string[] = []
  const sound = artifacts
    .filter((artifact) => artifact.name === name)
    .flatMap((artifact) => {
      const reason = reasonToIgnore(artifact, branch)
      if (reason !== undefined) ignored.push(reason)
      return reason === undefined ? [candidateOf(artifact)] : []
    })
  return { sound, ignored }
}

function reasonToIgnore(artifact: Listed, branch: string): string | undefined {
  const run = artifact.workflow_run
  if (typeof artifact.id !== 'number' || typeof run?.id !== 'number') return 'without a workflow run'
  // The repository is missing if the fork was deleted.
  if (typeof run.repository_id !== 'number' || run.head_repository_id !== run.repository_id)
    return 'of a fork'
  if (run.head_branch !== branch) return 'of another branch'
  return artifact.expired === true ? 'expired' : undefined
}

function candidateOf({
  id,
  name,
  size_in_bytes: bytes,
  created_at: at,
  workflow_run: run
}: Listed): Candidate {
  return {
    id: Number(id),
    name: String(name),
    bytes: Number(bytes ?? 0),
    runId: Number(run?.id),
    commit: '',
    createdMs: Date.parse(String(at)) || undefined
  }
}

function newestFirst(one: Candidate, other: Candidate): number {
  return (other.createdMs ?? 0) - (one.createdMs ?? 0) || other.id - one.id
}

/**
 * The commits of the workflow's newest runs on the branch, by their ids, by events that only run the branch's own code. One list per
 * event, because runs of other events may take up a page; until all that are wanted are known.
 */
async function listOwnRuns(
  calls: Calls,
  query: Query,
  wanted: readonly Candidate[] | undefined
): Promise<ReadonlyMap<number, string>> {
  const commits = new Map<number, string>()
  for (const event of RECORDED_EVENTS) {
    for (const run of await listRuns(calls, { ...query, event }))
      if (
        run.head_repository?.id === run.repository?.id &&
        run.head_branch === query.branch &&
        run.event === event
      )
        commits.set(Number(run.id), shaOf(run.head_sha))
    if (wanted?.every(({ runId }) => commits.has(runId))) break
  }
  return commits
}

async function listRuns(
  calls: Calls,
  { branch, workflow, event }: Query & { readonly event: string }
): Promise<WorkflowRun[]> {
  const query = { ...calls.repository, workflow_id: workflow, branch, event, per_page: PAGE }
  try {
    return await calls.make("list the workflow's runs", async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRuns(query)
      return listIn<WorkflowRun>(data, 'workflow_runs')
    })
  } catch (thrown) {
    // The artifacts could be listed, so it is not the permission.
    if (!(thrown instanceof CallError) || thrown.failure.status !== 404) throw thrown
    throw new Error(
      `GitHub knows no workflow ${workflow} in this repository (404), so it is unclear which artifacts are from its own runs; set "baseline" to the path of a document`,
      { cause: thrown }
    )
  }
}

function listIn<T extends object>(data: unknown, key: string): T[] {
  const value = (data as Record<string, unknown> | null)?.[key]
  if (!Array.isArray(value)) throw new OddReplyError(`GitHub's reply has no list of ${key}`)
  return value.filter((entry): entry is T => typeof entry === 'object' && entry !== null)
}
