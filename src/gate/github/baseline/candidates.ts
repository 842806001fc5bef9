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
  readonly path?: unknown
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
/** Runs that are no longer on the page of the newest ones are looked at one by one, but not many. */
const MOST_OLDER_RUNS = 3

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
  const runs = await BranchRuns.list(calls, query, isFull ? undefined : sound)
  const own = runs.filter(sound)
  const older = own.length === 0 ? await runs.filterOlder(sound) : []
  const isCrowded = isFull && own.length + older.length < ENOUGH
  const { asked, isCut } = isCrowded ? await askRuns(calls, query, runs) : { asked: [], isCut: false }
  const candidates = [...new Map([...own, ...older, ...asked].map((each) => [each.id, each])).values()]
  const foreign = sound.filter(({ id }) => candidates.every((each) => each.id !== id))
  return {
    candidates: candidates.sort(newestFirst),
    ignored: [...ignored, ...foreign.map(() => 'uploaded by another workflow or event')],
    isCut: isCut && candidates.length === 0
  }
}

function listArtifacts(calls: Calls, name: string): Promise<Listed[]> {
  return calls.make('list the artifacts of earlier runs', async () => {
    const query = { ...calls.repository, name, per_page: PAGE }
    const { data } = await calls.octokit.rest.actions.listArtifactsForRepo(query)
    return listIn<Listed>(data, 'artifacts')
  })
}

/** The artifacts of the branch's newest runs, until there are enough. */
async function askRuns(
  calls: Calls,
  query: Query,
  runs: BranchRuns
): Promise<{ readonly asked: readonly Candidate[]; readonly isCut: boolean }> {
  const asked: Candidate[] = []
  for (const runId of runs.newestIds.slice(0, MOST_ASKED_RUNS)) {
    if (asked.length >= ENOUGH) break
    const artifacts = await calls.make('list the artifacts of an earlier run', async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRunArtifacts({
        ...{ ...calls.repository, name: query.name, per_page: PAGE },
        run_id: runId
      })
      return listIn<Listed>(data, 'artifacts')
    })
    asked.push(...runs.filter(sortOut(artifacts, query).sound))
  }
  return { asked, isCut: runs.newestIds.length > MOST_ASKED_RUNS }
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

/** The workflow's runs on the branch by events that only run the branch's own code. */
class BranchRuns {
  readonly #calls: Calls
  readonly #query: Query
  readonly #trusted = new Map<unknown, WorkflowRun>()
  /** There are older ones. */
  #isCut = false

  private constructor(calls: Calls, query: Query) {
    this.#calls = calls
    this.#query = query
  }

  /** By event, because runs of other events may take up the page; until all of `wanted` are known. */
  static async list(
    calls: Calls,
    query: Query,
    wanted: readonly Candidate[] | undefined
  ): Promise<BranchRuns> {
    const runs = new BranchRuns(calls, query)
    let isKnown = true
    for (const event of RECORDED_EVENTS) {
      const listed = await listRuns(calls, { ...query, event })
      isKnown = listed !== undefined
      const found = listed ?? (await listRunsOfAll(calls, { ...query, event }))
      runs.#isCut ||= found.length >= PAGE
      for (const run of found) runs.#add(run)
      if (wanted?.every(({ runId }) => runs.#trusted.has(runId))) break
    }
    if (!isKnown && runs.#trusted.size === 0)
      throw new Error(
        `GitHub knows no workflow ${query.workflow} in this repository (404), so it is unclear which artifacts are from its own runs; set "baseline" to the path of a document`
      )
    return runs
  }

  get newestIds(): number[] {
    return [...this.#trusted.keys()].filter((id) => typeof id === 'number').sort((a, b) => b - a)
  }

  /** Those of the runs that are known, with the run's commit. */
  filter(candidates: readonly Candidate[]): Candidate[] {
    return candidates.flatMap((candidate) => {
      const run = this.#trusted.get(candidate.runId)
      return run === undefined ? [] : [{ ...candidate, commit: shaOf(run.head_sha) }]
    })
  }

  /** The same for runs that may be too old for the lists. */
  async filterOlder(candidates: readonly Candidate[]): Promise<Candidate[]> {
    if (!this.#isCut) return []
    for (const { runId } of candidates.slice(0, MOST_OLDER_RUNS)) {
      const run = await readRun(this.#calls, runId)
      if (isOf(run, this.#query.workflow)) this.#add(run)
    }
    return this.filter(candidates)
  }

  #add(run: WorkflowRun): void {
    const isOwn =
      run.head_repository?.id === run.repository?.id &&
      run.head_branch === this.#query.branch &&
      RECORDED_EVENTS.includes(String(run.event))
    if (isOwn) this.#trusted.set(run.id, run)
  }
}

interface RunQuery extends Query {
  readonly event: string
}

/** Undefined if GitHub does not know the workflow by its file. */
async function listRuns(
  calls: Calls,
  { branch, workflow, event }: RunQuery
): Promise<WorkflowRun[] | undefined> {
  const query = { ...calls.repository, workflow_id: workflow, branch, event, per_page: PAGE }
  try {
    return await calls.make("list the workflow's runs", async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRuns(query)
      return listIn<WorkflowRun>(data, 'workflow_runs')
    })
  } catch (thrown) {
    // The artifacts could be listed, so it is not the permission.
    if (thrown instanceof CallError && thrown.failure.status === 404) return undefined
    throw thrown
  }
}

/** The same from the list of all workflows' runs. */
async function listRunsOfAll(calls: Calls, { branch, workflow, event }: RunQuery): Promise<WorkflowRun[]> {
  const query = { ...calls.repository, branch, event, per_page: PAGE }
  const runs = await calls
    .make('list the workflow runs', async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRunsForRepo(query)
      return listIn<WorkflowRun>(data, 'workflow_runs')
    })
    .catch((thrown: unknown) => {
      if (thrown instanceof CallError) return []
      throw thrown
    })
  return runs.filter((run) => isOf(run, workflow))
}

function isOf({ path }: WorkflowRun, workflow: string): boolean {
  return String(path).split('@')[0]?.endsWith(`/${workflow}`) ?? false
}

async function readRun(calls: Calls, runId: number): Promise<WorkflowRun> {
  const { data } = await calls.make('read a workflow run', () =>
    calls.octokit.rest.actions.getWorkflowRun({ ...calls.repository, run_id: runId })
  )
  return data
}

function listIn<T extends object>(data: unknown, key: string): T[] {
  const value = (data as Record<string, unknown> | null)?.[key]
  if (!Array.isArray(value)) throw new OddReplyError(`GitHub's reply has no list of ${key}`)
  return value.filter((entry): entry is T => typeof entry === 'object' && entry !== null)
}
