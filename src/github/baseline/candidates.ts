import { OddReplyError } from '../comment-failure.js'
import { CallError } from './calls.js'
import type { Calls } from './calls.js'
import { RECORDED_EVENTS } from './trigger.js'

/** An artifact that may be a baseline document. */
export interface Candidate {
  readonly id: number
  readonly name: string
  readonly bytes: number
  readonly runId: number
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
  readonly path?: unknown
}

/** GitHub's largest. */
const PAGE = 100
/** Others can upload artifacts of the name, but only so many are looked at. */
const MOST_PAGES = 5
/** Runs that are no longer on the page of the newest ones are looked at one by one, but not many. */
const MOST_SINGLE_RUNS = 3

interface Candidates {
  /** Newest first. */
  readonly candidates: readonly Candidate[]
  readonly ignored: readonly string[]
  /** There are none among those that were looked at, and there may be some among the older ones. */
  readonly isCut: boolean
}

/**
 * The artifacts of this name that runs of the branch itself have uploaded, newest first. Anyone can upload one of the name: a fork has a
 * branch of the same name, and other events run foreign code on the default branch.
 */
export async function listCandidates(
  calls: Calls,
  { name, branch, workflow }: { name: string; branch: string; workflow: string }
): Promise<Candidates> {
  const trust = new Trust(calls, { branch, workflow })
  const ignored: string[] = []
  for (let page = 1; page <= MOST_PAGES; page++) {
    const artifacts = await listArtifacts(calls, { name, page })
    const sound = artifacts
      .filter((artifact) => artifact.name === name)
      .sort((one, other) => timeOf(other) - timeOf(one) || Number(other.id) - Number(one.id))
      .flatMap((artifact) => {
        const reason = reasonToIgnore(artifact, branch)
        if (reason !== undefined) ignored.push(reason)
        return reason === undefined ? [candidateOf(artifact)] : []
      })
    const candidates = await trust.filter(sound)
    ignored.push(
      ...Array<string>(sound.length - candidates.length).fill('uploaded by another workflow or event')
    )
    const isLast = artifacts.length < PAGE
    if (candidates.length > 0 || isLast) return { candidates, ignored, isCut: false }
  }
  return { candidates: [], ignored, isCut: true }
}

function listArtifacts(calls: Calls, { name, page }: { name: string; page: number }): Promise<Listed[]> {
  return calls.make('list the artifacts of earlier runs', async () => {
    const query = { ...calls.repository, name, per_page: PAGE, ...(page > 1 && { page }) }
    const { data } = await calls.octokit.rest.actions.listArtifactsForRepo(query)
    return listIn<Listed>(data, 'artifacts')
  })
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

function candidateOf({ id, name, size_in_bytes: bytes, workflow_run: run }: Listed): Candidate {
  return { id: Number(id), name: String(name), bytes: Number(bytes ?? 0), runId: Number(run?.id) }
}

/** Which workflow runs were started by an event that only runs the branch's own code. */
class Trust {
  #newest: readonly WorkflowRun[] | undefined
  #singleRuns = 0
  readonly #known = new Map<unknown, WorkflowRun>()

  constructor(
    readonly calls: Calls,
    readonly options: { readonly branch: string; readonly workflow: string }
  ) {}

  async filter(candidates: readonly Candidate[]): Promise<Candidate[]> {
    if (candidates.length === 0) return []
    if (this.#newest === undefined) {
      this.#newest = await listRuns(this.calls, this.options)
      for (const run of this.#newest) this.#known.set(run.id, run)
    }
    const trusted = candidates.filter(({ runId }) => this.#isTrusted(runId))
    // Runs of other events may have taken up the page.
    if (trusted.length > 0 || this.#newest.length < PAGE) return trusted
    const older = candidates.filter(({ runId }) => !this.#known.has(runId))
    for (const { runId } of older.slice(0, MOST_SINGLE_RUNS - this.#singleRuns)) {
      this.#singleRuns++
      const run = await readRun(this.calls, runId)
      if (isOf(run, this.options.workflow)) this.#known.set(runId, run)
    }
    return candidates.filter(({ runId }) => this.#isTrusted(runId))
  }

  #isTrusted(runId: number): boolean {
    const run = this.#known.get(runId)
    return run?.head_branch === this.options.branch && RECORDED_EVENTS.includes(String(run.event))
  }
}

async function listRuns(
  calls: Calls,
  { branch, workflow }: { branch: string; workflow: string }
): Promise<WorkflowRun[]> {
  const query = { ...calls.repository, workflow_id: workflow, branch, per_page: PAGE }
  try {
    return await calls.make("list the workflow's runs", async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRuns(query)
      return listIn<WorkflowRun>(data, 'workflow_runs')
    })
  } catch (thrown) {
    if (!(thrown instanceof CallError) || thrown.failure.status !== 404) throw thrown
    // The artifacts could be listed, so it is not the permission.
    const ofAll = await listRunsOfAll(calls, { branch, workflow })
    if (ofAll.length === 0)
      throw new Error(
        `GitHub knows no workflow ${workflow} in this repository (404), so it is unclear which artifacts are from its own runs; set "baseline" to the path of a document`,
        { cause: thrown }
      )
    return ofAll
  }
}

/** The same from the list of all workflows' runs. */
async function listRunsOfAll(
  calls: Calls,
  { branch, workflow }: { branch: string; workflow: string }
): Promise<WorkflowRun[]> {
  const query = { ...calls.repository, branch, per_page: PAGE }
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

function timeOf({ created_at: at }: Listed): number {
  return Date.parse(String(at)) || 0
}
